// One head or two, and what the reader lets each attend to: how much each key counts in
// the answer, and how much it should. data: names and values (of the keys), wanted (what
// each should count), unit, shown (one head or two at first), heads (for each of two, the
// positions it attends to at first), factor (whether one head's values have a slider).

function render({ model, el }) {
  const { names, values, wanted, unit, factor, heads } = model.get("data");
  let shown = model.get("data").shown;
  const state = heads.map((list) => new Set(list));
  let c = 1;
  const view = element("div", { class: "living-view living-chosen-heads", style: `--keys: ${names.length}` });
  const said = element("p", { class: "said", "aria-live": "polite" });
  const answer = element("p", { class: "ch-answer" });
  const plain = (number) => String(Number(number.toFixed(2))).replace("-", "\u2212");
  const weight = (h, j) => (state[h].has(j) ? 1 / state[h].size : 0);
  const signs = () => (shown === 2 ? [1, -1] : [c]);
  const counts = () => names.map((_, j) => signs().reduce((sum, sign, h) => sum + sign * weight(h, j), 0));

  // --- what a head attends to -----------------------------------------------------

  const rows = state.map((attended, h) => {
    const keys = names.map((name, j) => {
      const number = element("span", { class: "ch-weight" });
      const key = button(element("span", { class: "ch-name" }, name), () => press(h, j), { class: "ch-key", "data-head": h, "data-key": j });
      key.append(element("span", {}, `${plain(values[j])}${unit}`), number);
      return { key, number };
    });
    arrowKeys(keys.map(({ key }) => key), { ArrowRight: 1, ArrowLeft: -1 }, () => {});
    const title = element("span", { class: "ch-title" });
    const row = element("div", { class: "ch-row", role: "group" }, title, ...keys.map(({ key }) => key));
    return { row, title, keys };
  });

  function press(h, j) {
    const attended = state[h];
    if (!attended.has(j)) attended.add(j);
    else if (attended.size > 1) attended.delete(j);
    else return tell("A head has to attend to something: its weights sum to 1. ");
    draw();
    tell();
  }

  // --- how much each key counts ---------------------------------------------------

  const bars = names.map((name) => {
    const bar = shape("rect", { class: "ch-bar", x: 8, width: 24 });
    const goal = shape("rect", { class: "ch-goal", x: 4, width: 32 });
    const number = element("span", { class: "ch-count" });
    const column = element("div", { class: "ch-column" },
      shape("svg", { viewBox: "0 -52 40 104", "aria-hidden": "true" }, shape("line", { x1: 0, x2: 40, y1: 0, y2: 0 }), bar, goal), number);
    return { bar, goal, number, column };
  });
  const stand = (rect, value) => {
    rect.setAttribute("y", value > 0 ? -50 * value : 0);
    rect.setAttribute("height", 50 * Math.abs(value));
  };
  wanted.forEach((value, j) => stand(bars[j].goal, value));

  // --- one head or two, and the factor --------------------------------------------

  const choices = [1, 2].map((n) => button(n === 1 ? "one head" : "two heads, one minus the other", () => {
    shown = n;
    draw();
    tell();
  }, { "data-heads": n }));
  const value = element("output", {});
  const slider = element("input", {
    type: "range", min: -1, max: 1, step: 0.1, value: 1,
    oninput: () => {
      c = Number(slider.value);
      draw();
      tell();
    },
  });

  function draw() {
    const all = counts();
    choices.forEach((each, i) => each.setAttribute("aria-pressed", String(shown === i + 1)));
    value.textContent = plain(c);
    slider.setAttribute("aria-valuetext", `c is ${plain(c)}`);
    rows.forEach(({ row, title, keys }, h) => {
      row.hidden = h >= shown;
      title.textContent = shown === 1 ? "the head attends to" : h ? "\u2212 head 1, which attends to" : "+ head 0, which attends to";
      row.setAttribute("aria-label", title.textContent);
      keys.forEach(({ key, number }, j) => {
        key.setAttribute("aria-pressed", String(state[h].has(j)));
        number.textContent = rounded(weight(h, j));
      });
    });
    bars.forEach(({ bar, number }, j) => {
      stand(bar, all[j]);
      bar.classList.toggle("ch-minus", all[j] < 0);
      number.textContent = `${all[j] > 0 ? "+" : ""}${plain(all[j])}`;
      number.dataset.value = all[j];
    });
    const result = all.reduce((sum, count, j) => sum + count * values[j], 0);
    const goal = wanted.reduce((sum, count, j) => sum + count * values[j], 0);
    answer.dataset.value = result;
    answer.replaceChildren("answer ", element("strong", {}, `${plain(result)}${unit}`), `, wanted ${plain(goal)}${unit}`);
  }

  function tell(first = "") {
    const all = counts();
    const right = all.every((count, j) => Math.abs(count - wanted[j]) < 1e-9);
    const result = Number(answer.dataset.value);
    const goal = wanted.reduce((sum, count, j) => sum + count * values[j], 0);
    const rest = right ? "Each bar fills its dashed frame: this answer is right in any week."
      : Math.abs(result - goal) < 0.005 ? "The answer is right by chance: with other numbers it would be wrong, because the bars do not fill the dashed frames."
        : all.every((count) => count >= -1e-9) ? "No bar points down."
          : all.every((count) => count <= 1e-9) ? "No bar points up." : "The bars do not fill the dashed frames yet.";
    said.textContent = `${first}The answer is ${plain(result)}${unit}. ${rest}`;
  }

  const goals = names.map((name, j) => [name, wanted[j]]).filter(([, count]) => count)
    .map(([name, count]) => `${name} ${count > 0 ? "+" : ""}${plain(count)}`).join(", ");
  view.append(
    element("div", { class: "controls", role: "group", "aria-label": factor ? "factor" : "heads" },
      ...(factor ? [element("label", {}, "every value times c ", slider, " ", value)] : choices)),
    ...rows.map(({ row }) => row),
    element("div", { class: "ch-title" }, `how much each counts in the answer (dashed: wanted, ${goals})`),
    element("div", { class: "ch-chart" }, ...bars.map(({ column }) => column)),
    answer,
    said,
  );
  el.append(view);
  draw();
  tell();
  return followTheme(view);
}

export default { render };
