// What the worker does: it has a model of language_model.js or transformer.js, and answers one
// question after another. A question is {number, method, given}; an answer {number, result} or {number, fault}.

let model, tokenizer, isTranslator; // of the file that was opened last

/** What a page may ask. model.js says what each returns. */
const METHODS = {
  async open({ buffer }) {
    const file = readModelFile(buffer);
    await checkDigest(file);
    // The worker of a view has the code of its own kind alone.
    isTranslator = file.about.kind === "translator";
    model = isTranslator ? new Transformer(file) : new LanguageModel(file);
    tokenizer = (isTranslator ? subwordTokenizer : byteTokenizer)(file.about.tokenizer);
    const names = Array.from({ length: tokenizer.size }, (_, id) => tokenizer.nameOf(id));
    const { kind, config, n_parameters: nParameters, bytes } = file.about;
    return { kind, config, nParameters, bytes, names };
  },

  encode: ({ text }) => (isTranslator ? { words: tokenizer.words(text), ids: tokenizer.encode(text) } : { ids: tokenizer.encode(text) }),

  decode: ({ ids }) => tokenizer.decode(ids),

  read({ ids }) {
    const start = performance.now();
    return { ...model.read(ids), milliseconds: performance.now() - start };
  },

  weights: ({ position }) => model.weights[position],

  translate({ ids, beamSize = 1, alpha = 0.6, maxLength = 100 }) {
    const start = performance.now();
    const { startId, endId } = tokenizer;
    const most = Math.min(maxLength, model.config.n_positions - 1);
    const options = { startId, endId, maxLength: most, beamSize, alpha };
    const none = { ids: [], weights: [] };
    const search = beamSize === 1 ? greedyDecode : beamSearch;
    const result = ids.length ? search(model, ids, options) : none;
    return { ...result, text: tokenizer.decode(result.ids), milliseconds: performance.now() - start };
  },
};

onmessage = async ({ data: { number, method, given } }) => {
  try {
    postMessage({ number, result: await METHODS[method](given) });
  } catch (error) {
    postMessage({ number, fault: error.message });
  }
};
