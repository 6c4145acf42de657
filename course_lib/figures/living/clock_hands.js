// Two positions as clocks with two hands each, one clock for each pair of columns, and
// their dot product over the distance. data: encoding (position, column; sine and cosine
// side by side), dots (position, position), pair (the two positions shown first).

function render({ model, el }) {
  const { encoding, dots, pair } = model.get("data");
  const last = encoding.length - 1;
  const nHands = encoding[0].length / 2;
  let [first, second] = pair;
  const view = element("div", { class: "living-view living-clock-hands" });
  const said = element("p", { class: "said", "aria-live": "polite" });

  const hand = (position, i) => encoding[position].slice(2 * i, 2 * i + 2);
  const share = (i) => {
    const [[a, b], [c, d]] = [hand(first, i), hand(second, i)];
    return a * c + b * d;
  };
  const signed = (number) => (number < 0 ? `\u2212${-number}` : String(number));
  const near = (low, high) => (number) => Math.min(Math.max(number, low), high);
  const inside = near(0, last);

  // The ring of the second hand is around the dot of the first if both point one way.
  const RADIUS = { first: nHands > 4 ? 6.5 : 5, second: nHands > 4 ? 10 : 8 };

  function drawnHand(which, [sine, cosine]) {
    const tip = (length) => ({ x: length * sine, y: -length * cosine });
    const [end, dot] = [tip(which === "first" ? 38 : 38 - RADIUS.second), tip(38)];
    return shape("g", { class: `hand lv-${which}`, "data-sine": sine, "data-cosine": cosine },
      shape("line", { x1: 0, y1: 0, x2: end.x, y2: end.y }),
      shape("circle", { cx: dot.x, cy: dot.y, r: RADIUS[which] }));
  }

  function sample(which) {
    return shape("svg", { class: "sample", viewBox: "-50 -12 62 24", "aria-hidden": "true" },
      shape("g", { class: `hand lv-${which}` },
        shape("line", { x1: -46, y1: 0, x2: which === "first" ? 0 : -8, y2: 0 }), shape("circle", { cx: 0, cy: 0, r: 8 })));
  }

  function slider(name, change, mark) {
    const range = element("input", {
      type: "range", min: 0, max: last, step: 1, "data-slider": name,
      oninput: (event) => change(Number(event.target.value)),
    });
    const value = element("output", {});
    const row = element("label", { class: "slide" }, mark || element("span", {}),
      element("span", {}, name), range, value);
    return { row, range, value };
  }

  const one = slider("first position", (n) => move(n, second), sample("first"));
  const two = slider("second position", (n) => move(first, n), sample("second"));
  const both = slider("both together", (n) => {
    const distance = second - first;
    const low = Math.min(first, second);
    move(first + n - low, first + n - low + distance);
  });

  function move(a, b) {
    [first, second] = [inside(a), inside(b)];
    draw();
  }

  function set({ range, value }, n, max, text) {
    range.max = max;
    range.value = n;
    range.setAttribute("aria-valuetext", text);
    value.textContent = text;
  }

  // --- the clocks ---------------------------------------------------------------

  const clocks = Array.from({ length: nHands }, (_, i) => {
    const face = shape("svg", { viewBox: "-50 -50 100 116", "aria-hidden": "true" });
    const number = element("span", { class: "share" });
    const clock = button("", () => clock.focus(), { class: "clock", "data-hand": i });
    clock.append(face, number);
    clock.addEventListener("pointerenter", () => tell(i));
    return { clock, face, number };
  });

  function tell(i) {
    said.textContent =
      `Hand ${i}, columns ${2 * i} and ${2 * i + 1}, adds ${rounded(share(i))} to the dot product ${rounded(dots[first][second])}.`;
  }

  function drawClock({ clock, face, number }, i) {
    const value = share(i);
    const [[a, b], [c, d]] = [hand(first, i), hand(second, i)];
    const clockwise = c * b - d * a > 0 ? 1 : 0;
    const tip = (x, y) => `${38 * x} ${-38 * y}`;
    face.replaceChildren(
      shape("circle", { class: "face", cx: 0, cy: 0, r: 48 }),
      shape("path", { class: "between", d: `M0 0 L${tip(a, b)} A38 38 0 0 ${clockwise} ${tip(c, d)} Z` }),
      drawnHand("second", [c, d]),
      drawnHand("first", [a, b]),
      shape("line", { class: "zero", x1: 0, x2: 0, y1: 53, y2: 65 }),
      shape("rect", { class: "part", x: 48 * Math.min(value, 0), y: 55, width: 48 * Math.abs(value), height: 8 }),
    );
    number.textContent = rounded(value);
    number.dataset.value = value;
    clock.setAttribute("aria-label", `hand ${i}: ${rounded(value)}`);
  }

  // --- the curve ----------------------------------------------------------------

  const all = dots.flat();
  const [bottom, top] = [Math.min(0, ...all), Math.max(...all)];
  const height = (top - bottom) * 1.08;
  const across = (distance) => (100 * (distance + last)) / (2 * last);
  const down = (value) => (100 * (bottom + height - value)) / height;
  const at = (distance, value) => `${across(distance)} ${down(value)}`;

  // Of all pairs that far apart, the least and the greatest: one line if only the
  // distance counts.
  function band() {
    const ends = Array.from({ length: 2 * last + 1 }, (_, k) => {
      const values = dots.flatMap((row, i) => row[i + k - last] ?? []);
      return [Math.min(...values), Math.max(...values)];
    });
    const side = (which) => ends.map((end, k) => at(k - last, end[which]));
    return `M${side(1).join(" L")} L${side(0).reverse().join(" L")} Z`;
  }

  function ticks(low, high, wanted) {
    const raw = (high - low) / wanted;
    const power = 10 ** Math.floor(Math.log10(raw));
    const size = [1, 2, 5, 10].find((each) => each * power >= raw) * power;
    const from = Math.ceil(low / size - 1e-9);
    const count = Math.floor(high / size + 1e-9) - from + 1;
    return Array.from({ length: count }, (_, k) => (from + k) * size);
  }

  const curve = shape("path", { class: "curve", "vector-effect": "non-scaling-stroke" });
  const inner = shape("svg", { viewBox: "0 0 100 100", preserveAspectRatio: "none", width: "100%", height: "100%" },
    shape("path", { class: "band", d: band(), "vector-effect": "non-scaling-stroke" }), curve);
  const stem = shape("line", { class: "stem" });
  const point = shape("circle", { class: "point", r: 6 });
  const picture = shape("svg", { role: "img", width: "100%", height: "100%" });
  const value = element("span", { class: "value" });
  const percent = (number) => `${number}%`;

  const yTicks = ticks(bottom, top, 4);
  const xTicks = ticks(-last, last, 8).filter(Number.isInteger);
  const grid = [
    ...yTicks.map((y) => shape("line", { class: "grid", x1: "0%", x2: "100%", y1: percent(down(y)), y2: percent(down(y)) })),
    shape("line", { class: "grid", x1: "50%", x2: "50%", y1: "0%", y2: "100%" }),
  ];
  picture.append(...grid, inner, stem, point);

  // Dragging moves the second position to where the pointer is.
  function drag(event) {
    if (event.type === "pointermove" && !(event.buttons & 1)) return;
    const box = plot.getBoundingClientRect();
    const distance = Math.round(((event.clientX - box.left) / box.width) * 2 * last - last);
    move(first, first + distance);
  }
  const plot = element("div", { class: "plot", onpointermove: drag, onpointerdown: (event) => {
    plot.setPointerCapture(event.pointerId);
    drag(event);
  } }, picture, value);

  const label = (text, side, place) => {
    const made = element("span", {}, text);
    made.style[side] = percent(place);
    return made;
  };
  const chart = element("div", { class: "chart" },
    element("div", { class: "title" }, "dot product"),
    element("div", { class: "up", "aria-hidden": "true" }, ...yTicks.map((y) => label(signed(y), "top", down(y)))),
    plot,
    element("div", { class: "along", "aria-hidden": "true" }, ...xTicks.map((x) => label(signed(x), "left", across(x)))),
    element("div", { class: "below" }, "distance: second position \u2212 first position"));

  function drawCurve() {
    const distance = second - first;
    const dot = dots[first][second];
    const [x, y] = [percent(across(distance)), percent(down(dot))];
    curve.setAttribute("d", `M${dots[first].map((each, s) => at(s - first, each)).join(" L")}`);
    for (const [key, each] of Object.entries({ x1: x, x2: x, y1: y, y2: percent(down(bottom)) })) stem.setAttribute(key, each);
    point.setAttribute("cx", x);
    point.setAttribute("cy", y);
    point.dataset.value = dot;
    point.dataset.distance = distance;
    value.textContent = rounded(dot);
    value.style.left = x;
    value.style.top = y;
    value.dataset.side = distance < 0 ? "left" : "right";
    picture.setAttribute("aria-label", `dot product at the distance ${signed(distance)}: ${rounded(dot)}`);
  }

  function draw() {
    const distance = second - first;
    set(one, first, last, String(first));
    set(two, second, last, String(second));
    set(both, Math.min(first, second), last - Math.abs(distance), `${first} and ${second}`);
    both.value.textContent = `${Math.abs(distance)} apart`;
    clocks.forEach(drawClock);
    drawCurve();
    said.textContent =
      `Positions ${first} and ${second}, distance ${signed(distance)}: dot product ${rounded(dots[first][second])}. ` +
      `Position ${first} with itself: ${rounded(dots[first][first])}.`;
  }

  arrowKeys(clocks.map(({ clock }) => clock), { ArrowRight: 1, ArrowLeft: -1, ArrowDown: 1, ArrowUp: -1 }, tell);
  const wall = element("div", { class: "clocks", role: "group", "aria-label": "a clock for each pair of columns, and what it adds to the dot product" },
    ...clocks.map(({ clock }) => clock));
  view.style.setProperty("--wide", Math.ceil(nHands / Math.ceil(nHands / 11)));
  view.style.setProperty("--narrow", Math.min(nHands, 8));
  const names = ["", "hand 0", "hands 0 and 1"][nHands] || `hands 0 to ${nHands - 1}`;
  const caption = element("div", { class: "title" }, `${names}, and what each adds to the dot product`);
  view.append(
    element("div", { class: "controls", role: "group", "aria-label": "positions" }, one.row, two.row, both.row),
    element("div", { class: nHands > 4 ? "parts" : "parts few" }, element("div", {}, caption, wall), chart),
    said,
  );
  el.append(view);
  draw();
  return followTheme(view);
}

export default { render };
