// Byte-pair encoding, merge by merge: each word as its tokens so far, the pair that is
// joined next, the merges. data: words (name, and its tokens where they change: pairs of
// how many merges were made and the tokens), merges (left, right, count, number). With
// learned (left, right, count of each merge), the reader types the word instead.

// Letters of these scripts join or stack, so that a cell for each would tear them apart.
const JOINING = /[\u0600-\u109f\u1780-\u18af\u{10a00}-\u{11fff}]/u;

function render({ model, el }) {
  const { learned } = model.get("data");
  let { words, merges } = model.get("data");
  let [last, most, heading] = [0, 0, ""];
  const hidden = new Set();
  let made = 0;
  const view = element("div", { class: "living-view living-merges" });
  const said = element("p", { class: "said", "aria-live": "polite" });
  const rows = element("div", { class: "words" });
  const joined = element("div", { class: "pair", "data-pair": "joined" });
  const next = element("div", { class: "pair", "data-pair": "next" });
  const order = element("ol", { class: "merges" });
  const step = { slider: null, shown: null, back: null, on: null };

  const plural = (n, word) => `${n.toLocaleString("en")} ${word}${n === 1 ? "" : "s"}`;
  const isolated = (text) => element("bdi", {}, text);
  const list = (texts) => texts.join(", ");
  // Said of tokens in another direction, each keeps to itself.
  const quoted = (text) => `\u2068${text}\u2069`;

  function after(word, n) {
    return word.steps.findLast(([since]) => since <= n)[1];
  }

  // Where each token stands, counted in symbols of the beginning.
  function spans(word, n) {
    const symbols = word.steps[0][1];
    let [from, to] = [0, 0];
    return after(word, n).map((text) => {
      from = to;
      for (let length = 0; length < text.length; to++) length += symbols[to].length;
      return { text, from, to, cells: symbols.slice(from, to) };
    });
  }

  const same = (one) => (other) => one.from === other.from && one.to === other.to;

  // How many merges were made when a token came up.
  function origin(word, span) {
    return word.steps.find(([n]) => spans(word, n).some(same(span)))[0];
  }

  function changes(word, n) {
    const before = n > 0 ? spans(word, n - 1) : [];
    return n > 0 ? spans(word, n).filter((span) => !before.some(same(span))) : [];
  }

  const shownWords = () => words.filter((word) => !hidden.has(word));

  function told(n) {
    const [left, right, count, number] = merges[n - 1];
    return `Merge ${number.toLocaleString("en")} joins ${quoted(left)} and ${quoted(right)}, ${plural(count, "time")}`;
  }

  function sayState() {
    const names = shownWords().filter((word) => changes(word, made).length);
    const parts = [];
    if (made === 0) parts.push("No merge yet: each word is its symbols.");
    else {
      const where = names.length ? `in ${list(names.map((word) => quoted(word.name)))}` : "in no word shown";
      parts.push(`${told(made)}; here ${where}.`);
    }
    if (!shownWords().length) parts.push("No word is shown.");
    said.textContent = parts.join(" ");
  }

  // Tokens are one stop of the Tab key: left and right to the neighbour, up and down to
  // the word above or below.
  function tokenKeys(groups) {
    const tokens = groups.flat();
    arrowKeys(tokens, { ArrowRight: 1, ArrowLeft: -1 }, (index) => tokens[index].tell());
    groups.forEach((group, row) =>
      group.forEach((token, column) =>
        token.addEventListener("keydown", (event) => {
          const other = groups[row + { ArrowDown: 1, ArrowUp: -1 }[event.key]];
          if (!other) return;
          event.preventDefault();
          const target = other[Math.min(column, other.length - 1)];
          tokens.forEach((each) => (each.tabIndex = each === target ? 0 : -1));
          target.focus();
        }),
      ),
    );
  }

  function drawWords() {
    const groups = [];
    const drawn = shownWords().map((word) => {
      const [now, fresh] = [spans(word, made), changes(word, made)];
      const coming = made < last ? changes(word, made + 1) : [];
      const tokens = now.map((span) => {
        const joins = coming.find((each) => each.from <= span.from && span.to <= each.to);
        const side = joins && (joins.from === span.from ? "left" : "right");
        const token = button("", () => token.focus(), {
          class: "token", "data-value": span.text, "aria-label": span.text,
          "data-joined": fresh.some(same(span)) ? "now" : span.cells.length > 1 ? "before" : null,
          "data-next": side || null,
        });
        const whole = JOINING.test(word.name);
        token.style.setProperty("--cells", span.cells.length);
        token.append(...(whole ? [span.text] : span.cells).map((cell) =>
          element("span", { class: whole ? null : cell.length > 1 ? "lv-cell wide" : "lv-cell" }, cell)));
        token.tell = () => {
          const since = origin(word, span);
          said.textContent = since
            ? `${quoted(span.text)} in ${quoted(word.name)}: ${told(since).replace(/^M/, "m")}.`
            : `${quoted(span.text)} in ${quoted(word.name)}: a symbol from the beginning.`;
        };
        token.addEventListener("pointerenter", token.tell);
        return token;
      });
      groups.push(tokens);
      return element(
        "div",
        { class: "word", "data-word": word.name },
        element("span", { class: "name" }, isolated(word.name)),
        element("span", { class: "tokens", dir: "auto", role: "group", "aria-label": word.name }, ...tokens),
        element("span", { class: "total", "data-value": tokens.length }, String(tokens.length),
          element("span", { class: "unit" }, tokens.length === 1 ? " token" : " tokens")),
      );
    });
    rows.replaceChildren(...drawn);
    tokenKeys(groups);
  }

  function drawPair(place, name, n) {
    const head = element("span", { class: "head" }, name);
    if (n < 1 || n > last) {
      place.replaceChildren(head, element("span", {}, n < 1 ? "nothing yet" : "nothing: all merges are made"));
      return;
    }
    const [left, right, count] = merges[n - 1];
    const box = (text, side) => element("bdi", { class: "token", "data-next": side }, text);
    const form = name === "next" ? ["left", "right", null] : [null, null, "now"];
    const result = element("bdi", { class: "token", "data-joined": form[2] }, left + right);
    place.replaceChildren(
      head, box(left, form[0]), " + ", box(right, form[1]), " \u2192 ", result,
      element("span", { class: "count", "data-value": count }, plural(count, "time")),
    );
  }

  function entry([left, right, count, number], index) {
    const made = button("", () => go(index + 1), { "data-merge": index + 1, "data-value": count });
    made.style.setProperty("--share", `${(100 * count) / most}%`);
    made.append(
      element("span", { class: "number" }, number.toLocaleString("en")),
      element("span", { class: "what" }, isolated(left), " + ", isolated(right)),
      element("span", { class: "count" }, count.toLocaleString("en")),
    );
    made.addEventListener("pointerenter", () => (said.textContent = `${told(index + 1)}.`));
    return made;
  }

  function drawOrder() {
    const inside = order.contains(document.activeElement);
    const entries = merges.slice(0, made).map(entry);
    arrowKeys(entries, { ArrowDown: 1, ArrowUp: -1 }, (index) => (said.textContent = `${told(index + 1)}.`));
    order.replaceChildren(...entries.map((each) => element("li", {}, each)));
    const latest = entries.at(-1);
    if (!latest) return;
    latest.setAttribute("aria-current", "step");
    entries.forEach((each) => (each.tabIndex = each === latest ? 0 : -1));
    if (inside) latest.focus();
    order.scrollTop = order.scrollHeight;
  }

  function go(n) {
    made = Math.min(Math.max(n, 0), last);
    step.slider.value = made;
    step.slider.setAttribute("aria-valuetext", `${made} of ${last}`);
    step.shown.textContent = `${made} of ${last}`;
    step.back.setAttribute("aria-disabled", String(made === 0));
    step.on.setAttribute("aria-disabled", String(made === last));
    drawWords();
    drawPair(joined, "joined", made);
    drawPair(next, "next", made + 1);
    drawOrder();
    sayState();
  }

  function controls() {
    step.slider = element("input", {
      type: "range", min: 0, max: last, step: 1, value: 0,
      oninput: (event) => go(Number(event.target.value)),
    });
    step.shown = element("output", { class: "made" });
    step.back = button("\u2190 back", () => go(made - 1), { "data-go": "back" });
    step.on = button("merge \u2192", () => go(made + 1), { "data-go": "on" });
    return element(
      "div",
      { class: "controls", role: "group", "aria-label": "merges" },
      element("label", { class: "slide" }, "merges ", step.slider),
      step.shown,
      element("span", { class: "go" }, step.back, " ", step.on),
    );
  }

  function chooser() {
    const chosen = words.map((word) => {
      const press = () => {
        if (hidden.has(word)) hidden.delete(word);
        else hidden.add(word);
        toggle.setAttribute("aria-pressed", String(!hidden.has(word)));
        drawWords();
        sayState();
      };
      const toggle = button(isolated(word.name), press, { "aria-pressed": "true" });
      return toggle;
    });
    arrowKeys(chosen, { ArrowRight: 1, ArrowLeft: -1, ArrowDown: 1, ArrowUp: -1 }, () => {});
    return element("div", { class: "controls choose", role: "group", "aria-label": "words shown" }, "words: ", ...chosen);
  }

  // The merges that change a word, in their order: its tokens after each, and the merges.
  function split(text) {
    let tokens = [...text];
    const [steps, changing] = [[[0, tokens]], []];
    learned.forEach(([left, right, count], index) => {
      const joined = [];
      let free = false; // whether the last token may be the left one of the pair
      for (const token of tokens) {
        const both = free && token === right && joined.at(-1) === left;
        if (both) joined.push(joined.pop() + token);
        else joined.push(token);
        free = !both;
      }
      if (joined.length === tokens.length) return;
      tokens = joined;
      changing.push([left, right, count, index + 1]);
      steps.push([changing.length, tokens]);
    });
    words = [{ name: text, steps }];
    merges = changing;
  }

  function typing() {
    const field = element("input", {
      type: "text", class: "typed", value: words[0].name, maxlength: 20, autocomplete: "off",
      autocapitalize: "none", spellcheck: "false", "aria-label": "your word",
      oninput: () => {
        const text = field.value.toLowerCase().replace(/\s/g, "");
        if (!text) return;
        split(text);
        open();
      },
    });
    return element("label", { class: "controls typing" }, "your word ", field);
  }

  const field = learned && typing();
  const title = element("div", { class: "head" });
  const body = element("div", { class: "body" });

  function open() {
    last = merges.length;
    most = Math.max(1, ...merges.map(([, , count]) => count));
    const gaps = learned || merges.at(-1)[3] > last;
    heading = gaps ? `merges so far that change ${words.length > 1 ? "these words" : "this word"}` : "merges so far";
    title.textContent = heading;
    order.setAttribute("aria-label", heading);
    order.style.setProperty("--rows", Math.min(Math.max(last, 1), 8));
    view.classList.toggle("long", Math.max(...words.map((word) => word.steps[0][1].length)) > 10);
    body.replaceChildren(
      controls(),
      element("div", { class: "pairs" }, joined, next),
      element("div", { class: "sides" }, rows, element("div", { class: "learned" }, title, order)),
      ...(words.length > 1 ? [chooser()] : []),
    );
    go(0);
  }

  view.append(...(field ? [field] : []), body, said);
  el.append(view);
  open();
  return followTheme(view);
}

export default { render };
