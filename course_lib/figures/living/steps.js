// One query through attention, in the six steps of the lesson: each key and its value is a
// column, and the numbers go down it. data: names of the keys, query (d_k), keys (m, d_k),
// values (m, d_v), and what the steps gave: scores, scaled and weights (m),
// weighted_values (m, d_v), output (d_v). Only √d_k is computed here, and the products that
// are seen on their way into a score.

const TITLES = ["vectors", "scores", "÷ √d_k", "softmax", "× values", "sum"];
const FLIGHT = 550; // milliseconds
const PAUSE = 220; // between one column's start and the next one's

function render({ model, el }) {
  const data = model.get("data");
  const { names, query, keys, values } = data;
  const columns = names.map((_, j) => j);
  const root = Math.sqrt(query.length);
  const state = { step: 1, pointed: null };
  const longest = Math.max(...names.map((name) => [...name].length));
  const room = longest > 9 || longest * names.length > 44 ? "upright" : longest > 5 ? "upright-if-narrow" : "";
  const view = element("div", { class: `living-view living-steps ${room}` });
  const said = element("p", { class: "said", "aria-live": "polite" });
  const cells = {}; // "scores 0 2": the cell of a number, by part, row and column
  const still = matchMedia("(prefers-reduced-motion: reduce)");
  let flying = [];

  // --- the table: columns are the query, a key each, and the output ---

  function number(part, step, row, column, value) {
    const cell = element("span", {
      role: "cell", class: `number of-${part}`, "data-part": part, "data-step": step,
      "data-row": row, "data-column": column, "data-value": value,
    }, element("span", {}, short(value)));
    if (part === "weights") cell.style.setProperty("--weight", Math.min(Math.max(value, 0), 1));
    cells[`${part} ${row} ${column}`] = cell;
    return cell;
  }
  const nothing = () => element("span", { role: "cell", class: "nothing" });
  const blank = () => element("span", { role: "cell", class: "lv-label blank" });
  const line = (...children) => element("div", { role: "row", class: "line" }, ...children);

  // A part of the table: its label, and rows of numbers with what is beside them.
  function block(step, label, rows) {
    const head = element("span", { role: "rowheader", class: "lv-label", "data-of": step },
      ...[label].flat());
    return rows.map((row, i) =>
      line(i ? blank() : head, ...row));
  }

  const tokens = names.map((name) => button(element("span", {}, name), () => {}));
  const heads = ["query", ...tokens, ""].map((head) =>
    element("span", { role: head ? "columnheader" : "cell", class: "head" }, head));
  const oneRow = (part, step) => [[
    nothing(), ...columns.map((j) => number(part, step, 0, j, data[part][j])), nothing()]];
  const tag = (step) => element("b", { class: "tag", "aria-hidden": "true" }, String(step));
  const sum = element("span", { role: "columnheader", class: "head sum", "data-of": 6 },
    tag(6), element("span", {}, " output"));
  const table = element(
    "div",
    { role: "table", "aria-label": "one query through attention", class: "lv-table" },
    line(blank(), ...heads),
    ...block(1, [tag(1), " query and keys"], query.map((each, i) => [
      number("query", 1, i, 0, each),
      ...columns.map((j) => number("keys", 1, i, j, keys[j][i])),
      nothing(),
    ])),
    ...block(2, [tag(2), " scores: query · key"], oneRow("scores", 2)),
    ...block(3, [tag(3), ` scores ÷ √${query.length} = ${rounded(root)}`], oneRow("scaled", 3)),
    ...block(4, [tag(4), " weights: softmax"], oneRow("weights", 4)),
    ...block(1, [tag(1), " values"], values[0].map((_, i) => [
      nothing(),
      ...columns.map((j) => number("values", 1, i, j, values[j][i])),
      i === values[0].length - 1 ? sum : nothing(),
    ])),
    ...block(5, [tag(5), " weight × value"], data.output.map((each, i) => [
      nothing(),
      ...columns.map((j) =>
        number("weighted_values", 5, i, j, data.weighted_values[j][i])),
      number("output", 6, i, 0, each),
    ])),
  );
  view.style.setProperty("--keys", names.length);

  // --- the controls: six buttons with one Tab stop, and back and next ---

  const stops = TITLES.map((title, i) =>
    button(element("span", {}, element("b", {}, String(i + 1)), ` ${title}`), () => {},
      { "data-go": i + 1 }));
  const back = button("‹ back", () => go(state.step - 1));
  const next = button("next ›", () => go(state.step + 1));
  view.append(
    element(
      "div",
      { class: "controls" },
      element("span", { class: "stops", role: "group", "aria-label": "steps" }, ...stops),
      element("span", { class: "turns" }, back, next),
    ),
    said,
    element("div", { class: "scroll" }, table),
  );
  el.append(view);

  function go(step) {
    if (!(step >= 1 && step <= TITLES.length) || step === state.step) return;
    const forward = step === state.step + 1;
    state.step = step;
    draw();
    if (forward && !still.matches) fly(step);
  }

  function point(column) {
    state.pointed = column;
    draw();
  }

  function draw() {
    const { step, pointed } = state;
    land();
    view.dataset.step = step;
    for (const cell of Object.values(cells)) {
      const { step: since, column, part } = cell.dataset;
      cell.classList.toggle("later", since > step);
      cell.classList.toggle("now", Number(since) === step);
      cell.classList.toggle("pointed",
        Number(column) === pointed && part !== "query" && part !== "output");
    }
    view.querySelectorAll("[data-of]").forEach((each) =>
      each.classList.toggle("now", Number(each.dataset.of) === step));
    stops.forEach((each, i) => {
      each.setAttribute("aria-pressed", String(i + 1 === step));
      each.tabIndex = i + 1 === step ? 0 : -1;
    });
    tokens.forEach((each, j) => each.setAttribute("aria-pressed", String(j === pointed)));
    back.setAttribute("aria-disabled", String(step === 1));
    next.setAttribute("aria-disabled", String(step === TITLES.length));
    said.replaceChildren(
      element("b", {}, `Step ${step} of ${TITLES.length}. `),
      pointed === null ? general(step) : ofOne(step, pointed),
    );
  }

  // --- in words ---

  const signed = (value) => (value < 0 ? `(${rounded(value)})` : rounded(value));
  function listed(parts, between) {
    const few = parts.length > 4 ? [...parts.slice(0, 3), "…"] : parts;
    return few.join(between);
  }

  function general(step) {
    const largest = data.weights.indexOf(Math.max(...data.weights));
    return [
      `Given: a query of ${query.length} numbers, and ${names.length} keys, each with a ` +
        `value of ${values[0].length} numbers below it.`,
      "The query meets each key: number times number, added up. The result is the " +
        "key's score.",
      `Each score is divided by √d_k, here √${query.length} = ${rounded(root)}.`,
      `Softmax turns the scores into weights that sum to 1. ${names[largest]} has the ` +
        `largest: ${rounded(data.weights[largest])}.`,
      "Each value is multiplied by the weight of its key.",
      "The weighted values are added up: the output, as many numbers as a value has.",
    ][step - 1];
  }

  // What the step did to one key or value, with its numbers.
  function ofOne(step, j) {
    const [score, scaled, weight] = [data.scores, data.scaled, data.weights].map((all) => all[j]);
    const vector = (numbers) => `(${listed(numbers.map((each) => rounded(each)), ", ")})`;
    const text = [
      () => `key ${vector(keys[j])}, value ${vector(values[j])}.`,
      () => `${listed(query.map((each, i) => `${signed(each)} × ${signed(keys[j][i])}`), " + ")}` +
        ` = ${rounded(score)}.`,
      () => `${rounded(score)} ÷ ${rounded(root)} = ${rounded(scaled)}.`,
      () => `exp(${rounded(scaled)}) ÷ (` +
        `${listed(data.scaled.map((each) => `exp(${rounded(each)})`), " + ")})` +
        ` = ${rounded(weight)}.`,
      () => `${rounded(weight)} × ${vector(values[j])} = ${vector(data.weighted_values[j])}.`,
      () => `it adds ${vector(data.weighted_values[j])} to the output, ${vector(data.output)}.`,
    ][step - 1]();
    return `${isolated(names[j])}: ${text}`;
  }

  // --- in motion: copies of numbers go to where the next ones appear ---

  function land() {
    flying.forEach((motion) => motion.cancel());
    flying = [];
    view.querySelectorAll(".flying").forEach((copy) => copy.remove());
  }

  function fly(step) {
    const rowsOf = (part) => data.output.map((_, i) => (j) => `${part} ${i} ${j}`);
    for (const j of columns) {
      const begin = j * PAUSE;
      if (step === 2) {
        query.forEach((_, i) => {
          const product = short(query[i] * keys[j][i]);
          move(`query ${i} 0`, `keys ${i} ${j}`, begin, "of-query");
          move(`keys ${i} ${j}`, `scores 0 ${j}`, begin + FLIGHT, "", product);
        });
        appear(`scores 0 ${j}`, begin + 2 * FLIGHT);
      } else if (step === 3 || step === 4) {
        const [from, to] = step === 3 ? ["scores", "scaled"] : ["scaled", "weights"];
        move(`${from} 0 ${j}`, `${to} 0 ${j}`, begin);
        appear(`${to} 0 ${j}`, begin + FLIGHT);
      } else if (step === 5) {
        rowsOf("values").forEach((at, i) => {
          move(`weights 0 ${j}`, at(j), begin);
          const weighted = `weighted_values ${i} ${j}`;
          move(at(j), weighted, begin + FLIGHT, "", cells[weighted].textContent);
          appear(weighted, begin + 2 * FLIGHT);
        });
      } else {
        rowsOf("weighted_values").forEach((at, i) => move(at(j), `output ${i} 0`, begin));
      }
    }
    if (step === 6) {
      const end = (names.length - 1) * PAUSE + FLIGHT;
      data.output.forEach((_, i) => appear(`output ${i} 0`, end));
    }
  }

  function move(from, to, delay, kind = "", text = cells[from].textContent) {
    const [start, end] = [cells[from], cells[to]].map((cell) => cell.getBoundingClientRect());
    const origin = table.getBoundingClientRect();
    const copy = element("span", { class: `flying ${kind}`, "aria-hidden": "true" }, text);
    const middle = (box) => box.top + box.height / 2;
    copy.style.left = `${start.left - origin.left}px`;
    copy.style.top = `calc(${middle(start) - origin.top}px - 0.75rem)`;
    copy.style.width = `${start.width}px`;
    table.append(copy);
    const way = `translate(${end.left - start.left}px, ${middle(end) - middle(start)}px)`;
    const motion = copy.animate(
      [
        { opacity: 0, transform: "none" },
        { opacity: 1, transform: "none", offset: 0.1 },
        { opacity: 1, transform: way, offset: 0.9 },
        { opacity: 0, transform: way },
      ],
      { duration: FLIGHT, delay, easing: "ease-in-out", fill: "backwards" },
    );
    motion.onfinish = () => copy.remove();
    flying.push(motion);
  }

  function appear(name, delay) {
    const frames = [{ opacity: 0 }, { opacity: 1 }];
    const timing = { duration: 200, delay: delay - 50, fill: "backwards" };
    flying.push(cells[name].firstChild.animate(frames, timing));
    if (cells[name].dataset.part === "weights") {
      const grow = [{ "--weight": 0 }, { "--weight": cells[name].dataset.value }];
      flying.push(cells[name].animate(grow, { ...timing, duration: 400 }));
    }
  }

  // --- keys and pointing ---

  arrowKeys(stops, { ArrowRight: 1, ArrowLeft: -1 }, (index) => go(index + 1));
  stops.forEach((each) => each.addEventListener("click", () => each.focus()));
  arrowKeys(tokens, { ArrowRight: 1, ArrowLeft: -1 }, point);
  tokens.forEach((each) => each.addEventListener("click", () => each.focus()));
  table.addEventListener("keydown", (event) => {
    if (event.key === "Escape") point(null);
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      go(state.step + (event.key === "ArrowDown" ? 1 : -1));
    }
  });
  table.addEventListener("pointerover", (event) => {
    const over = event.target.closest(".number, .head");
    if (!over) return;
    const column = over.classList.contains("head")
      ? tokens.findIndex((each) => over.contains(each))
      : Number(over.dataset.column);
    const own = ["query", "output"].includes(over.dataset.part) || column < 0;
    if (!own && column !== state.pointed && !flying.some((motion) => motion.playState === "running")) {
      point(column);
    }
  });
  table.addEventListener("pointerleave", () => table.contains(document.activeElement) || point(null));
  draw();
  return followTheme(view);
}

export default { render };
