// The byte-level tokenizer of lessons 06 and 12: text to token ids and back. No worker is needed.

/**
 * Join a word's symbols, the pair that was learned first before all others.
 *
 * @param {string[]} symbols
 * @param {Map<string, number>} ranks as ranksOf returns them
 * @returns {string[]} the tokens
 */
function mergedSymbols(symbols, ranks) {
  let tokens = [...symbols];
  for (;;) {
    const pairs = tokens.slice(1).map((right, i) => ranks.get(`${tokens[i]} ${right}`) ?? Infinity);
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

/** Return the rank of each pair, by both symbols with a space between: neither has one in it. */
const ranksOf = (merges) => new Map(merges.map(([left, right], rank) => [`${left} ${right}`, rank]).reverse());

// A byte is one character that can be seen (GPT-2's alphabet): a space is Ġ.
const VISIBLE = (byte) => (byte > 32 && byte < 127) || (byte > 160 && byte !== 173);
const ALPHABET = (() => {
  let hidden = 256;
  return Array.from({ length: 256 }, (_, byte) => String.fromCodePoint(VISIBLE(byte) ? byte : hidden++));
})();
const BYTE_OF = new Map(ALPHABET.map((character, byte) => [character, byte]));
const PRE_TOKENS = /'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+/gu;

/**
 * Make the byte-level tokenizer of a language model.
 *
 * @param {{merges: string[][], special_tokens: string[]}} data the file's
 * @returns {{encode: function(string): number[], decode: function(number[]): string,
 *     nameOf: function(number): string, size: number}} nameOf is one token as it is to be read: its
 *     text, or its bytes in hexadecimal where they are part of a character
 */
function byteTokenizer({ merges, special_tokens: special }) {
  const ranks = ranksOf(merges);
  const learned = [...ALPHABET, ...merges.map(([left, right]) => left + right)];
  const ids = new Map(learned.map((token, id) => [token, id]));
  const bytesOf = (token) => Array.from(token, (character) => BYTE_OF.get(character));
  const encoder = new TextEncoder();
  const bytes = [...learned.map(bytesOf), ...special.map((token) => [...encoder.encode(token)])];
  const known = new Map(); // pre-tokens that were split before
  const split = (part) => {
    if (!known.has(part)) {
      const symbols = Array.from(encoder.encode(part), (byte) => ALPHABET[byte]);
      known.set(part, mergedSymbols(symbols, ranks).map((token) => ids.get(token)));
    }
    return known.get(part);
  };
  return {
    encode: (text) => (text.toWellFormed?.() ?? text).match(PRE_TOKENS)?.flatMap(split) ?? [],
    decode: (tokens) => new TextDecoder().decode(Uint8Array.from(tokens.flatMap((id) => bytes[id]))),
    nameOf(id) {
      try {
        return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(Uint8Array.from(bytes[id]));
      } catch {
        return bytes[id].map((byte) => `<${byte.toString(16).padStart(2, "0")}>`).join("");
      }
    },
    size: bytes.length,
  };
}
