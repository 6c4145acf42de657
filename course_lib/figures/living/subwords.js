// The tokenizer of the translator (lesson 11), which merges as tokenizer.js does.

const END_OF_WORD = "</w>", JOINER = "\uffed", STAND_IN = "\u25a0";
const IS_PUNCTUATION = /^[\p{P}\p{S}]/u;
const PIECES = /(?<=\p{L})'\p{L}+|([\p{P}\p{S}])\1*|[^\p{P}\p{S}]+/gu;
// As Python's str.split: \s would take U+FEFF for white space, and U+0085 for none.
const wordsOf = (text) => text.split(/[\p{White_Space}\x1c-\x1f]+/u).filter(Boolean);
const capitalised = (word) => word.slice(0, 1).toUpperCase() + word.slice(1);
const stripped = (token) => token.replace(/^\uffed+|\uffed+$/g, "");

/** Make punctuation tokens of its own, with joiners where there was no space. */
function separatePunctuation(text) {
  const tokens = [];
  for (const word of wordsOf(text.replaceAll(JOINER, STAND_IN))) {
    [...word.matchAll(PIECES)].forEach(([piece], i) => {
      if (i && IS_PUNCTUATION.test(piece)) return tokens.push(JOINER + piece);
      if (i) tokens[tokens.length - 1] += JOINER;
      tokens.push(piece);
    });
  }
  return tokens;
}

/** Return where the first word of each sentence stands. */
function firstWords(tokens) {
  let begins = true;
  return tokens.flatMap((token, i) => {
    const mark = stripped(token);
    if (!IS_PUNCTUATION.test(mark)) {
      const isFirst = begins && mark;
      if (isFirst) begins = false;
      return isFirst ? [i] : [];
    }
    if (".!?".includes(mark) && mark.length === 1 && !token.endsWith(JOINER)) begins = [...(tokens[i - 1] ?? tokens.at(-1))].length > 1;
    return [];
  });
}

/** Make a source's words as the tokenizer of the translator has learned them. */
function preparedSource(text, { lower, upper }) {
  let tokens = separatePunctuation(text);
  const joined = tokens.join(" ");
  const inCapitals = joined === joined.toUpperCase() && joined !== joined.toLowerCase();
  if (inCapitals && tokens.length > 1) tokens = tokens.map((token) => (upper.has(token) ? token : token.toLowerCase()));
  for (const i of firstWords(tokens)) {
    const lowered = tokens[i].slice(0, 1).toLowerCase() + tokens[i].slice(1);
    if (lower.has(lowered)) tokens[i] = lowered;
  }
  return tokens;
}

/** Undo what was done to a target before training: capitals, and joiners. */
function restoredTarget(words) {
  for (const i of firstWords(words)) {
    const rest = words[i].slice(1);
    if (rest === rest.toLowerCase()) words[i] = capitalised(words[i]);
  }
  return words.join(" ").replace(/(?: ?\uffed)+ ?/g, "");
}

/**
 * Make the tokenizer of the translator.
 *
 * @param {{symbols: string[], merges: string[][], preprocessing: Object}} data the file's
 * @returns {{encode: function(string): number[], words: function(string): Object[],
 *     decode: function(number[]): string, nameOf: function(number): string, size: number,
 *     paddingId: number, startId: number, endId: number, unknownId: number}} words are a source's
 *     words as they are encoded: {text, ids, unknown}, where unknown says that a character of the
 *     word was in no training text
 */
function subwordTokenizer({ symbols, merges, preprocessing }) {
  const special = ["<padding>", "<start>", "<end>", "<unknown>"];
  const ranks = ranksOf(merges);
  const merged = merges.map(([left, right]) => left + right);
  const vocabulary = [...special, ...new Set([...symbols, ...merged])];
  const ids = new Map(vocabulary.map((token, id) => [token, id]).slice(special.length));
  const [paddingId, startId, endId, unknownId] = [0, 1, 2, 3];
  const source = preprocessing && { lower: new Set(preprocessing.source.lower), upper: new Set(preprocessing.source.upper) };
  const idsOf = (word) => {
    const letters = [...word];
    letters.push(letters.pop() + END_OF_WORD);
    return mergedSymbols(letters, ranks).map((token) => ids.get(token) ?? unknownId);
  };
  const words = (text) => (source ? preparedSource(text, source) : wordsOf(text)).map((word) => {
    const own = idsOf(word);
    return { text: word, ids: own, unknown: own.includes(unknownId) };
  });
  return {
    words,
    encode: (text) => words(text).flatMap(({ ids: own }) => own),
    decode(tokens) {
      const names = tokens.filter((id) => id >= unknownId).map((id) => (id === unknownId ? "\ufffd" : vocabulary[id]));
      const text = wordsOf(names.join("").replaceAll(END_OF_WORD, " "));
      return source ? restoredTarget(text) : text.join(" ");
    },
    nameOf: (id) => vocabulary[id],
    size: vocabulary.length,
    paddingId, startId, endId, unknownId,
  };
}
