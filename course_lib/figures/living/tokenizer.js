// The byte-level tokenizer of lessons 06 and 12: text to token ids and back. No worker is needed.

/**
 * Join a word's symbols, the pair that was learned first before all others.
 *
 * @param {string[]} symbols
 * @param {Map<string, Map<string, number>>} ranks as ranksOf returns them
 * @returns {string[]} the tokens
 */
function mergedSymbols(symbols, ranks) {
  let tokens = symbols;
  for (;;) {
    const pairs = tokens.map((left, i) => ranks.get(left)?.get(tokens[i + 1]) ?? Infinity);
    const best = pairs.reduce((a, b) => Math.min(a, b), Infinity);
    if (best === Infinity) return tokens;
    const joined = [];
    for (let i = 0; i < tokens.length; i++) {
      if (pairs[i] === best) joined.push(tokens[i] + tokens[++i]);
      else joined.push(tokens[i]);
    }
    tokens = joined;
  }
}

/** Return the rank of each pair, by its left symbol, then its right one; the first counts. */
function ranksOf(merges) {
  const ranks = new Map();
  merges.forEach(([left, right], rank) => {
    if (!ranks.has(left)) ranks.set(left, new Map());
    if (!ranks.get(left).has(right)) ranks.get(left).set(right, rank);
  });
  return ranks;
}

// A byte is one character that can be seen (GPT-2's alphabet): a space is Ġ.
const VISIBLE = (byte) => (byte > 32 && byte < 127) || (byte > 160 && byte !== 173);
const ALPHABET = (() => {
  let hidden = 256;
  return Array.from({ length: 256 }, (_, byte) => String.fromCodePoint(VISIBLE(byte) ? byte : hidden++));
})();
const BYTE_OF = new Map(ALPHABET.map((character, byte) => [character, byte]));
// Not \s, in which JavaScript has U+FEFF and lacks U+0085.
const PRE_TOKENS =
  /'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\p{White_Space}\p{L}\p{N}]+|\p{White_Space}+(?!\P{White_Space})|\p{White_Space}+/gu;

/** Return the text of bytes; null for a part of a character. */
function textOf(bytes) {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(Uint8Array.from(bytes));
  } catch {
    return null;
  }
}

/**
 * Make the byte-level tokenizer of a language model.
 *
 * @param {{merges: string[][], special_tokens: string[]}} data the file's
 * @returns {{split: function(string): Array, encode: function(string): number[],
 *     decode: function(number[]): string, nameOf: function(number): string, bytes: number[][],
 *     size: number}} split gives the pre-tokens, each as [text, ids]; nameOf is one token as it is to
 *     be read: its text, or its bytes in hexadecimal where they are part of a character; bytes are
 *     by token id
 */
function byteTokenizer({ merges, special_tokens: special }) {
  const ranks = ranksOf(merges);
  const learned = [...ALPHABET, ...merges.map(([left, right]) => left + right)];
  const ids = new Map(learned.map((token, id) => [token, id])); // of two with the same text, the later one
  const bytesOf = (token) => Array.from(token, (character) => BYTE_OF.get(character));
  const encoder = new TextEncoder();
  const bytes = [...learned.map(bytesOf), ...special.map((token) => [...encoder.encode(token)])];
  const known = new Map(); // pre-tokens that were encoded before
  const idsOf = (preToken) => {
    if (!known.has(preToken)) {
      const symbols = Array.from(encoder.encode(preToken), (byte) => ALPHABET[byte]);
      known.set(preToken, mergedSymbols(symbols, ranks).map((token) => ids.get(token)));
    }
    return known.get(preToken);
  };
  const split = (text) => (text.match(PRE_TOKENS) ?? []).map((preToken) => [preToken, idsOf(preToken)]);
  return {
    split,
    encode: (text) => split(text).flatMap(([, own]) => own),
    decode: (tokens) => new TextDecoder("utf-8", { ignoreBOM: true }).decode(Uint8Array.from(tokens.flatMap((id) => bytes[id]))),
    nameOf: (id) => textOf(bytes[id]) ?? bytes[id].map((byte) => `<${byte.toString(16).padStart(2, "0")}>`).join(""),
    bytes,
    size: bytes.length,
  };
}
