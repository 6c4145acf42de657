// What kinds of layers cost at a length of the sequence and a d_model, both on sliders: a
// chart for each cost, and the attention table as a whole and in tiles.
// data: lengths, names (words for some of them, by length), d_models, kinds, costs (name,
// bytes or not, values by kind, d_model and length), blocks (sizes of tiles),
// number_bytes (of a weight), shown (index of length, d_model and block at first).

const WIDTH = 340; // of a chart in its own units; about a pixel each
const HEIGHT = 170;
const ROOM = 24; // for half of the last number below the chart
const PLOT = { left: 66, right: 10, top: 8, bottom: 34 };
const DASHES = [null, "7 4", null, "2 3"];
const STROKES = [7, 3.5, 2, 1.5]; // lines that coincide are all seen
const MOST_LINES = 64; // of a grid; more would be a grey square

function render({ model, el }) {
  const data = model.get("data");
  const state = { n: data.shown[0], d: data.shown[1], block: data.shown[2] };
  const view = element("div", { class: "living-view living-timeline" });
  const said = element("p", { class: "said", "aria-live": "polite" });

  const length = () => data.lengths[state.n];
  const value = (cost, kind) => cost.values[kind][state.d][state.n];

  // --- numbers as words -------------------------------------------------------------

  function significant(number) {
    const digits = number >= 100 ? 0 : number >= 10 ? 1 : 2;
    return String(Number(number.toFixed(digits)));
  }

  function words(number) {
    if (number < 999999.5) {
      return number.toLocaleString("en", { maximumFractionDigits: number < 10 ? 2 : number < 100 ? 1 : 0 });
    }
    const names = ["million", "billion", "trillion", "quadrillion"];
    // 999,999,999 is 1 billion: what is rounded decides.
    const power = Math.floor(Math.log10(Number(number.toPrecision(3))) / 3 + 1e-9);
    const step = Math.min(power, names.length + 1);
    return `${significant(number / 1000 ** step)} ${names[step - 2]}`;
  }

  function bytes(number) {
    const names = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
    let step = 0;
    while (number >= 1023.995 && step < names.length - 1) [number, step] = [number / 1024, step + 1];
    return `${significant(number)} ${names[step]}`;
  }

  const amount = (cost, number) => (cost.bytes ? bytes(number) : words(number));
  const tokens = () => `${words(length())} tokens`;

  // --- sliders ----------------------------------------------------------------------

  function slider(label, name, values, told) {
    const output = element("output", {});
    const input = element("input", {
      type: "range", min: 0, max: values.length - 1, step: 1, "data-slider": name,
      oninput: () => {
        state[name] = Number(input.value);
        draw();
      },
    });
    const update = () => {
      input.value = state[name];
      input.dataset.value = values[state[name]];
      output.textContent = told();
      input.setAttribute("aria-valuetext", told());
    };
    updates.push(update);
    return element("label", { class: "slider" }, element("span", {}, label), input, output);
  }

  const updates = [];

  // --- charts -----------------------------------------------------------------------

  const across = (n) => {
    const [low, high] = [data.lengths[0], data.lengths.at(-1)].map(Math.log);
    const share = high > low ? (Math.log(n) - low) / (high - low) : 0.5;
    return PLOT.left + share * (WIDTH - PLOT.left - PLOT.right);
  };

  // The values of a vertical axis that have a line: a few powers of one number.
  function ticks(low, high, base) {
    const [first, last] = [low, high].map((end) => Math.log(end) / Math.log(base));
    const step = Math.max(1, Math.ceil((last - first) / 5));
    const powers = [];
    for (let power = Math.ceil(first - 1e-9); power <= last + 1e-9; power += step) powers.push(base ** power);
    return powers;
  }

  function symbol(kind, x, y) {
    const style = { class: `symbol kind-${kind}` };
    if (kind === 0) return shape("circle", { ...style, cx: x, cy: y, r: 7.5 });
    if (kind === 1) return shape("rect", { ...style, x: x - 5, y: y - 5, width: 10, height: 10 });
    if (kind === 2) return shape("path", { ...style, d: `M${x} ${y - 4.5}l4.5 8h-9z` });
    return shape("path", { ...style, d: `M${x} ${y - 6}l6 6l-6 6l-6 -6z` });
  }

  function chart(cost, index) {
    const all = cost.values.flat(2);
    const [low, high] = [Math.min(...all), Math.max(...all)];
    const down = (number) => {
      const share = high > low ? Math.log(number / low) / Math.log(high / low) : 0.5;
      return HEIGHT - PLOT.bottom - share * (HEIGHT - PLOT.top - PLOT.bottom);
    };
    const svg = shape("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, "aria-hidden": "true" });
    for (const tick of ticks(low, high, cost.bytes ? 32 : 10)) {
      const y = down(tick);
      svg.append(
        shape("line", { class: "grid", x1: PLOT.left, x2: WIDTH - PLOT.right, y1: y, y2: y }),
        shape("text", { x: PLOT.left - 6, y: y + 3.5, "text-anchor": "end" }, amount(cost, tick)),
      );
    }
    const every = Math.ceil(data.lengths.length / 5);
    data.lengths.forEach((n, i) => {
      if (i % every) return;
      svg.append(
        shape("line", { class: "grid", x1: across(n), x2: across(n), y1: PLOT.top, y2: HEIGHT - PLOT.bottom }),
        shape("text", {
          x: Math.min(across(n), WIDTH - ROOM), y: HEIGHT - PLOT.bottom + 14, "text-anchor": "middle",
        }, n.toLocaleString("en")),
      );
    });
    svg.append(shape("text", { x: (PLOT.left + WIDTH) / 2, y: HEIGHT - 3, "text-anchor": "middle" }, "length n"));
    const rule = shape("line", { class: "rule", y1: PLOT.top, y2: HEIGHT - PLOT.bottom });
    const lines = data.kinds.map((_, kind) =>
      shape("path", {
        class: `curve kind-${kind}`, "stroke-width": STROKES[kind], "stroke-dasharray": DASHES[kind],
      }));
    const marks = shape("g", {});
    svg.append(rule, ...lines, marks);
    const place = (event) => {
      const box = svg.getBoundingClientRect();
      const x = ((event.clientX - box.left) / box.width) * WIDTH;
      const far = data.lengths.map((n) => Math.abs(across(n) - x));
      state.n = far.indexOf(Math.min(...far));
      draw();
    };
    svg.addEventListener("pointerdown", place);
    svg.addEventListener("pointermove", (event) => event.buttons && place(event));

    const rows = data.kinds.map((name, kind) => {
      const sample = shape("svg", { class: "sample", viewBox: "0 0 40 18", "aria-hidden": "true" });
      sample.append(
        shape("path", {
          d: "M1 9H39", class: `curve kind-${kind}`, "stroke-width": STROKES[kind], "stroke-dasharray": DASHES[kind],
        }),
        symbol(kind, 20, 9),
      );
      const number = element("td", { class: "number", "data-cost": index, "data-kind": kind });
      const times = element("td", { class: "times" });
      return {
        number, times,
        row: element("tr", {}, element("th", { scope: "row" }, sample, element("bdi", {}, name)), number, times),
      };
    });
    const crossing = element("ul", { class: "crossing" });

    updates.push(() => {
      lines.forEach((line, kind) => {
        const points = data.lengths.map((n, i) => `${across(n)} ${down(cost.values[kind][state.d][i])}`);
        line.setAttribute("d", `M${points.join("L")}`);
      });
      rule.setAttribute("x1", across(length()));
      rule.setAttribute("x2", across(length()));
      const crossed = crossings(cost);
      marks.replaceChildren(
        ...crossed.map(({ n, at }) => shape("path", { class: "cross", d: `M${across(n) - 4} ${down(at) - 4}l8 8m0 -8l-8 8` })),
        ...data.kinds.map((_, kind) => symbol(kind, across(length()), down(value(cost, kind)))),
      );
      const least = Math.min(...data.kinds.map((_, kind) => value(cost, kind)));
      rows.forEach(({ number, times }, kind) => {
        number.textContent = amount(cost, value(cost, kind));
        number.dataset.value = value(cost, kind);
        const factor = value(cost, kind) / least;
        times.textContent = factor > 1.005 ? `${words(factor)} ×` : "least";
      });
      crossing.replaceChildren(...crossed.map(({ above, below, rounded }) =>
        element("li", {}, `${data.kinds[above]} above ${data.kinds[below]} from n\u00a0≈\u00a0${words(rounded)}`)));
    });
    return element(
      "section",
      { class: "panel", "aria-label": cost.name },
      element("p", { class: "name" }, cost.name),
      svg,
      element("table", {}, element("tbody", {}, ...rows.map(({ row }) => row))),
      crossing,
    );
  }

  // Where a line comes to lie above another one. Between two lengths both are straight.
  function crossings(cost) {
    const crossed = [];
    data.kinds.forEach((_, above) => data.kinds.forEach((_, below) => {
      const [upper, lower] = [above, below].map((kind) => cost.values[kind][state.d].map(Math.log));
      const gaps = upper.map((each, i) => each - lower[i]);
      const i = gaps.findIndex((gap, k) =>
        k + 1 < gaps.length && gap <= 1e-9 && gaps[k + 1] > 1e-9 && gaps.slice(0, k + 1).some((each) => each < -1e-9));
      if (i < 0) return;
      const share = -gaps[i] / (gaps[i + 1] - gaps[i]);
      const between = (one, two) => Math.exp(one + share * (two - one));
      const n = between(Math.log(data.lengths[i]), Math.log(data.lengths[i + 1]));
      const rounded = share < 1e-6 ? data.lengths[i] : Number(n.toPrecision(3));
      crossed.push({ above, below, n, rounded, at: between(upper[i], upper[i + 1]) });
    }));
    return crossed;
  }

  // --- tiles ------------------------------------------------------------------------

  function square(label) {
    const svg = shape("svg", { viewBox: "-8 -8 176 176", "aria-hidden": "true" });
    const title = element("strong", {}, label);
    const text = element("p", {});
    return { svg, text, figure: element("div", { class: "square" }, svg, element("div", {}, title, text)) };
  }

  function tiles() {
    const whole = square("the whole table at once");
    const parts = square("a tile at a time");
    whole.svg.append(shape("rect", { class: "held", width: 160, height: 160 }));
    const less = element("p", { class: "less" });
    updates.push(() => {
      const [n, block] = [length(), Math.min(data.blocks[state.block], length())];
      const count = Math.ceil(n / block);
      const [all, one] = [n * n, block * block].map((numbers) => numbers * data.number_bytes);
      const side = (160 * block) / n;
      const grid = [];
      for (let i = 1; i < count && count <= MOST_LINES; i++) {
        grid.push(`M${i * side} 0V160M0 ${i * side}H160`);
      }
      const corner = Math.floor(count / 2) * side;
      const wide = Math.min(Math.max(side, 2), 160 - corner);
      parts.svg.replaceChildren(
        shape("rect", { class: "outline", width: 160, height: 160 }),
        shape("path", { class: "grid", d: grid.join("") || "M0 0" }),
        shape("rect", { class: "held tile", x: corner, y: corner, width: wide, height: wide }),
        // A tile of a few pixels is not overlooked.
        ...(side < 8 ? [shape("circle", { class: "ring", cx: corner + wide / 2, cy: corner + wide / 2, r: 12 })] : []),
      );
      whole.text.textContent = `${words(n)} × ${words(n)} weights: ${bytes(all)}`;
      whole.text.dataset.value = all;
      parts.text.textContent = `${words(block)} × ${words(block)} weights: ${bytes(one)}; ` +
        (count === 1 ? "one tile is the whole table" : `${words(count ** 2)} tiles, one after another`);
      parts.text.dataset.value = one;
      less.textContent = count === 1 ? "" :
        `${words(all / one)} times less memory at once. The same ${words(n * n)} weights are computed, but never held together.`;
    });
    return element(
      "section",
      { class: "tiles", "aria-label": "attention table of one head" },
      element("p", { class: "name" }, "attention table of one head"),
      data.blocks.length > 1 ? slider("block size", "block", data.blocks, () => words(data.blocks[state.block])) : "",
      element("div", { class: "squares" }, whole.figure, parts.figure),
      less,
    );
  }

  // --- together ---------------------------------------------------------------------

  function draw() {
    updates.forEach((update) => update());
    const told = data.costs.map((cost) => {
      const numbers = data.kinds.map((_, kind) => value(cost, kind));
      const least = data.kinds.filter((_, kind) => numbers[kind] <= 1.005 * Math.min(...numbers));
      return `in ${cost.name}: ${least.join(" and ")}`;
    });
    const name = data.names[length()] ? `, ${data.names[length()]}` : "";
    said.textContent = `${tokens()}${name}; d_model ${words(data.d_models[state.d])}. Cheapest ${told.join("; ")}.`;
  }

  const controls = element(
    "div",
    { class: "sliders", role: "group", "aria-label": "sizes" },
    slider("length n", "n", data.lengths, tokens),
    slider("d_model", "d", data.d_models, () => words(data.d_models[state.d])),
  );
  view.append(
    controls, said,
    element("div", { class: "panels" }, ...data.costs.map(chart)),
    ...(data.blocks.length ? [tiles()] : []),
  );
  el.append(view);
  draw();
  return followTheme(view);
}

export default { render };
