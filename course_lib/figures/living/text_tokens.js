// Any text as tokens of bytes: a box for each token, with its id, and what the same
// sentence costs in other languages. data: texts ([name, text] of the examples),
// vocabularies ([name, pairs]: what the merges were learned from, and of each merge the
// token ids of its left and right symbol, one after the other), asks (whether a notebook
// may be asked what the learner's own function makes of the text).

const MOST_CHARACTERS = 5000;
const MOST_BOXES = 600;
const MOST_ASKED = 400; // characters: the learner's function may be slow
const PATIENCE = 350; // milliseconds after the last key, before it is asked
const RIGHT_TO_LEFT = /^[^\p{L}]*[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefe\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

// The tokenizer of a vocabulary (tokenizer.js), whose merges are told as token ids.
function tokenizerOf(pairs) {
  const tokens = [...ALPHABET];
  const merges = [];
  for (let i = 0; i < pairs.length; i += 2) {
    const pair = [tokens[pairs[i]], tokens[pairs[i + 1]]];
    merges.push(pair);
    tokens.push(pair.join(""));
  }
  return byteTokenizer({ merges, special_tokens: [] });
}

function render({ model, el }) {
  const { texts, vocabularies, asks } = model.get("data");
  const tokenizers = vocabularies.map(([, pairs]) => tokenizerOf(pairs));
  let vocabulary = 0;
  let text = texts[0][1];
  let summary = "";
  let waiting = 0;
  const view = element("div", { class: "living-view living-text-tokens" });
  const said = element("p", { class: "said", "aria-live": "polite" });
  const counts = element("p", { class: "tk-counts" });
  const boxes = element("div", { class: "tk-boxes", role: "group", "aria-label": "tokens" });
  const whose = element("p", { class: "tk-whose", "aria-live": "polite" });
  const plural = (n, word) => `${n.toLocaleString("en")} ${word}${n === 1 ? "" : "s"}`;
  const quoted = (word) => `\u201c${isolated(word)}\u201d`;
  const count = (encoded) => encoded.reduce((sum, [, ids]) => sum + ids.length, 0);

  // --- how a token is written -----------------------------------------------------

  const code = (character) => `U+${character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}`;
  const hex = (bytes) => bytes.map((byte) => byte.toString(16).toUpperCase().padStart(2, "0")).join(" ");

  // White space and signs that one cannot see have a name or a number.
  function visible(string) {
    const written = [...string].map((each) =>
      ({ " ": "\u2423", "\n": "\u23ce", "\t": "\u21e5" })[each] ||
      (/[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}]/u.test(each) ? code(each) : each));
    return (/^\p{M}/u.test(string) && !written[0].startsWith("U+") ? "\u25cc" : "") + written.join("");
  }

  // Tokens as they are drawn together: one that is whole characters alone, those that
  // share a character in a group.
  function groups(ids) {
    const { bytes } = tokenizers[vocabulary];
    const [made, open] = [[], []];
    for (const id of ids) {
      open.push(id);
      const all = textOf(open.flatMap((each) => bytes[each]));
      if (all === null) continue;
      made.push({ ids: open.splice(0), text: all });
    }
    if (open.length) made.push({ ids: open, text: null });
    return made;
  }

  // --- boxes ------------------------------------------------------------------------

  function box(id, group, index) {
    const bytes = tokenizers[vocabulary].bytes[id];
    const part = group.ids.length > 1;
    const own = textOf(bytes);
    const name = part || own === null ? hex(bytes) : visible(own);
    const made = button("", () => made.focus(), {
      class: part ? "tk-token tk-part" : "tk-token", "data-value": id, "data-tint": index % 4,
      "aria-label": `token ${index + 1}: ${name}, id ${id}`,
    });
    made.append(element("bdi", { class: "tk-text" }, name), element("span", { class: "tk-id" }, String(id)));
    made.tell = () => {
      const merge = id < 256 ? `is a byte, id ${id}` : `has the id ${id.toLocaleString("en")}: merge ${(id - 255).toLocaleString("en")} made it`;
      const of = part ? ` It is a part of ${quoted(visible(group.text ?? "\ufffd"))}, which no merge puts together.` : "";
      const size = id < 256 || part ? "" : `, ${plural(bytes.length, "byte")} in one token`;
      said.textContent = `Token ${(index + 1).toLocaleString("en")}: ${quoted(name)} ${merge}${size}.${of}`;
    };
    return made;
  }

  function drawBoxes(ids) {
    const made = [];
    const drawn = groups(ids.slice(0, MOST_BOXES)).map((group) => {
      const own = group.ids.map((id) => {
        made.push(box(id, group, made.length));
        return made.at(-1);
      });
      if (own.length === 1) return own[0];
      const caption = element("bdi", { class: "tk-of" }, visible(group.text ?? "\ufffd"));
      return element("span", { class: "tk-group" }, element("span", { class: "tk-parts" }, ...own), caption);
    });
    const backwards = RIGHT_TO_LEFT.test(text);
    boxes.dir = backwards ? "rtl" : "ltr";
    const more = ids.length - MOST_BOXES;
    boxes.replaceChildren(...drawn, ...(more > 0 ? [element("span", { class: "tk-more" }, `and ${plural(more, "more token")}`)] : []));
    boxes.hidden = !made.length;
    const on = backwards ? -1 : 1;
    arrowKeys(made, { ArrowRight: on, ArrowLeft: -on, ArrowDown: 1, ArrowUp: -1 }, (index) => made[index].tell());
  }

  boxes.addEventListener("pointerover", (event) => event.target.closest(".tk-token")?.tell());
  boxes.addEventListener("pointerleave", () => boxes.contains(document.activeElement) || (said.textContent = summary));

  // --- what is told of the whole text -------------------------------------------------

  function tellAll(encoded, ids, isCut) {
    const characters = [...text].length;
    const words = encoded.filter(([part]) => /\p{L}/u.test(part));
    const whole = words.filter(([, own]) => own.length === 1).length;
    const n_bytes = new TextEncoder().encode(text).length;
    const perWord = words.length ? `, ${rounded(count(words) / words.length, 1)} tokens per word` : "";
    counts.replaceChildren(
      element("strong", { class: "tk-total", "data-value": ids.length }, plural(ids.length, "token")),
      ` for ${plural(characters, "character")}, ${plural(n_bytes, "byte")}; ${plural(words.length, "word")} (runs of letters)${perWord}`);
    const split = new Set(groups(ids.slice(0, MOST_BOXES)).filter((each) => each.ids.length > 1).flatMap((each) => [...(each.text ?? "\ufffd")]));
    const parts = [];
    if (!ids.length) parts.push("No text, no tokens. Type something, or take an example below.");
    else if (ids.length === 1) parts.push(`${quoted(visible(text))} is one token: there is nothing to split.`);
    else if (ids.length === n_bytes) parts.push("No merge that was learned joins anything here: each byte is a token of its own. Nothing is unknown, but nothing is cheap.");
    else if (words.length) parts.push(whole ? `${whole.toLocaleString("en")} of ${plural(words.length, "word")} ${whole === 1 ? "is" : "are"} one token each.` : "No word here is one token: each is put together from parts that are known from other words.");
    if (ids.length > 1 && split.size) parts.push(`Where a box has a dashed edge, it has only a part of a character: ${[...split].slice(0, 6).map((each) => quoted(visible(each))).join(", ")}${split.size > 6 ? ` and ${split.size - 6} more` : ""}.`);
    if (isCut) parts.push(`Only the first ${MOST_CHARACTERS.toLocaleString("en")} characters are taken.`);
    if (ids.length > MOST_BOXES) parts.push(`The first ${MOST_BOXES} tokens are drawn; the numbers are those of all.`);
    if (!text.isWellFormed?.() && /[\ud800-\udfff]/u.test(text)) parts.push("Half a character is in the text; UTF-8 cannot write it, and \ufffd takes its position.");
    summary = parts.join(" ");
    said.textContent = summary;
  }

  // --- the learner's own function -----------------------------------------------------

  async function askOwn(ids, turn) {
    if ([...text].length > MOST_ASKED) {
      whose.textContent = `The course's tokens: your encode_word is asked for up to ${MOST_ASKED} characters.`;
      return;
    }
    const answer = await askNotebook(el, { text, vocabulary: vocabularies[vocabulary][0] });
    if (turn !== waiting) return; // the text is another one by now
    if (!answer) whose.textContent = "";
    else if (answer.error) whose.textContent = `The course's tokens, since your encode_word does not give any: ${answer.error}`;
    else {
      const differs = answer.ids.findIndex((id, i) => id !== ids[i]);
      const at = differs < 0 && answer.ids.length < ids.length ? answer.ids.length : differs;
      if (at >= 0) drawBoxes(answer.ids);
      whose.textContent = at < 0 ? "These are the tokens of your own encode_word, the same as the course's."
        : `These are the ${plural(answer.ids.length, "token")} of your own encode_word. The course's has ${ids.length.toLocaleString("en")}; the first that differs is token ${at + 1}.`;
    }
  }

  // --- what is typed and chosen ---------------------------------------------------------

  const field = element("textarea", {
    class: "tk-field", rows: 2, dir: "auto", spellcheck: "false", autocomplete: "off", autocapitalize: "none",
    "aria-label": "your text", oninput: () => draw(),
  });
  field.value = text;

  function draw() {
    const characters = [...field.value];
    const isCut = characters.length > MOST_CHARACTERS;
    text = isCut ? characters.slice(0, MOST_CHARACTERS).join("") : field.value;
    const encoded = tokenizers[vocabulary].split(text);
    const ids = encoded.flatMap(([, own]) => own);
    drawBoxes(ids);
    tellAll(encoded, ids, isCut);
    examples.forEach((each, i) => each.setAttribute("aria-pressed", String(texts[i][1] === field.value)));
    whose.textContent = "";
    const turn = ++waiting;
    if (asks && ids.length) setTimeout(() => turn === waiting && askOwn(ids, turn), PATIENCE);
  }

  const examples = texts.map(([name, example]) =>
    button("", () => {
      field.value = example;
      draw();
    }, { class: "tk-example", "data-name": name }));
  arrowKeys(examples, { ArrowRight: 1, ArrowLeft: -1, ArrowDown: 1, ArrowUp: -1 }, () => {});

  // The same sentence in each language: how many tokens it takes with these merges.
  function compare() {
    const numbers = texts.map(([, example]) => count(tokenizers[vocabulary].split(example)));
    const most = Math.max(...numbers);
    examples.forEach((each, i) => {
      each.style.setProperty("--share", `${(100 * numbers[i]) / most}%`);
      each.dataset.value = numbers[i];
      each.replaceChildren(
        element("span", { class: "tk-name" }, texts[i][0]),
        element("bdi", { class: "tk-sentence" }, texts[i][1]),
        element("span", { class: "tk-number" }, plural(numbers[i], "token")));
    });
  }

  const choose = (index) => {
    vocabulary = index;
    compare();
    draw();
  };
  view.append(
    element("div", { class: "controls" }, element("label", { class: "tk-typing" }, "your text ", field),
      choice("merges learned from", vocabularies.map(([name]) => name), 0, choose)),
    counts, boxes, said, ...(asks ? [whose] : []),
    element("div", { class: "tk-examples", role: "group", "aria-label": "examples" }, ...examples),
  );
  el.append(view);
  choose(0);
  return followTheme(view);
}

export default { render };
