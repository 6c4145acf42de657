// The course's trained models in plain JavaScript: what lessons 09, 11 and 12 teach, with no
// library, one token at a time. A vector is a Float32Array, a matrix one with its rows (outputs)
// one after another, as PyTorch has them. Nothing here knows of a page: model.js runs it in a
// worker. Order: the file, the parts of a layer, the language model, the translator, decoding.

// --- the file ----------------------------------------------------------------------

// What course_lib.nn.model_file writes: eight letters, the length of a JSON text as four
// bytes, the text, and float16 numbers, those of one parameter after another.
const MAGIC = "ATTNMDL1";

/** A model file that cannot be used; its message is a sentence for the reader. */
class ModelFault extends Error {}

/**
 * Read a model file.
 *
 * @param {ArrayBuffer} buffer its bytes
 * @returns {{about: Object, parameters: Object<string, Float32Array>}} what the file says of
 *     itself (kind, config, tokenizer, parameters, …), and its numbers by name
 * @throws {ModelFault} if it is no model file, of another version, or cut off
 */
function readModelFile(buffer) {
  const bytes = new Uint8Array(buffer);
  const magic = String.fromCharCode(...bytes.subarray(0, MAGIC.length));
  if (!magic.startsWith(MAGIC.slice(0, -1))) throw new ModelFault("The file is no model of this course.");
  if (magic !== MAGIC) throw new ModelFault("The model file is of another version of the course.");
  const start = MAGIC.length + 4;
  const length = bytes.length < start ? Infinity : new DataView(buffer).getUint32(MAGIC.length, true);
  if (start + length > bytes.length) throw new ModelFault("The model file is cut off.");
  const about = JSON.parse(new TextDecoder().decode(bytes.subarray(start, start + length)));
  const halves = buffer.slice(start + length);
  if (halves.byteLength !== about.bytes) throw new ModelFault("The model file is cut off.");
  const numbers = new Uint16Array(halves);
  const parameters = {};
  for (const { name, shape, offset } of about.parameters) {
    const size = shape.reduce((a, b) => a * b, 1);
    parameters[name] = fromHalf(numbers.subarray(offset, offset + size));
  }
  return { about, halves, parameters };
}

/** Compare the numbers of a model file with the digest in it, where the browser can compute one. */
async function checkDigest({ about, halves }) {
  if (!globalThis.crypto?.subtle) return; // as on a page of http that is not this machine's
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", halves));
  const hex = Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
  if (hex !== about.sha256) throw new ModelFault("The model file is damaged.");
}

/** float16: a sign, five bits of exponent, ten of fraction. */
function fromHalf(bits) {
  return Float32Array.from(bits, (half) => {
    const exponent = (half >> 10) & 31;
    const fraction = half & 1023;
    const size = exponent ? (1 + fraction / 1024) * 2 ** (exponent - 15) : fraction * 2 ** -24;
    return half >> 15 ? -size : size;
  });
}

// --- the parts of a layer -----------------------------------------------------------

/** y = W x + b, with W (out, in); without a bias if there is none. */
function linear(weight, bias, x) {
  const nIn = x.length;
  const y = new Float32Array(weight.length / nIn);
  for (let row = 0, at = 0; row < y.length; row++) {
    let sum = bias ? bias[row] : 0;
    for (let i = 0; i < nIn; i++) sum += weight[at++] * x[i];
    y[row] = sum;
  }
  return y;
}

const add = (x, y) => x.map((value, i) => value + y[i]);

/** Mean 0 and variance 1, then scaled and shifted (lesson 09). */
function layerNorm(x, gain, bias) {
  const mean = x.reduce((a, b) => a + b, 0) / x.length;
  const variance = x.reduce((a, b) => a + (b - mean) ** 2, 0) / x.length;
  const scale = 1 / Math.sqrt(variance + 1e-5);
  return x.map((value, i) => (value - mean) * scale * gain[i] + bias[i]);
}

/** Root mean square 1, then scaled (lesson 12). */
function rmsNorm(x, gain) {
  const scale = 1 / Math.sqrt(x.reduce((a, b) => a + b * b, 0) / x.length + 1e-6);
  return x.map((value, i) => value * scale * gain[i]);
}

/** Probabilities of scores; the largest is subtracted, so that nothing overflows. */
function softmax(scores) {
  const largest = scores.reduce((a, b) => Math.max(a, b), -Infinity);
  const powers = scores.map((score) => Math.exp(score - largest));
  const sum = powers.reduce((a, b) => a + b, 0);
  return powers.map((power) => power / sum);
}

/** Turn pairs of a query's or key's numbers by angles that grow with the position (lesson 05). */
function rotated(x, position, dK) {
  const turned = new Float32Array(x.length);
  for (let i = 0; i < x.length; i += 2) {
    const angle = position * 10000 ** (-(i % dK) / dK);
    const cosine = Math.cos(angle), sine = Math.sin(angle);
    turned[i] = x[i] * cosine - x[i + 1] * sine;
    turned[i + 1] = x[i] * sine + x[i + 1] * cosine;
  }
  return turned;
}

/** The paper's sines and cosines of one position. */
function sinusoid(position, dModel) {
  return Float32Array.from({ length: dModel }, (_, i) => {
    const angle = position * 10000 ** (-(i - (i % 2)) / dModel);
    return i % 2 ? Math.cos(angle) : Math.sin(angle);
  });
}

/**
 * Let one query attend to all keys, in each head (lessons 01 and 03).
 *
 * @param {Float32Array} q the query of all heads, one after another
 * @param {Float32Array[]} keys one for each token that is attended to, likewise
 * @param {Float32Array[]} values likewise
 * @param {number} nHeads the number of heads of queries
 * @returns {{output: Float32Array, weights: Float32Array[]}} the heads' outputs one after
 *     another, and for each head its weights, which sum to 1
 */
function attention(q, keys, values, nHeads) {
  const dK = q.length / nHeads;
  const queriesPerKey = q.length / keys[0].length; // heads may share keys and values
  const output = new Float32Array(q.length);
  const weights = [];
  for (let head = 0; head < nHeads; head++) {
    const from = head * dK, shared = Math.floor(head / queriesPerKey) * dK;
    const scores = Float32Array.from(keys, (key) => {
      let dot = 0;
      for (let i = 0; i < dK; i++) dot += q[from + i] * key[shared + i];
      return dot / Math.sqrt(dK);
    });
    weights.push(softmax(scores));
    values.forEach((value, t) => {
      const weight = weights[head][t];
      for (let i = 0; i < dK; i++) output[from + i] += weight * value[shared + i];
    });
  }
  return { output, weights };
}

/** Keys and values of the tokens that a layer has read: the cache. A copy shares the vectors. */
const emptyCache = () => ({ keys: [], values: [] });
const copied = ({ keys, values }) => ({ keys: [...keys], values: [...values] });

// --- the language model (lesson 12) ----------------------------------------------------

/**
 * A decoder alone: RMSNorm first, rotary positions, a feed-forward network with a gate.
 *
 * It keeps the keys and values of what it has read; ids are the tokens that they belong to.
 */
class LanguageModel {
  constructor({ about, parameters }) {
    this.config = about.config;
    this.parameters = parameters;
    this.ids = [];
    this.caches = Array.from({ length: about.config.n_layers }, emptyCache);
    this.weights = []; // by position: by layer: by head: the weights of that token
    this.logits = []; // by position
  }

  /**
   * Read token ids; what it has already read of them is not computed again.
   *
   * @param {number[]} ids all tokens from the first on, n_positions at most
   * @returns {{logits: Float32Array, reused: number, computed: number}} the logits of what comes
   *     after them, how many tokens were in the cache, and how many were not
   */
  read(ids) {
    const same = ids.findIndex((id, i) => id !== this.ids[i]);
    this.forget(same < 0 ? ids.length : same);
    const reused = this.ids.length;
    ids.slice(reused).forEach((id) => this.step(id));
    return { logits: this.logits[ids.length - 1], reused, computed: ids.length - reused };
  }

  /** Drop what was read from a position on. */
  forget(length) {
    for (const kept of [this.ids, this.weights, this.logits]) kept.length = Math.min(kept.length, length);
    for (const { keys, values } of this.caches) keys.length = values.length = this.ids.length;
  }

  step(id) {
    const { n_layers: nLayers, n_heads: nHeads, d_model: dModel } = this.config;
    const p = this.parameters, position = this.ids.length, weights = [];
    const embedding = p["embedding.weight"];
    let x = embedding.slice(id * dModel, (id + 1) * dModel);
    for (let layer = 0; layer < nLayers; layer++) {
      const of = (name, input) => linear(p[`blocks.${layer}.${name}.weight`], null, input);
      const { keys, values } = this.caches[layer];
      const normed = rmsNorm(x, p[`blocks.${layer}.attention_norm.weight`]);
      const turned = (vector) => rotated(vector, position, dModel / nHeads);
      keys.push(turned(of("attention.key", normed)));
      values.push(of("attention.value", normed));
      const attended = attention(turned(of("attention.query", normed)), keys, values, nHeads);
      weights.push(attended.weights);
      x = add(x, of("attention.output", attended.output));
      const inner = rmsNorm(x, p[`blocks.${layer}.feed_forward_norm.weight`]);
      const gate = of("feed_forward.gate", inner), up = of("feed_forward.up", inner);
      const hidden = up.map((value, i) => (value * gate[i]) / (1 + Math.exp(-gate[i]))); // SwiGLU
      x = add(x, of("feed_forward.output", hidden));
    }
    this.ids.push(id);
    this.weights.push(weights);
    this.logits.push(linear(embedding, null, rmsNorm(x, p["norm.weight"])));
  }
}

// --- the translator (lessons 09 and 11) ---------------------------------------------------

/** Encoder and decoder, norm first, with one embedding for both languages and the logits. */
class Transformer {
  constructor({ about, parameters }) {
    this.config = about.config;
    this.parameters = parameters;
  }

  linear(name, x) {
    return linear(this.parameters[`${name}.weight`], this.parameters[`${name}.bias`], x);
  }

  norm(name, x) {
    return layerNorm(x, this.parameters[`${name}.weight`], this.parameters[`${name}.bias`]);
  }

  embed(id, position) {
    const { d_model: dModel } = this.config;
    const row = this.parameters["embedding.weight"].subarray(id * dModel, (id + 1) * dModel);
    const encoding = sinusoid(position, dModel);
    return encoding.map((value, i) => row[i] * Math.sqrt(dModel) + value);
  }

  feedForward(layer, x) {
    const hidden = this.linear(`${layer}.linear_1`, x).map((value) => Math.max(value, 0));
    return this.linear(`${layer}.linear_2`, hidden);
  }

  attend(name, x, { keys, values }) {
    const { output, weights } = attention(this.linear(`${name}.query`, x), keys, values, this.config.n_heads);
    return { output: this.linear(`${name}.output`, output), weights };
  }

  keysAndValues(name, vectors) {
    return {
      keys: vectors.map((x) => this.linear(`${name}.key`, x)),
      values: vectors.map((x) => this.linear(`${name}.value`, x)),
    };
  }

  /**
   * Encode a source, all of whose tokens attend to each other.
   *
   * @param {number[]} ids the source's token ids, one at least
   * @returns {Object[]} for each layer of the decoder, keys and values of the source
   */
  encode(ids) {
    const { n_layers: nLayers } = this.config;
    let vectors = ids.map((id, position) => this.embed(id, position));
    for (let i = 0; i < nLayers; i++) {
      const layer = `encoder.layers.${i}`;
      const normed = vectors.map((x) => this.norm(`${layer}.norms.0`, x));
      const cache = this.keysAndValues(`${layer}.self_attention`, normed);
      vectors = vectors.map((x, t) => {
        const y = add(x, this.attend(`${layer}.self_attention`, normed[t], cache).output);
        return add(y, this.feedForward(layer, this.norm(`${layer}.norms.1`, y)));
      });
    }
    const memory = vectors.map((x) => this.norm("encoder.norm", x));
    return Array.from({ length: nLayers }, (_, i) => this.keysAndValues(`decoder.layers.${i}.cross_attention`, memory));
  }

  /** Return the state before the first token of a target. */
  initialState(memory) {
    return { position: 0, memory, caches: memory.map(emptyCache) };
  }

  /**
   * Read one more target token.
   *
   * @param {number} id the token
   * @param {Object} state of the tokens before; it stays as it is
   * @returns {{logits: Float32Array, weights: Float32Array[][], state: Object}} the logits of what
   *     comes next, the cross-attention of this step by layer and head, and the state after it
   */
  step(id, { position, memory, caches }) {
    const after = { position: position + 1, memory, caches: caches.map(copied) };
    const weights = [];
    let y = this.embed(id, position);
    after.caches.forEach((cache, i) => {
      const layer = `decoder.layers.${i}`;
      const normed = this.norm(`${layer}.norms.0`, y);
      cache.keys.push(this.linear(`${layer}.self_attention.key`, normed));
      cache.values.push(this.linear(`${layer}.self_attention.value`, normed));
      y = add(y, this.attend(`${layer}.self_attention`, normed, cache).output);
      const crossed = this.attend(`${layer}.cross_attention`, this.norm(`${layer}.norms.1`, y), memory[i]);
      weights.push(crossed.weights);
      y = add(y, crossed.output);
      y = add(y, this.feedForward(layer, this.norm(`${layer}.norms.2`, y)));
    });
    const logits = linear(this.parameters["embedding.weight"], null, this.norm("decoder.norm", y));
    return { logits, weights, state: after };
  }
}

// --- decoding (lesson 11) -------------------------------------------------------------

const indexOfLargest = (numbers) => numbers.reduce((best, value, i) => (value > numbers[best] ? i : best), 0);

function logSoftmax(logits) {
  const largest = logits.reduce((a, b) => Math.max(a, b), -Infinity);
  const sum = logits.reduce((total, logit) => total + Math.exp(logit - largest), 0);
  return Array.from(logits, (logit) => logit - largest - Math.log(sum));
}

/**
 * Translate by choosing the token with the highest logit again and again.
 *
 * @param {Transformer} model
 * @param {number[]} source token ids, one at least
 * @param {{startId: number, endId: number, maxLength: number}} options
 * @returns {{ids: number[], weights: Float32Array[][][]}} the target without start and end, and
 *     the cross-attention of each of its tokens by layer and head
 */
function greedyDecode(model, source, { startId, endId, maxLength }) {
  const ids = [], weights = [];
  let state = model.initialState(model.encode(source));
  for (let last = startId; ids.length < maxLength; ) {
    const step = model.step(last, state);
    last = indexOfLargest(step.logits);
    if (last === endId) break;
    ids.push(last);
    weights.push(step.weights);
    state = step.state;
  }
  return { ids, weights };
}

/**
 * Translate while keeping several hypotheses; the rules are those of beam_search in Python.
 *
 * @param {Transformer} model
 * @param {number[]} source token ids, one at least
 * @param {{startId: number, endId: number, maxLength: number, beamSize: number, alpha: number}} options
 * @returns {{ids: number[], weights: Float32Array[][][], score: number, best: number[], steps: Object[][]}}
 *     the best hypothesis without start and end and its cross-attention, as in greedyDecode; its
 *     sum divided by the length penalty; where it stands in steps, as [step, index]; and for
 *     each step the hypotheses that were kept, best first: {id, parent, sum, finished}, where
 *     parent is an index in the step before, -1 in the first
 */
function beamSearch(model, source, { startId, endId, maxLength, beamSize, alpha }) {
  let beam = [{ ids: [], weights: [], sum: 0, last: startId, state: model.initialState(model.encode(source)), index: -1 }];
  const finished = [], steps = [];
  while (beam.length && steps.length < maxLength) {
    const longer = beam.flatMap((hypothesis) => {
      const { logits, weights, state } = model.step(hypothesis.last, hypothesis.state);
      const logP = logSoftmax(logits);
      const likely = logP.map((_, id) => id).sort((a, b) => logP[b] - logP[a] || a - b).slice(0, beamSize);
      return likely.map((id) => ({ parent: hypothesis, id, sum: hypothesis.sum + logP[id], weights, state }));
    });
    const room = beamSize - finished.length;
    const best = longer.sort((a, b) => b.sum - a.sum).slice(0, room).map(({ parent, id, sum, weights, state }, index) => {
      const isOver = id === endId;
      return {
        ids: isOver ? parent.ids : [...parent.ids, id],
        weights: isOver ? parent.weights : [...parent.weights, weights],
        sum, last: id, state, index, step: steps.length, parent: parent.index, finished: isOver,
      };
    });
    steps.push(best.map(({ last, parent, sum, finished: isOver }) => ({ id: last, parent, sum, finished: isOver })));
    finished.push(...best.filter((each) => each.finished));
    beam = best.filter((each) => !each.finished);
  }
  const score = ({ ids, sum, finished: isOver }) => sum / ((5 + ids.length + (isOver ? 1 : 0)) / 6) ** alpha;
  const all = [...finished, ...beam];
  const winner = all[indexOfLargest(all.map(score))];
  return { ids: winner.ids, weights: winner.weights, score: score(winner), best: [winner.step, winner.index], steps };
}
