// The language model of lesson 12, of the parts in runtime.js.

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
