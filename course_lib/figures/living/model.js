// A trained model in a page: its file is loaded, a worker runs it (runtime.js), and a view asks
// it. WORKER, the worker's text, is put in front of this. A view does:
//
//     const model = await openModel(data.model); // or an error, whose message is for the reader
//     const { ids } = await model.encode("To be, or");
//     const { logits } = await model.read(ids);
//     tokens = distribution(logits, settings); // sampling.js, no worker needed

/**
 * Load a model and start its worker.
 *
 * @param {{name: string, base64: ?string}} source the file's name, such as "language-model.bin",
 *     and the file itself, if the figure carries it; otherwise it stands where the page's script
 *     says, in attentionCourse.models
 * @returns {Promise<Model>}
 * @throws {Error} if the file is missing, cut off, damaged or of another version, or no worker can
 *     run: the message is a sentence, and a view shows its stored example with it
 */
async function openModel(source) {
  const buffer = source.base64 ? fromBase64(source.base64) : await fetched(source.name);
  const model = new Model();
  try {
    return await model.open(buffer);
  } catch (error) {
    model.close();
    throw error;
  }
}

const fromBase64 = (text) => Uint8Array.from(atob(text), (character) => character.charCodeAt(0)).buffer;

async function fetched(name) {
  const folder = typeof attentionCourse === "undefined" ? undefined : attentionCourse.models;
  if (!folder) throw new Error("The model is not in this page.");
  let response;
  try {
    response = await fetch(new URL(name, folder));
  } catch {
    throw new Error("The model's file could not be loaded.");
  }
  if (!response.ok) throw new Error("The model's file is not there.");
  return response.arrayBuffer();
}

/** A model that answers; each method asks the worker and returns a promise. */
class Model {
  #worker;
  #waiting = new Map(); // by number of the question
  #count = 0;
  #fault = null;

  constructor() {
    const address = URL.createObjectURL(new Blob([WORKER], { type: "text/javascript" }));
    this.#worker = new Worker(address);
    URL.revokeObjectURL(address);
    this.#worker.onmessage = ({ data: { number, result, fault } }) => {
      const { resolve, reject } = this.#waiting.get(number);
      this.#waiting.delete(number);
      if (fault !== undefined) reject(new Error(fault));
      else resolve(result);
    };
    this.#worker.onerror = (event) => {
      event.preventDefault();
      this.#end("The model could not be run in this browser.");
    };
  }

  #end(sentence) {
    this.#fault = sentence;
    for (const { reject } of this.#waiting.values()) reject(new Error(sentence));
    this.#waiting.clear();
  }

  #ask(method, given, transfer = []) {
    if (this.#fault) return Promise.reject(new Error(this.#fault));
    const number = this.#count++;
    this.#worker.postMessage({ number, method, given }, transfer);
    return new Promise((resolve, reject) => this.#waiting.set(number, { resolve, reject }));
  }

  async open(buffer) {
    /** @type {{kind: string, config: Object, nParameters: number, bytes: number, names: string[]}} kind is
     *  "language model" or "translator"; names: each token as it is to be read, by token id */
    this.about = await this.#ask("open", { buffer }, [buffer]);
    return this;
  }

  /**
   * @param {string} text
   * @returns {Promise<{ids: number[], words: ?{text: string, ids: number[], unknown: boolean}[]}>}
   *     words for a translator alone: unknown is true where no training text had a character
   */
  encode(text) {
    return this.#ask("encode", { text });
  }

  /** @returns {Promise<string>} the text of token ids; a translator's without start and end */
  decode(ids) {
    return this.#ask("decode", { ids });
  }

  /**
   * Language model: the logits after tokens. What was read the time before is in the cache.
   *
   * @param {number[]} ids one at least, about.config.n_positions at most
   * @returns {Promise<{logits: Float32Array, reused: number, computed: number, milliseconds: number}>}
   */
  read(ids) {
    return this.#ask("read", { ids });
  }

  /** @returns {Promise<Float32Array[][]>} the weights of a token that was read, by layer and head */
  weights(position) {
    return this.#ask("weights", { position });
  }

  /**
   * Translator: translate a source, greedily with a beamSize of 1.
   *
   * @param {number[]} ids the source's, about.config.n_positions at most; none has no translation
   * @param {{beamSize: ?number, alpha: ?number, maxLength: ?number}} options 1, 0.6 and 100 by default
   * @returns {Promise<{text: string, ids: number[], weights: Float32Array[][][], milliseconds: number,
   *     hypotheses: ?{ids: number[], score: number}[]}>} what greedyDecode and beamSearch in
   *     transformer.js return: weights are by target token, layer, head: over the source's tokens
   */
  translate(ids, options = {}) {
    return this.#ask("translate", { ids, ...options });
  }

  /** Stop the worker; what was asked is not answered. */
  close() {
    this.#worker.terminate();
    this.#end("The model was closed.");
  }
}
