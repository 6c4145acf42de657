// Scores as bars above the weights that softmax makes of them, and below these the
// Jacobian's row of one score. data: scores, names, divisor (where the slider starts),
// divided_by (what that divisor is called; null for a temperature), called (what the
// weights are called) and jacobian (whether it is shown). The slider alone makes numbers
// anew: the divided scores, their softmax, and its Jacobian. The scale of the divided scores
// stays as it is, so that they are seen to move; a bar too long for it is drawn broken.

const NOTCHES = 8; // of the slider for a factor of 2
const REACH = 5; // how many factors of 2 it goes up and down
const ROOM = 2; // how many times as long as the scores a bar may be, if they start undivided

function render({ model, el }) {
  const { scores, names, divisor: start, divided_by: dividedBy, called, jacobian } = model.get("data");
  const one = called.replace(/s$/, "");
  const state = { divisor: start, pointed: scores.indexOf(Math.max(...scores)) };
  const all = scores.map((_, i) => i);
  const most = names.reduce((length, name) => Math.max(length, [...name].length), 0);
  const across = names.length * (most + 2); // letters, if all names lie side by side
  const room = across > 90 ? "upright" : across > 44 ? "upright-if-narrow" : "";
  const dense = names.length > 7 ? "dense" : "";
  const view = element("div", { class: `living-view living-softmax ${room} ${dense}` });
  view.style.setProperty("--columns", names.length);

  // --- what is drawn once, and filled by draw ---

  // Three digits, all of which are shown: what is read off can be calculated again.
  const divisorAt = (notches) =>
    (notches ? Number((start * 2 ** (notches / NOTCHES)).toPrecision(3)) : start);
  const exact = (divisor) => rounded(divisor, divisor < 0.0995 ? 4 : divisor < 0.9995 ? 3 : 2);
  const longest = scores.map((score) => score * (start > 1 ? 1 : ROOM));
  const [low, high] = [Math.min(0, ...longest), Math.max(0, ...longest)];
  const notch = () => Math.round(NOTCHES * Math.log2(state.divisor / start));
  const slider = element("input", {
    type: "range", min: -REACH * NOTCHES, max: REACH * NOTCHES, step: 1,
    oninput: () => divide(divisorAt(Number(slider.value))),
  });
  const shownDivisor = element("output", {});
  const starts = [...new Set([1, start])];
  const presets = starts.map((divisor) => button(
    `÷ ${dividedBy && divisor === start ? `${dividedBy} = ` : ""}${exact(divisor)}`,
    () => divide(divisor),
  ));
  const label = dividedBy === null ? "divided by the temperature" : "scores divided by";
  const controls = element(
    "div",
    { class: "controls" },
    element("label", {}, element("span", {}, label), slider),
    shownDivisor,
    element("span", { role: "group", "aria-label": "set the divisor" }, ...presets),
  );

  const [above, weightBars, below] = ["scores", "weights", "jacobian"].map((name) => ({
    title: element("p", { class: "title" }),
    bars: all.map((i) => bar(name, i)),
    name,
  }));
  const ghosts = all.map((i) => {
    const ghost = element("div", { class: "ghost" });
    above.bars[i].plot.prepend(ghost);
    return ghost;
  });
  const strip = ({ title, bars, name }) => [
    title,
    element("div", { class: `strip ${name}`, "aria-hidden": "true" },
      ...bars.map((each) => each.cell)),
  ];
  const columns = names.map((name) => button(element("span", {}, name), () => {}));
  const facts = ["largest", ...(jacobian ? ["size"] : [])].map((name) =>
    element("span", { class: "fact", "data-fact": name }));
  const said = element("p", { class: "said", "aria-live": "polite" });
  view.append(
    controls,
    element("div", { class: "facts" }, ...facts),
    element("div", { class: "plots" },
      ...strip(above), ...strip(weightBars),
      element("div", { class: "strip names", role: "group", "aria-label": "scores" }, ...columns),
      ...(jacobian ? strip(below) : [])),
    said,
  );
  el.append(view);

  function bar(name, i) {
    const block = element("div", { class: "bar" });
    const number = element("span", { class: "number", "data-strip": name, "data-i": i });
    const plot = element("div", { class: "plot" }, block, number);
    return { block, number, plot, cell: element("div", { class: "lv-cell" }, plot) };
  }

  // A bar from zero to the value, on a scale from low to high, with its number at its end.
  function set({ block, number }, value, low, high) {
    const span = high - low || 1;
    const drawn = Math.min(Math.max(value, low), high);
    const [bottom, top] = [Math.min(drawn, 0), Math.max(drawn, 0)];
    place(block, drawn, low, high);
    block.classList.toggle("broken", drawn !== value);
    block.classList.toggle("negative", value < 0);
    number.textContent = short(value);
    number.dataset.value = value;
    number.style.top = value < 0 ? `${(100 * (high - bottom)) / span}%` : "";
    number.style.bottom = value < 0 ? "" : `${(100 * (top - low)) / span}%`;
  }

  function place(block, value, low, high) {
    const span = high - low || 1;
    block.style.top = `${(100 * (high - Math.max(value, 0))) / span}%`;
    block.style.height = `${(100 * Math.abs(value)) / span}%`;
  }

  // --- what changes ---

  function divide(divisor) {
    state.divisor = divisor;
    const { weights } = draw();
    const top = weights.indexOf(Math.max(...weights));
    said.textContent = `Divided by ${exact(divisor)}: the largest ${one} is ` +
      `${rounded(weights[top])} (${isolated(names[top])}).`;
  }

  function point(index) {
    state.pointed = index;
    const { divided, weights, row } = draw();
    const others = all.filter((i) => i !== index).sort((a, b) => row[a] - row[b]);
    const told = others.slice(0, 3).map((i) => `${isolated(names[i])} by ${rounded(row[i])}`);
    const here = `${isolated(names[index])}: score ${rounded(scores[index])} ÷ ` +
      `${exact(state.divisor)} = ${rounded(divided[index])}, ${one} ${rounded(weights[index])}.`;
    said.textContent = !jacobian ? here : `${here} If its divided score ` +
      `rises, its weight moves by ${rounded(row[index])} times as much` +
      `${told.length ? `, ${told.join(", ")}` : ""}${others.length > 3 ? ", …" : "."}`;
  }

  function draw() {
    const { divisor, pointed } = state;
    const divided = scores.map((score) => score / divisor);
    const weights = softmaxOf(divided);
    const row = weights.map((weight, i) => weights[pointed] * ((i === pointed) - weight));
    for (const i of all) {
      set(above.bars[i], divided[i], low, high);
      place(ghosts[i], scores[i], low, high);
      set(weightBars.bars[i], weights[i], 0, 1);
      set(below.bars[i], row[i], -0.25, 0.25);
      columns[i].setAttribute("aria-pressed", String(i === pointed));
      for (const { bars } of [above, weightBars, below]) {
        bars[i].cell.classList.toggle("pointed", i === pointed);
      }
    }
    const zero = `${(100 * high) / (high - low || 1)}%`;
    view.style.setProperty("--zero", zero);
    const tooLong = divided.some((score) => score < low || score > high);
    const notes = [...(divisor === 1 ? [] : ["grey: before"]), ...(tooLong ? ["broken: longer than drawn"] : [])];
    above.title.textContent = `scores ÷ ${exact(divisor)}${notes.length ? ` (${notes.join("; ")})` : ""}`;
    weightBars.title.textContent = `${called}: softmax of these, sum 1`;
    below.title.replaceChildren("Jacobian, row of ", element("bdi", {}, names[pointed]),
      ": how the weights move when this score rises");
    const norm = Math.hypot(...weights.flatMap((p, i) =>
      weights.map((other, j) => p * ((i === j) - other))));
    tell(0, Math.max(...weights), `largest ${one}`);
    if (jacobian) tell(1, norm, "size of the Jacobian", norm < 0.01 ? 4 : 2);
    slider.value = notch();
    slider.setAttribute("aria-valuetext", exact(divisor));
    shownDivisor.textContent = exact(divisor);
    shownDivisor.dataset.value = divisor;
    presets.forEach((each, i) =>
      each.setAttribute("aria-pressed", String(starts[i] === divisor)));
    return { divided, weights, row };
  }

  function tell(index, value, name, digits = 2) {
    const number = element("b", { "data-value": value }, rounded(value, digits));
    facts[index].replaceChildren(`${name} `, number);
  }

  arrowKeys(columns, { ArrowRight: 1, ArrowLeft: -1 }, point);
  columns.forEach((column, index) => {
    column.addEventListener("click", () => column.focus());
    column.addEventListener("pointerenter", () => point(index));
    for (const { bars } of [above, weightBars, below]) {
      bars[index].cell.addEventListener("pointerenter", () => point(index));
    }
  });
  draw();
  said.replaceChildren(...withKeys("Move the slider, or point at a score", "; the arrow keys go through them"));
  return followTheme(view);
}

function softmaxOf(scores) {
  const top = Math.max(...scores); // so that no power is too large for a float
  const powers = scores.map((score) => Math.exp(score - top));
  const sum = powers.reduce((total, power) => total + power, 0);
  return powers.map((power) => power / sum);
}

export default { render };
