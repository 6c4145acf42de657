// German while English is typed: the translator of lesson 11 runs in a worker (model.js), and
// each German word shows the English ones that it attended to. data: model (name of its
// file), stored (text, translation, sources, targets, weights: examples for a page without
// that file), examples (texts), seen (the words of the training texts; see unpackedWords),
// asks (whether a notebook may be asked for the file and for the learner's own functions).

const MOST_WORDS = 40;
const PAUSE = 250; // milliseconds after the last key, before it is translated
const OWN_PAUSE = 900; // before a notebook is asked
const RARE = 5; // times in training: a word with fewer is marked

// Sorted words, each as the number of letters that it shares with the one before (one
// digit) and the rest; A to D behind it: it occurred one to four times.
function unpackedWords(text) {
  const counts = new Map();
  let before = "";
  for (const each of text.split(" ").filter(Boolean)) {
    const [, shared, rest, often] = each.match(/^(\d)(.*?)([A-D]?)$/u);
    before = before.slice(0, Number(shared)) + rest;
    counts.set(before, often ? often.charCodeAt(0) - 64 : RARE);
  }
  return counts;
}

// Tokens as words: [start, end) of each. A token ends a word if it says so.
function spansOfWords(endsWord) {
  const spans = [];
  let start = 0;
  endsWord.forEach((ends, i) => {
    if (!ends && i < endsWord.length - 1) return;
    spans.push([start, i + 1]);
    start = i + 1;
  });
  return spans;
}

// What a word attends to in words: sums over a source word's tokens, means over its own.
function weightsOfWords(weights, targets, sources) {
  return targets.map(([first, end]) =>
    sources.map(([from, to]) => {
      let sum = 0;
      for (let i = first; i < end; i++) for (let j = from; j < to; j++) sum += weights[i][j];
      return sum / (end - first);
    }));
}

function render({ model: given, el }) {
  const data = given.get("data");
  const seen = unpackedWords(data.seen);
  let model = null; // once its file is there
  let opening = null;
  let shown = null; // {text, translation, sources, targets, weights, beams, isOver}
  let pointed = null; // ["source" or "target", index]
  let turn = 0;
  const view = element("div", { class: "living-view living-translator" });
  const plural = (n, word) => `${n.toLocaleString("en")} ${word}${n === 1 ? "" : "s"}`;
  const quoted = (word) => `\u201c${isolated(word)}\u201d`;
  const bare = (token) => token.replaceAll("\uffed", "").replace("</w>", "").trim();

  // --- parts of the view --------------------------------------------------------------

  const field = element("textarea", {
    class: "tr-field", rows: 2, lang: "en", dir: "auto", spellcheck: "false", autocomplete: "off",
    "aria-label": "English text", onfocus: () => ready().catch(() => {}), oninput: () => typed(),
  });
  const beams = choice("search", ["greedy", "2 beams", "4 beams"], 2, () => typed(0));
  const size = () => [1, 2, 4][beams.querySelector("select").selectedIndex];
  const state = element("p", { class: "tr-state", role: "status" });
  const german = element("p", { class: "tr-german", lang: "de", dir: "auto", "aria-live": "polite" });
  const sourceRow = element("div", { class: "tr-line", role: "group", "aria-label": "English words" });
  const targetRow = element("div", { class: "tr-line tr-targets", role: "group", "aria-label": "German words" });
  const stage = element("div", { class: "stage" },
    element("span", { class: "tr-name" }, "English, attended to"), sourceRow,
    targetRow, element("span", { class: "tr-name" }, "German, attends"));
  const said = element("p", { class: "said", "aria-live": "polite" });
  const why = element("ul", { class: "tr-why" });
  const others = element("div", { class: "tr-others" });
  const own = element("p", { class: "tr-own", "aria-live": "polite" });

  // --- which words it knows -------------------------------------------------------------

  // How often the rarest part of a word was in the training texts.
  function timesSeen(word) {
    const parts = word.toLowerCase().match(/[\p{L}\p{N}_]+/gu) || [];
    return Math.min(RARE, ...parts.map((part) => seen.get(part) ?? 0));
  }

  function markOf({ text, isRead }) {
    if (isRead === false) return ["unread", "has a character that it cannot read"];
    const times = timesSeen(text);
    if (times === 0) return ["never", "was in none of its training texts"];
    return times < RARE ? ["rare", `was in its training texts ${plural(times, "time")} only`] : [null, ""];
  }

  // --- drawing --------------------------------------------------------------------------

  const draw = overlay(stage, (svg, box) => {
    if (!shown) return;
    shown.weights.forEach((row, i) => row.forEach((weight, j) => {
      const isShown = !pointed || pointed[1] === (pointed[0] === "target" ? i : j);
      if (weight < (pointed && isShown ? 0.02 : 0.1)) return; // many thin lines are no picture
      const [from, to] = [box(targetRow.children[i]), box(sourceRow.children[j])];
      const middle = (from.top + to.bottom) / 2;
      svg.append(shape("path", {
        d: `M${from.x} ${from.top} C${from.x} ${middle} ${to.x} ${middle} ${to.x} ${to.bottom}`,
        class: isShown ? "tr-link" : "tr-link tr-aside", "data-value": weight, style: `stroke-width: ${0.5 + 8 * weight}px`,
      }));
    }));
  });

  function point(side, index) {
    pointed = side && [side, index];
    const weights = shown?.weights || [];
    const row = side === "target" ? weights[index] : null;
    const column = side === "source" ? weights.map((each) => each[index]) : null;
    [[sourceRow, row, "source"], [targetRow, column, "target"]].forEach(([place, values, name]) =>
      [...place.children].forEach((each, i) => {
        each.classList.toggle("tr-pointed", side === name && i === index);
        each.style.setProperty("--weight", values?.[i] ?? 0);
        each.querySelector(".tr-weight").textContent = values ? rounded(values[i]) : "";
      }));
    draw();
    if (side) tell(side, index, row || column);
  }

  const sorted = (values) => values.map((_, i) => i).sort((a, b) => values[b] - values[a]);

  function tell(side, index, values) {
    const { sources, targets } = shown;
    if (side === "target") {
      const [first, second] = sorted(values);
      const next = second === undefined ? "" : `, and next to ${quoted(sources[second].text)}, ${rounded(values[second])}`;
      said.textContent = `${quoted(targets[index].text)} attended most to ${quoted(sources[first].text)}, ${rounded(values[first])}${next}. ${tokensOf(targets[index])}`;
      return;
    }
    const [, mark] = markOf(sources[index]);
    const most = targets.length ? ` Most attended to by ${quoted(targets[sorted(values)[0]].text)}.` : "";
    said.textContent = `${quoted(sources[index].text)}${mark ? ` ${mark}` : " is known from training"}. ${tokensOf(sources[index])}${most}`;
  }

  const tokensOf = ({ tokens }) => (tokens.length > 1 ? `It is ${tokens.length} tokens: ${tokens.map(bare).join(" \u00b7 ")}.` : "It is one token.");

  function boxOf(side, word, index) {
    const [mark, told] = side === "source" && !word.isEnd ? markOf(word) : [null, ""];
    const made = button("", () => made.focus(), {
      class: "tr-word", "data-mark": mark, "data-word": word.text, lang: side === "source" ? "en" : "de",
      "aria-label": told ? `${word.text}, ${told}` : word.text,
      onpointerenter: () => point(side, index),
    });
    made.append(element("bdi", { class: "tr-text" }, word.text));
    if (mark) made.append(element("span", { class: "tr-mark" }, { never: "never seen", rare: "rare", unread: "unreadable" }[mark]));
    made.append(element("span", { class: "tr-weight" }));
    return made;
  }

  function show(result) {
    shown = result;
    pointed = null;
    const { sources, targets } = result;
    german.textContent = result.translation || "\u2013";
    [[sourceRow, sources, "source"], [targetRow, targets, "target"]].forEach(([place, words, side]) => {
      const boxes = words.map((word, i) => boxOf(side, word, i));
      place.replaceChildren(...boxes);
      arrowKeys(boxes, { ArrowRight: 1, ArrowLeft: -1, ArrowDown: 1, ArrowUp: -1 }, (i) => point(side, i));
    });
    stage.hidden = !sources.length;
    why.replaceChildren(...reasons(result).map((each) => element("li", {}, each)));
    drawOthers(result);
    said.textContent = targets.length ? "Point at a word, or reach it by keyboard: the lines are the cross-attention of the last layer, the mean over its heads." : "";
    draw();
  }

  // Why it may be wrong, as far as the text itself tells.
  function reasons({ text, sources, targets, isOver, isCut }) {
    const names = (mark) => [...new Set(sources.filter((each) => !each.isEnd && markOf(each)[0] === mark).map(({ text: word }) => quoted(word)))];
    const listed = (words) => (words.length > 5 ? `${words.slice(0, 5).join(", ")} and ${words.length - 5} more` : words.join(", "));
    const were = (words) => (words.length === 1 ? "was" : "were");
    const [never, rare, unread] = ["never", "rare", "unread"].map(names);
    const made = [];
    if (!text.trim()) made.push("Nothing is typed: there is nothing to translate.");
    if (unread.length) made.push(`${listed(unread)}: a character was in no training text, so it has no token and no vector. All such characters look the same to the model.`);
    if (never.length) made.push(`${listed(never)} ${were(never)} in none of the training texts, and ${never.length === 1 ? "is" : "are"} spelled from subwords of other words. The model can only guess, often by the beginning.`);
    if (rare.length) made.push(`${listed(rare)} ${were(rare)} there fewer than ${RARE} times: too rarely to be learned well.`);
    const known = sources.some(({ text: word, isEnd }) => !isEnd && /[\p{L}\p{N}]/u.test(word) && timesSeen(word) > 0);
    if (sources.length && !known) made.push("No word here is known to it, so expect no translation at all. It has read short texts of one program, Home Assistant.");
    if (isCut && !sources.length) made.push("That word alone has more tokens than the model has positions.");
    else if (isCut) made.push(`Only the first ${sources.length - 1} words and signs are translated: its texts were short, 30 words at most.`);
    if (sources.length && !targets.length) made.push("It has written its end token at once: the empty translation has the best score of all that it tried.");
    if (isOver === false) made.push("It has not written its end token: it goes round in circles.");
    else if (targets.length > 6 && new Set(targets.map((each) => each.text)).size < 0.6 * targets.length) made.push("It repeats itself, as models do that do not know how to go on.");
    return made;
  }

  function drawOthers({ beams: hypotheses }) {
    if (!hypotheses || hypotheses.length < 2) return others.replaceChildren();
    const rows = hypotheses.map(({ text, score }) =>
      element("li", {}, element("bdi", { lang: "de" }, text || "\u2013"), element("span", { class: "tr-score", "data-value": score }, ` ${rounded(score)}`)));
    others.replaceChildren(element("span", { class: "tr-name" }, "the beams at the end, with their scores (closer to 0 is better)"), element("ol", {}, ...rows));
  }

  // --- stored examples --------------------------------------------------------------------

  function grouped(tokens, endsWord) {
    const spans = spansOfWords(tokens.map(endsWord));
    const words = spans.map(([from, to]) => {
      const own = tokens.slice(from, to);
      return { text: own.map(bare).join(""), tokens: own, isEnd: own[0] === "<end>" };
    });
    return { words: words.map((each) => (each.isEnd ? { ...each, text: "(end)" } : each)), spans };
  }

  function fromStored({ text, translation, sources, targets, weights }) {
    const endsWord = (token) => /( |<end>)$/.test(token);
    const written = targets.filter((token) => token !== "<end>");
    const [source, target] = [grouped(sources, endsWord), grouped(written, endsWord)];
    return {
      text, translation, sources: source.words, targets: target.words,
      weights: weightsOfWords(weights, target.spans, source.spans),
    };
  }

  function showStored(index) {
    field.value = data.stored[index].text;
    show(fromStored(data.stored[index]));
    press(field.value);
  }

  // --- the model ------------------------------------------------------------------------

  async function opened() {
    try {
      return await openModel(data.model);
    } catch (error) {
      if (!data.asks) throw error;
      const answer = await askNotebook(el, { want: "model" });
      if (answer?.base64) return openModel({ ...data.model, base64: answer.base64 });
      throw new Error(answer?.error || error.message);
    }
  }

  // The file is loaded when the reader comes to type; what failed is tried again the next time.
  function ready() {
    opening ??= (async () => {
      state.textContent = "The model is being loaded \u2026";
      try {
        model = await opened();
        const { nParameters, bytes } = model.about;
        state.textContent = `The Transformer runs in this page: ${rounded(nParameters / 1e6, 1)} million parameters, ${rounded(bytes / 1e6, 1)} MB.`;
        field.readOnly = false;
        drawExamples(data.examples);
        press(field.value);
      } catch (error) {
        opening = null;
        state.textContent = `${error.message} What you see is stored: ${plural(data.stored.length, "translation")} made when the course was.`;
        field.readOnly = true;
        drawExamples(data.stored.map(({ text }) => text));
        if (!data.stored.some(({ text }) => text === field.value)) showStored(0);
        press(field.value);
        throw error;
      }
    })();
    return opening;
  }

  // --- translating --------------------------------------------------------------------------

  let waiting = null; // the timer of the text that comes next
  let isBusy = false;

  function typed(pause = PAUSE) {
    turn += 1;
    own.textContent = "";
    press(field.value);
    clearTimeout(waiting);
    waiting = setTimeout(() => translateNow(turn), pause);
  }

  // One text at a time; what was typed meanwhile comes next, and only the last of it.
  async function translateNow(now) {
    if (isBusy || (!model && field.readOnly)) return; // without a model it is stored examples
    isBusy = true;
    try {
      await ready();
      const result = await translated(field.value);
      if (now === turn) {
        show(result);
        if (data.asks && result.sources.length && !result.isCut) setTimeout(() => now === turn && askOwn(result, now), OWN_PAUSE);
      }
    } catch (error) {
      if (model) state.textContent = error.message;
    } finally {
      isBusy = false;
      if (model && now !== turn) translateNow(turn);
    }
  }

  const mean = (heads, index) => heads.reduce((sum, head) => sum + head[index], 0) / heads.length;

  async function translated(typedText) {
    const all = typedText.split(/\s+/u).filter(Boolean);
    const isCut = all.length > MOST_WORDS;
    const text = isCut ? all.slice(0, MOST_WORDS).join(" ") : typedText;
    const { names, config } = model.about;
    const { words: encoded } = await model.encode(text);
    let words = encoded;
    const room = config.n_positions - 1; // one for the end
    while (words.reduce((sum, { ids }) => sum + ids.length, 0) > room) words = words.slice(0, -1);
    if (!words.length) return { text, translation: "", sources: [], targets: [], weights: [], isCut: all.length > 0 };
    const endId = names.indexOf("<end>");
    const ids = [...words.flatMap((word) => word.ids), endId];
    const answer = await model.translate(ids, { beamSize: size(), maxLength: 60 });
    const sources = words.map((word) => ({ text: bare(word.text), tokens: word.ids.map((id) => names[id]), isRead: !word.unknown }));
    sources.push({ text: "(end)", tokens: ["<end>"], isEnd: true });
    const lengths = [...words.map((word) => word.ids.length), 1];
    let start = 0;
    const spans = lengths.map((length) => [start, (start += length)]);
    const target = grouped(answer.ids.map((id) => names[id]), (token) => token.endsWith("</w>"));
    const weights = answer.weights.map((layers) => ids.map((_, j) => mean(layers.at(-1), j)));
    return {
      text, translation: answer.text, sources, targets: target.words, isCut: isCut || words.length < encoded.length,
      weights: weightsOfWords(weights, target.spans, spans), isOver: answer.ids.length < Math.min(60, room),
      beams: await hypothesesOf(answer),
    };
  }

  const hypothesesOf = ({ hypotheses }) =>
    hypotheses && Promise.all(hypotheses.map(async ({ ids, score }) => ({ text: await model.decode(ids), score })));

  // --- the learner's own search ------------------------------------------------------------

  async function askOwn(result, now) {
    const answer = await askNotebook(el, { want: "translation", text: result.text, beams: size() });
    if (now !== turn || !answer) return;
    if (answer.error) own.textContent = answer.error;
    else if (answer.translation === result.translation) own.textContent = `Your own ${answer.name} writes the same.`;
    else own.textContent = `Your own ${answer.name} writes: ${answer.translation || "nothing"}`;
  }

  // --- examples ------------------------------------------------------------------------------

  const examples = element("div", { class: "controls tr-examples", role: "group", "aria-label": "examples" });

  function drawExamples(texts) {
    const made = texts.map((text) => button(text, () => {
      const index = data.stored.findIndex((each) => each.text === text);
      if (!model && index >= 0) showStored(index);
      field.value = text;
      typed(0);
    }, { "data-text": text }));
    arrowKeys(made, { ArrowRight: 1, ArrowLeft: -1, ArrowDown: 1, ArrowUp: -1 }, () => {});
    examples.replaceChildren(element("span", {}, "or take"), ...made);
  }

  function press(text) {
    examples.querySelectorAll("button").forEach((each) => each.setAttribute("aria-pressed", String(each.dataset.text === text)));
  }

  stage.addEventListener("pointerleave", () => stage.contains(document.activeElement) || point(null));
  stage.addEventListener("focusout", (event) => stage.contains(event.relatedTarget) || point(null));
  view.append(
    element("div", { class: "controls" }, element("label", { class: "tr-typing" }, "English ", field), beams),
    examples, state, german, stage, said, why, others, own);
  el.append(view);
  drawExamples([...new Set([...data.stored.map(({ text }) => text), ...data.examples])]);
  state.textContent = "Stored when the course was made. The model is loaded when you type, and runs in this page.";
  showStored(0);
  return followTheme(view);
}

export default { render };
