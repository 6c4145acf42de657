// The translator of lessons 09 and 11, of the parts in runtime.js, and how it is decoded.

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

/** The token ids of the greatest numbers, the greatest first; of equal ones the smaller id. */
function likeliest(numbers, count) {
  const best = [];
  numbers.forEach((number, id) => {
    if (best.length === count && number <= numbers[best.at(-1)]) return;
    const rank = best.findIndex((other) => number > numbers[other]);
    best.splice(rank < 0 ? best.length : rank, 0, id);
    best.length = Math.min(best.length, count);
  });
  return best;
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
 * @returns {{ids: number[], weights: Float32Array[][][], hypotheses: {ids: number[], score: number}[]}}
 *     the best hypothesis without start and end and its cross-attention, as in greedyDecode; and
 *     all that were finished, or were left at the end, the best first: their tokens likewise, and
 *     their sums divided by the length penalty
 */
function beamSearch(model, source, { startId, endId, maxLength, beamSize, alpha }) {
  let beam = [{ ids: [], weights: [], sum: 0, last: startId, state: model.initialState(model.encode(source)) }];
  const finished = [];
  for (let length = 0; beam.length && length < maxLength; length++) {
    const longer = beam.flatMap((hypothesis) => {
      const { logits, weights, state } = model.step(hypothesis.last, hypothesis.state);
      const logP = logSoftmax(logits);
      return likeliest(logP, beamSize).map((id) => ({ parent: hypothesis, id, sum: hypothesis.sum + logP[id], weights, state }));
    });
    const room = beamSize - finished.length;
    const best = longer.sort((a, b) => b.sum - a.sum).slice(0, room).map(({ parent, id, sum, weights, state }) => {
      const isOver = id === endId;
      return {
        ids: isOver ? parent.ids : [...parent.ids, id],
        weights: isOver ? parent.weights : [...parent.weights, weights],
        sum, last: id, state, finished: isOver,
      };
    });
    finished.push(...best.filter((each) => each.finished));
    beam = best.filter((each) => !each.finished);
  }
  const score = ({ ids, sum, finished: isOver }) => sum / ((5 + ids.length + (isOver ? 1 : 0)) / 6) ** alpha;
  const all = [...finished, ...beam].map((each) => ({ ...each, score: score(each) })).sort((a, b) => b.score - a.score);
  const { ids, weights } = all[0];
  return { ids, weights, hypotheses: all.map((each) => ({ ids: each.ids, score: each.score })) };
}
