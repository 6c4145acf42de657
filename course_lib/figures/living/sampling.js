// From logits to the next token (lesson 12): temperature, then top-k, then top-p, and a draw.

/**
 * Sort the tokens from the most to the least probable, and cut those that cannot be drawn.
 *
 * @param {number[]|Float32Array} logits one for each token of the vocabulary
 * @param {{temperature: number, topK: number, topP: number}} settings temperature above 0
 * @returns {{id: number, before: number, after: number, cut: string}[]} the probability of each
 *     token before and after the cut, and what cuts it: "top-k", "top-p", or "" for what stays
 */
function distribution(logits, { temperature, topK, topP }) {
  const order = Array.from(logits, (_, id) => id).sort((a, b) => logits[b] - logits[a] || a - b);
  const powers = order.map((id) => Math.exp((logits[id] - logits[order[0]]) / temperature));
  const all = powers.reduce((a, b) => a + b, 0);
  const before = powers.map((power) => power / all);
  const inTopK = before.slice(0, topK).reduce((a, b) => a + b, 0);
  let sum = 0; // of the more probable tokens, among those that top-k leaves
  const cut = before.map((p, rank) => {
    if (rank >= topK) return "top-k";
    const passed = sum;
    sum += p / inTopK;
    // Sums of fractions are a little off: 0.6 + 0.3 is 0.8999….
    return topP >= 1 || passed < topP - 1e-9 ? "" : "top-p";
  });
  const left = before.reduce((a, p, rank) => a + (cut[rank] ? 0 : p), 0);
  return order.map((id, rank) => ({
    id, before: before[rank], cut: cut[rank], after: cut[rank] ? 0 : before[rank] / left,
  }));
}

/**
 * Draw a token: the first in the order of token ids whose probability, with those before it, is
 * more than u.
 *
 * @param {{id: number, after: number}[]} tokens as distribution returns them
 * @param {number} u from 0 to below 1
 * @returns {{id: number, after: number}} one of them
 */
function drawn(tokens, u) {
  const left = tokens.filter(({ after }) => after > 0).sort((a, b) => a.id - b.id);
  let sum = 0;
  return left.find(({ after }) => (sum += after) > u) || left.at(-1);
}
