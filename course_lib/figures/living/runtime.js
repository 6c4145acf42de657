// The course's trained models in plain JavaScript: what lessons 09, 11 and 12 teach, with no
// library, one token at a time. A vector is a Float32Array, a matrix one with its rows (outputs)
// one after another, as PyTorch has them. Nothing here knows of a page: model.js runs it in a
// worker. language_model.js and transformer.js make models of these parts.

// --- the file ----------------------------------------------------------------------

// What course_lib.nn.model_file writes: eight letters, the length of a JSON text as four
// bytes, the text, and float16 numbers, those of one parameter after another.
const MAGIC = "ATTNMDL1";

/**
 * Read a model file.
 *
 * @param {ArrayBuffer} buffer its bytes
 * @returns {{about: Object, halves: ArrayBuffer, parameters: Object<string, Float32Array>}} what
 *     the file says of itself (kind, config, tokenizer, parameters, …), and its numbers, as they are
 *     in the file and by name
 * @throws {Error} if it is no model file, of another version, or cut off: the message is a sentence
 *     for the reader
 */
function readModelFile(buffer) {
  const bytes = new Uint8Array(buffer);
  const magic = String.fromCharCode(...bytes.subarray(0, MAGIC.length));
  if (!magic.startsWith(MAGIC.slice(0, -1))) throw new Error("The file is no model of this course.");
  if (magic !== MAGIC) throw new Error("The model file is of another version of the course.");
  const start = MAGIC.length + 4;
  const length = bytes.length < start ? Infinity : new DataView(buffer).getUint32(MAGIC.length, true);
  if (start + length > bytes.length) throw new Error("The model file is cut off.");
  const about = JSON.parse(new TextDecoder().decode(bytes.subarray(start, start + length)));
  const halves = buffer.slice(start + length);
  if (halves.byteLength !== about.bytes) throw new Error("The model file is cut off.");
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
  if (hex !== about.sha256) throw new Error("The model file is damaged.");
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
