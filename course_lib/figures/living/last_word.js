// A sentence whose last word the reader changes, and what one of its words attends to.
// data: words (of the sentence, but for the last), query (the position of the word that
// attends), last_words, weights (one row per last word, a number per word of the
// sentence), chosen (a position in last_words), groups ([title, last words]; with them the
// word is typed, else it is chosen), offered (last words with a button each; without
// groups, all of them), parts and vectors (one per last word; or null),
// vector_name (what is said before the vector).

function render({ model, el }) {
  const data = model.get("data");
  const { words, query, last_words: lastWords, weights, groups } = data;
  const typed = groups.length > 0;
  const it = words[query];
  let chosen = data.chosen; // −1: the word that is typed is not known
  let pointed = null; // the position of a word of the sentence
  const view = element("div", { class: `living-view living-last-word${typed ? " lw-typed" : ""}` });
  const said = element("p", { class: "said", "aria-live": "polite" });
  const quoted = (word) => `\u201c${isolated(word)}\u201d`;

  // --- the sentence -------------------------------------------------------------

  const input = element("input", {
    type: "text", class: "lw-input", value: lastWords[chosen], maxlength: 20, "aria-label": "last word",
    autocomplete: "off", autocapitalize: "none", spellcheck: "false", oninput: () => type(input.value),
  });
  const made = [...words, lastWords[chosen]].map((word, j) => {
    const number = element("span", { class: "lw-number" });
    const last = j === words.length;
    const name = last && typed ? input : element("span", { class: "lw-name" }, word);
    const item = last && typed
      ? element("span", { class: "lw-word lw-last" }, name, number)
      : button(name, () => (last ? next() : item.focus()), {
        class: `lw-word${last ? " lw-last" : ""}${j === query ? " lw-it" : ""}`,
      });
    if (item !== name && !item.contains(number)) item.append(number);
    item.addEventListener("pointerenter", () => point(j));
    return { item, name, number };
  });
  const places = made.map(({ item }) => item);
  const reached = places.filter((item) => item.matches("button"));
  // The last word is reached first, also from below, and the arrows up and down change it.
  if (!typed) {
    reached.at(-1).addEventListener("keydown", (event) => {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (!step) return;
      event.preventDefault();
      event.stopImmediatePropagation();
      choose((chosen + step + lastWords.length) % lastWords.length);
    });
  }
  arrowKeys(reached, { ArrowRight: 1, ArrowLeft: -1, ArrowDown: 1, ArrowUp: -1 }, point);
  if (!typed) reached.forEach((each, i) => (each.tabIndex = i === reached.length - 1 ? 0 : -1));
  const lines = places.map((_, j) => shape("path", { class: "lw-line", "data-j": j }));
  const svg = shape("svg", { class: "lw-lines", "aria-hidden": "true" }, ...lines);
  const sentence = element(
    "div",
    {
      class: "lw-sentence", role: "group", "aria-label": "the sentence",
      onpointerleave: () => sentence.contains(document.activeElement) || point(null),
      onfocusout: (event) => sentence.contains(event.relatedTarget) || point(null),
    },
    svg, ...places,
  );

  // A line from the word that attends to word j: above both if they stand in one row.
  function path(j) {
    const origin = sentence.getBoundingClientRect();
    const box = (item) => {
      const { left, right, top, bottom } = item.getBoundingClientRect();
      return { x: (left + right) / 2 - origin.left, top: top - origin.top, bottom: bottom - origin.top };
    };
    const [from, to] = [box(places[query]), box(places[j])];
    if (j === query) {
      return `M${from.x - 5} ${from.top} C${from.x - 16} ${from.top - 26} ${from.x + 16} ${from.top - 26} ${from.x + 5} ${from.top}`;
    }
    if (Math.abs(from.top - to.top) < 8) {
      const height = 14 + 0.2 * Math.abs(from.x - to.x);
      return `M${from.x} ${from.top} C${from.x} ${from.top - height} ${to.x} ${to.top - height} ${to.x} ${to.top}`;
    }
    const [start, end] = to.top < from.top ? [from.top, to.bottom] : [from.bottom, to.top];
    const middle = (start + end) / 2;
    return `M${from.x} ${start} C${from.x} ${middle} ${to.x} ${middle} ${to.x} ${end}`;
  }

  // As much room above the sentence as its lines take, if they begin in the first row.
  function place() {
    const { top } = places[0].getBoundingClientRect();
    const inFirst = (item) => Math.abs(item.getBoundingClientRect().top - top) < 8;
    const apart = (item) => (inFirst(item) ? Math.abs(item.offsetLeft - places[query].offsetLeft) : 0);
    const room = inFirst(places[query]) ? 14 + 0.16 * Math.max(...places.map(apart)) : 0;
    sentence.style.paddingTop = `${Math.max(room, 6)}px`;
    lines.forEach((line, j) => line.setAttribute("d", path(j)));
  }

  // --- what is chosen or typed --------------------------------------------------

  const offered = typed ? data.offered : lastWords;
  const choices = offered.map((word) => button(word, () => take(word), { class: "lw-choice", "data-word": word }));

  arrowKeys(choices, { ArrowRight: 1, ArrowLeft: -1, ArrowDown: 1, ArrowUp: -1 }, () => {});

  function choose(index) {
    chosen = index;
    if (!typed) choices.forEach((each, i) => (each.tabIndex = i === index ? 0 : -1));
    if (typed && document.activeElement !== input) input.value = lastWords[index];
    draw();
    tell();
  }

  function take(word) {
    input.value = word;
    choose(lastWords.indexOf(word));
  }

  function next() {
    choose((chosen + 1) % lastWords.length);
  }

  function type(text) {
    const word = text.trim().toLowerCase();
    const index = lastWords.indexOf(word);
    if (index >= 0) return choose(index);
    chosen = -1;
    draw();
    const near = word ? lastWords.filter((each) => each.startsWith(word)).slice(0, 6) : [];
    said.textContent = !word ? `Type the last word: ${lastWords.length} words are known.`
      : near.length ? `No word ends here yet. Known words that begin with ${quoted(word)}: ${near.join(", ")}.`
        : `${quoted(word)} is unknown here: nobody has made a vector for it, so ${quoted(it)} has no query.`;
  }

  function draw() {
    const row = chosen < 0 ? words.concat("").map(() => 0) : weights[chosen];
    const most = Math.max(...row);
    if (!typed) made.at(-1).name.textContent = lastWords[chosen];
    made.forEach(({ item, number }, j) => {
      number.textContent = chosen < 0 ? "?" : rounded(row[j]);
      number.dataset.value = row[j];
      item.style.setProperty("--weight", row[j]);
      item.classList.toggle("lw-most", row[j] > 0.2 && row[j] === most);
      lines[j].style.strokeWidth = row[j] > 0 ? 0.4 + 13 * row[j] : 0;
      lines[j].dataset.value = row[j];
      lines[j].classList.toggle("lw-most", row[j] > 0.2 && row[j] === most);
    });
    view.classList.toggle("lw-unknown", chosen < 0);
    input.setAttribute("aria-invalid", String(chosen < 0));
    [...choices, ...known].forEach((each) => each.setAttribute("aria-pressed", String(each.dataset.word === lastWords[chosen])));
    vector.textContent = !data.vectors ? "" : chosen < 0 ? `${data.vector_name}: none`
      : `${data.vector_name}: ${data.parts.map((part, i) => `${part} ${short(data.vectors[chosen][i]).replace(".00", "")}`).join(", ")}`;
    place();
  }

  function tell() {
    const row = weights[chosen];
    const all = [...words, lastWords[chosen]];
    const order = row.map((_, j) => j).sort((a, b) => row[b] - row[a]);
    const equal = order.filter((j) => row[order[0]] - row[j] < 5e-4);
    const told = equal.length === row.length ? `to all ${row.length} words equally, ${rounded(row[0])} each`
      : equal.length > 1 ? `equally to ${equal.map((j) => quoted(all[j])).join(" and ")}, ${rounded(row[order[0]])} each`
        : `most to ${quoted(all[order[0]])}, ${rounded(row[order[0]])}, and next to ${quoted(all[order[1]])}, ${rounded(row[order[1]])}`;
    said.textContent = `\u2026 ${isolated(words.at(-1))} ${isolated(lastWords[chosen])}: ${quoted(it)} attends ${told}.`;
  }

  function point(j) {
    pointed = j;
    places.forEach((item, k) => item.classList.toggle("lw-pointed", k === j));
    lines.forEach((line, k) => line.classList.toggle("lw-aside", j !== null && j !== query && k !== j));
    if (j === null || chosen < 0) return chosen < 0 ? undefined : tell();
    const word = [...words, lastWords[chosen]][j];
    said.textContent = j === query
      ? `${quoted(it)} attends to every word, itself included; the numbers sum to 1.`
      : `${quoted(it)} attends to ${quoted(word)} with ${rounded(weights[chosen][j], 3)}.`;
  }

  // --- which words are known ----------------------------------------------------

  const vector = element("p", { class: "lw-vector" });
  const known = groups.flatMap(([, list]) => list).map((word) =>
    button(word, () => take(word), { class: "lw-known", "data-word": word }));
  let at = 0;
  const lists = groups.map(([title, list]) =>
    element("div", { class: "lw-group", role: "group", "aria-label": title },
      element("span", { class: "lw-title" }, title), ...known.slice(at, (at += list.length))));
  arrowKeys(known, { ArrowRight: 1, ArrowLeft: -1, ArrowDown: 1, ArrowUp: -1 }, () => {});
  view.append(
    ...(choices.length ? [element("div", { class: "controls", role: "group", "aria-label": "last word" }, element("span", {}, typed ? "type the last word, or take" : "last word"), ...choices)] : []),
    sentence,
    said,
    ...(data.vectors ? [vector] : []),
    ...(typed ? [element("details", { class: "lw-all" }, element("summary", {}, `The ${lastWords.length} known words`), ...lists)] : []),
  );
  el.append(view);
  if (!typed) choices.forEach((each, i) => (each.tabIndex = i === chosen ? 0 : -1));
  draw();
  tell();
  new ResizeObserver(place).observe(sentence);
  document.fonts?.ready.then(place);
  return followTheme(view);
}

export default { render };
