// Attention weights whose cells the reader blocks and allows: what is left of a row is
// divided by its sum. data: queries, keys, weights (of nothing blocked; query, key), may
// (query, key; whether a query may attend at first).

function render({ model, el }) {
  const { queries, keys, weights, may: first } = model.get("data");
  const [n, m] = [queries.length, keys.length];
  const may = first.map((row) => [...row]);
  const view = element("div", { class: "living-view living-switchable-mask", style: `--keys: ${m}` });
  const said = element("p", { class: "said", "aria-live": "polite" });
  const future = element("p", { class: "sm-future" });
  const total = (i) => weights[i].reduce((sum, weight, j) => sum + (may[i][j] ? weight : 0), 0);
  // A row with nothing allowed has no weights.
  const row = (i) => weights[i].map((weight, j) => (may[i][j] ? weight / total(i) : total(i) ? 0 : NaN));

  const cells = queries.flatMap((query, i) => keys.map((key, j) =>
    button("", () => press(i, j), { class: `sm-cell${j > i ? " sm-later" : ""}`, "data-query": i, "data-key": j })));
  const steps = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: m, ArrowUp: -m };
  arrowKeys(cells, steps, (index) => tell(Math.floor(index / m), index % m));
  cells.forEach((cell, index) => cell.addEventListener("pointerenter", () => tell(Math.floor(index / m), index % m)));

  function press(i, j) {
    may[i][j] = !may[i][j];
    draw();
    tell(i, j);
  }

  function all(rule) {
    may.forEach((each, i) => each.forEach((_, j) => (each[j] = rule(i, j))));
    draw();
    said.textContent = "";
  }

  function draw() {
    cells.forEach((cell, index) => {
      const [i, j] = [Math.floor(index / m), index % m];
      const weight = row(i)[j];
      const [red, green, blue] = cividis(weight || 0);
      const open = may[i][j];
      cell.textContent = !open ? (total(i) ? "0" : "?") : rounded(weight);
      cell.dataset.value = weight;
      cell.classList.toggle("sm-blocked", !open);
      cell.setAttribute("aria-pressed", String(open));
      cell.setAttribute("aria-label", `${queries[i]} to ${keys[j]}: ${open ? rounded(weight) : "blocked"}`);
      cell.style.background = open ? `rgb(${red} ${green} ${blue})` : "";
      cell.style.color = open ? (0.299 * red + 0.587 * green + 0.114 * blue > 128 ? "#111" : "#fff") : "";
    });
    const peeking = queries.filter((_, i) => may[i].some((open, j) => open && j > i)).length;
    const blocked = queries.filter((_, i) => !total(i)).length;
    future.textContent = `Words that see a later word: ${peeking}.${blocked ? ` Words with nothing left to attend to: ${blocked}.` : ""}`;
    future.dataset.value = peeking;
  }

  function tell(i, j) {
    const [query, key] = [queries[i], keys[j]].map((word) => `\u201c${isolated(word)}\u201d`);
    if (!total(i)) {
      said.textContent = `Everything in the row of ${query} is blocked: there is nothing to divide by, so it has no weights.`;
      return;
    }
    const left = total(i);
    const rest = may[i].every(Boolean) ? "nothing in this row is blocked"
      : `${rounded(left)} of the weight was left, and has been divided by ${rounded(left)}`;
    said.textContent = `${query} ${may[i][j] ? `gives ${rounded(row(i)[j])} to` : "may not attend to"} ${key}; ${rest}.`;
  }

  const corner = element("span", { class: "sm-corner", "aria-hidden": "true" });
  const heads = keys.map((key) => element("span", { class: "sm-key", "aria-hidden": "true" }, key));
  const rows = queries.flatMap((query, i) => [
    element("span", { class: "sm-query", "aria-hidden": "true" }, query), ...cells.slice(i * m, (i + 1) * m)]);
  view.append(
    element("div", { class: "controls", role: "group", "aria-label": "mask" },
      button("Allow all", () => all(() => true)), button("Start over", () => all((i, j) => first[i][j]))),
    element("div", { class: "sm-grid", role: "group", "aria-label": "a row for each query, a column for each key" }, corner, ...heads, ...rows),
    future,
    said,
  );
  el.append(view);
  draw();
  return followTheme(view);
}

export default { render };
