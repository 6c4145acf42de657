// Curves of which the reader chooses one. data: x, xlabel, choices (name, options), panels
// (name, logarithmic, values by combination: logarithms where the axis is logarithmic),
// texts by combination, start (an option for each choice). The last choice changes fastest.

const WIDTH = 330; // of a panel in its own units; about a pixel each
const HEIGHT = 210;
const PLOT = { left: 62, right: 12, top: 10, bottom: 36 };
const MOST_BUTTONS = 3; // more options are a slider

function render({ model, el }) {
  const data = model.get("data");
  const chosen = [...data.start];
  const view = element("div", { class: "living-view living-choices" });
  const said = element("p", { class: "said", "aria-live": "polite" });
  const updates = [];
  const index = () => data.choices.reduce((sum, { options }, i) => sum * options.length + chosen[i], 0);

  function control({ name, options }, i) {
    const choose = (option) => {
      chosen[i] = option;
      draw();
    };
    if (options.length > MOST_BUTTONS) {
      const output = element("output", {});
      const input = element("input", {
        type: "range", min: 0, max: options.length - 1, step: 1, "data-choice": i,
        oninput: () => choose(Number(input.value)),
      });
      updates.push(() => {
        input.value = chosen[i];
        output.textContent = options[chosen[i]];
        input.setAttribute("aria-valuetext", options[chosen[i]]);
      });
      return element("label", {}, element("span", {}, name), input, output);
    }
    const buttons = options.map((option, j) => button(option, () => choose(j)));
    updates.push(() => buttons.forEach((each, j) => each.setAttribute("aria-pressed", j === chosen[i])));
    return element("div", { class: "group", role: "group", "aria-label": name }, element("span", {}, name), ...buttons);
  }

  const words = (number) => Number(number.toPrecision(3)).toLocaleString("en", { maximumSignificantDigits: 3 });
  const powers = (power) => (power >= 0 ? (10 ** power).toLocaleString("en") : `10${[...String(power)].map((c) => "⁰¹²³⁴⁵⁶⁷⁸⁹"["0123456789".indexOf(c)] ?? "⁻").join("")}`);

  // A step of 1, 2 or 5 times a power of ten, at most five of them in a range.
  function even(range) {
    const power = 10 ** Math.floor(Math.log10(range / 5 || 1));
    return [1, 2, 5, 10].map((times) => times * power).find((each) => range / each <= 5 + 1e-9) || 1;
  }

  function panel({ name, logarithmic, values }) {
    const all = values.flat();
    const [low, high] = [Math.min(...all, logarithmic ? Infinity : 0), Math.max(...all)];
    const [first, last] = [data.x[0], data.x.at(-1)];
    const across = (x) => PLOT.left + ((x - first) / (last - first || 1)) * (WIDTH - PLOT.left - PLOT.right);
    const down = (y) => HEIGHT - PLOT.bottom - ((y - low) / (high - low || 1)) * (HEIGHT - PLOT.top - PLOT.bottom);
    const path = (row) => `M${row.map((y, i) => `${across(data.x[i])} ${down(y)}`).join("L")}`;
    const svg = shape("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, "aria-hidden": "true" });
    const step = logarithmic ? Math.max(1, Math.ceil((high - low) / 5)) : even(high - low);
    for (let y = Math.ceil(low / step) * step; y <= high + 1e-9; y += step) {
      svg.append(
        shape("line", { class: "grid", x1: PLOT.left, x2: WIDTH - PLOT.right, y1: down(y), y2: down(y) }),
        shape("text", { x: PLOT.left - 6, y: down(y) + 4, "text-anchor": "end" }, logarithmic ? powers(y) : words(y)),
      );
    }
    const between = even(last - first);
    for (let x = Math.ceil(first / between) * between; x <= last + 1e-9; x += between) {
      svg.append(shape("text", { x: across(x), y: HEIGHT - PLOT.bottom + 15, "text-anchor": "middle" }, words(x)));
    }
    svg.append(shape("text", { x: (PLOT.left + WIDTH) / 2, y: HEIGHT - 4, "text-anchor": "middle" }, data.xlabel));
    values.forEach((row) => svg.append(shape("path", { class: "other", d: path(row) })));
    const line = shape("path", { class: "chosen" });
    svg.append(line);
    updates.push(() => {
      line.setAttribute("d", path(values[index()]));
      line.dataset.value = values[index()].at(-1);
    });
    return element("section", { class: "panel", "aria-label": name }, element("p", { class: "name" }, name), svg);
  }

  function draw() {
    updates.forEach((update) => update());
    said.textContent = data.texts[index()];
  }

  view.append(
    element("div", { class: "controls" }, ...data.choices.map(control)),
    element("div", { class: "panels" }, ...data.panels.map(panel)),
    said,
  );
  el.append(view);
  draw();
  return followTheme(view);
}

export default { render };
