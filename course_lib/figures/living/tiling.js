// Attention by tiles: only the present tile's scores are there, and beside them what is
// known of each query so far. data: queries, keys, scores, runs (name, steps), a step with
// queries and keys (first, end), and for each query begun, factor, maximum, total, output.

function render({ model, el }) {
  const data = model.get("data");
  const state = { run: 0, step: 0, query: 0 };
  const view = element("div", { class: "living-view living-tiling" });
  const said = element("p", { class: "said", "aria-live": "polite" });
  const d = data.runs[0].steps[0].output[0].length;
  const steps = () => data.runs[state.run].steps;
  const within = (i, [first, end]) => first <= i && i < end;
  const holds = (step, i, j) => within(i, step.queries) && within(j, step.keys);

  const heading = (name, more = {}) => element("th", { scope: "col", ...more }, element("bdi", {}, name));
  const table = (label, head, body) => element(
    "table", { "aria-label": label },
    element("thead", {}, element("tr", {}, element("td", {}), ...head)), element("tbody", {}, ...body),
  );
  const rows = data.queries.map((name, i) => {
    const cells = data.keys.map((_, j) => element("td", { class: "lv-cell", "data-i": i, "data-j": j }));
    const known = Array.from({ length: 2 + d }, () => element("td", { class: "known" }));
    const label = button(element("bdi", {}, name), () => choose(i), { class: "query", "aria-pressed": "false" });
    const row = element("tr", { class: "scores" }, element("th", { scope: "row" }, label), ...cells);
    const beside = element("tr", { class: "beside" }, element("th", { scope: "row" }, element("bdi", {}, name)), ...known);
    return { cells, known, label, row, beside };
  });
  arrowKeys(rows.map(({ label }) => label), { ArrowDown: 1, ArrowUp: -1 }, (i) => choose(i));

  const slider = element("input", {
    type: "range", min: 0, step: 1, oninput: () => show(Number(slider.value)),
  });
  const count = element("output", {});
  const back = button("back", () => show(state.step - 1));
  const next = button("next", () => show(state.step + 1));
  const controls = element(
    "div", { class: "controls", role: "group", "aria-label": "what is shown" },
    choice("tiles", data.runs.map(({ name }) => name), 0, (run) => {
      state.run = run;
      show(0);
    }),
    element("label", {}, "tile ", slider), count,
    element("span", {}, back, " ", next),
  );

  function choose(i) {
    state.query = i;
    tell();
  }

  function show(step) {
    const last = steps().length - 1;
    state.step = Math.min(Math.max(step, 0), last);
    const now = steps()[state.step];
    if (!within(state.query, now.queries)) state.query = now.queries[0];
    slider.max = last;
    slider.value = state.step;
    count.textContent = `${state.step + 1} of ${last + 1}`;
    slider.setAttribute("aria-valuetext", count.textContent);
    back.setAttribute("aria-disabled", String(state.step === 0));
    next.setAttribute("aria-disabled", String(state.step === last));
    rows.forEach(({ cells, known }, i) => {
      cells.forEach((cell, j) => {
        const present = holds(now, i, j);
        const past = !present && steps().slice(0, state.step).some((each) => holds(each, i, j));
        cell.className = `lv-cell ${present ? "present" : past ? "past" : "future"}`;
        cell.textContent = present ? rounded(data.scores[i][j]) : "";
        const label = present ? null : past ? "was there" : "comes later";
        if (label) cell.replaceChildren(element("span", { class: "hidden" }, label));
      });
      const values = [now.maximum[i], now.total[i], ...now.output[i]];
      known.forEach((cell, k) => {
        cell.textContent = now.begun[i] ? rounded(values[k]) : "";
        cell.dataset.value = now.begun[i] ? values[k] : "";
        cell.classList.toggle("present", within(i, now.queries));
      });
    });
    tell();
  }

  const span = (names, [first, end]) =>
    (end - first === 1 ? names[first] : `${names[first]} to ${names[end - 1]}`);

  function tell() {
    const now = steps()[state.step];
    const i = state.query;
    rows.forEach(({ label }, row) => label.setAttribute("aria-pressed", String(row === i)));
    const size = (now.queries[1] - now.queries[0]) * (now.keys[1] - now.keys[0]);
    const all = data.queries.length * data.keys.length;
    const tile = `${size} of ${all} scores are there: ${span(data.queries, now.queries)}, ${span(data.keys, now.keys)}.`;
    said.textContent = `${tile} ${ofQuery(now, i)}`;
  }

  function ofQuery(now, i) {
    const name = data.queries[i];
    if (!now.begun[i]) return `${name}: nothing is known yet.`;
    const before = state.step ? steps()[state.step - 1] : null;
    const quotient = now.output[i].map((each) => rounded(each / now.total[i])).join(", ");
    const soFar = `Output ÷ sum: ${quotient}.`;
    if (!within(i, now.queries)) return `${name} is done. ${soFar}`;
    if (!before || !before.begun[i]) return `${name}: the first maximum is ${rounded(now.maximum[i])}. ${soFar}`;
    if (now.factor[i] === 1) return `${name}: the maximum stays ${rounded(now.maximum[i])}, nothing is rescaled. ${soFar}`;
    const [old, grown] = [before.maximum[i], now.maximum[i]].map((each) => rounded(each));
    return `${name}: the maximum grows from ${old} to ${grown}. The sum and the output so far ` +
      `shrink by e to the power of ${old} − ${grown} = ${rounded(now.factor[i], 3)}. ${soFar}`;
  }

  view.append(
    controls, said,
    element(
      "div", { class: "tables" },
      table("scores", data.keys.map((key) => heading(key, { class: "key" })), rows.map(({ row }) => row)),
      table(
        "what is known so far",
        [heading("maximum"), heading("sum"), heading("output", { colspan: d })],
        rows.map(({ beside }) => beside),
      ),
    ),
  );
  el.append(view);
  show(0);
  return followTheme(view);
}

export default { render };
