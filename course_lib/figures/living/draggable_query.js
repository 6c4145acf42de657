// Arrows of keys in the plane and one of a query, which the reader drags. data: name and
// query (x, y), names and keys (x, y), low and high (ends of both axes), axes (their
// labels), show ("dot product", "cosine", "weight"), values (one per key, or null) and
// value_name. What is shown is computed anew as the arrow moves; weights are the softmax
// of the dot products.

const STEP = 0.1; // to which a dragged arrow snaps, and which an arrow key goes
const SIDE = 320; // of the plane, in its own units

function render({ model, el }) {
  const { name, query: start, names, keys, low, high, axes, show, values, value_name: valueName } = model.get("data");
  let query = [...start];
  let held = false;
  const view = element("div", { class: "living-view living-draggable-query" });
  const said = element("p", { class: "said", "aria-live": "polite" });
  const across = (x) => (SIDE * (x - low)) / (high - low);
  const down = (y) => SIDE - across(y);
  const at = ([x, y]) => [across(x), down(y)];
  const plain = (number) => rounded(number, 1);
  const total = (numbers) => numbers.reduce((sum, each) => sum + each, 0);

  // --- the plane ----------------------------------------------------------------

  const grid = Array.from({ length: Math.floor(high) - Math.ceil(low) + 1 }, (_, i) => Math.ceil(low) + i);
  const svg = shape("svg", { class: "dq-plane", viewBox: `-26 -8 ${SIDE + 42} ${SIDE + 48}`, role: "presentation" });
  svg.append(
    ...grid.flatMap((each) => [
      shape("line", { class: each ? "dq-grid" : "dq-axis", x1: across(each), x2: across(each), y1: 0, y2: SIDE }),
      shape("line", { class: each ? "dq-grid" : "dq-axis", x1: 0, x2: SIDE, y1: down(each), y2: down(each) }),
      shape("text", { class: "dq-tick", x: across(each), y: SIDE + 16, "text-anchor": "middle", "aria-hidden": "true" }, rounded(each, 0)),
      shape("text", { class: "dq-tick", x: -6, y: down(each) + 4, "text-anchor": "end", "aria-hidden": "true" }, rounded(each, 0)),
    ]),
    shape("text", { class: "dq-label", x: SIDE / 2, y: SIDE + 34, "text-anchor": "middle", "aria-hidden": "true" }, `${axes[0]} \u2192`),
    shape("text", { class: "dq-label", x: -14, y: 10, transform: `rotate(-90 -14 10)`, "text-anchor": "end", "aria-hidden": "true" }, `${axes[1]} \u2192`),
  );
  const origin = at([0, 0]);

  function ray(attributes) {
    return shape("g", attributes, shape("line", { x1: origin[0], y1: origin[1] }), shape("path", {}));
  }

  // A line to the point with a head at its end; the head is left out where it has no room.
  function aim(group, point) {
    const [x, y] = at(point);
    const [line, head] = group.children;
    const length = Math.hypot(x - origin[0], y - origin[1]);
    const angle = (Math.atan2(y - origin[1], x - origin[0]) * 180) / Math.PI;
    line.setAttribute("x2", x - (length > 14 ? (9 * (x - origin[0])) / length : 0));
    line.setAttribute("y2", y - (length > 14 ? (9 * (y - origin[1])) / length : 0));
    head.setAttribute("d", length > 14 ? "M0 0 L-12 -6 L-12 6 Z" : "");
    head.setAttribute("transform", `translate(${x} ${y}) rotate(${angle})`);
  }

  const rays = keys.map((key, j) => {
    const made = ray({ class: "dq-key", "data-j": j });
    aim(made, key);
    return made;
  });
  const labels = names.map((each) => shape("text", { class: "dq-name", "aria-hidden": "true" }, each));
  const arrowOfQuery = ray({ class: "dq-query" });
  const label = shape("text", { class: "dq-name dq-query-name", "aria-hidden": "true" }, name);
  const handle = shape("g", {
    class: "dq-handle", tabindex: 0, role: "slider", "aria-label": `${name}: ${axes[0]} and ${axes[1]}; arrow keys move the arrow`,
    "aria-valuemin": low, "aria-valuemax": high, onkeydown: press,
  }, shape("circle", { class: "dq-reach", r: 24 }), shape("circle", { class: "dq-tip", r: 9 }));
  svg.append(...rays, ...labels, arrowOfQuery, label, handle);

  // Names give way to the handle with its halo, to the arrows' heads, to each other and,
  // where there is room, to the arrows. turns: where around a point to try first, in
  // eighths from the right, clockwise; near: how far from it the name is at least.
  function put(text, [x, y], near, turns, taken) {
    const width = text.getComputedTextLength() || 8 * text.textContent.length;
    const boxes = [0, 6, 12, 18, 26, 34].flatMap((more) => turns.map((turn) => {
      const [across, along] = [Math.cos((turn * Math.PI) / 4), Math.sin((turn * Math.PI) / 4)];
      const left = x + across * (near + more + width / 2) - width / 2;
      const top = y + along * (near + more + 9) - 9;
      return { left, right: left + width, top, bottom: top + 18 };
    }));
    const free = boxes.filter((box) => box.left > -22 && box.right < SIDE + 14 && box.top > -6 && box.bottom < SIDE
      && !taken.some((each) => meets(box, each)));
    const arrows = [...keys, query].flatMap((tip) =>
      Array.from({ length: 40 }, (_, k) => ({ centre: at(tip.map((each) => (each * (k + 1)) / 40)), reach: 2 })));
    const box = free.find((each) => !arrows.some((part) => meets(each, part))) || free[0] || boxes[0];
    text.setAttribute("x", (box.left + box.right) / 2);
    text.setAttribute("y", box.top + 14);
    text.setAttribute("text-anchor", "middle");
    taken.push(box);
  }

  // Whether a box meets another one, or a circle: centre and reach.
  function meets(box, other) {
    if (!other.centre) return box.left < other.right && other.left < box.right && box.top < other.bottom && other.top < box.bottom;
    const [x, y] = other.centre;
    return Math.hypot(x - Math.min(Math.max(x, box.left), box.right), y - Math.min(Math.max(y, box.top), box.bottom)) < other.reach;
  }

  function putNames() {
    const taken = [{ centre: at(query), reach: 27 }, ...keys.map((key) => ({ centre: at(key), reach: 5 }))];
    keys.forEach((key, j) => put(labels[j], at(key), 6, [7, 1, 5, 3, 0, 6, 2, 4], taken));
    put(label, at(query), 27, [2, 6, 0, 1, 7, 3, 5, 4], taken);
  }

  function move(x, y) {
    const near = (number) => Math.round(Math.min(Math.max(number, low), high) / STEP) * STEP;
    query = [near(x), near(y)];
    draw();
    tell();
  }

  function press(event) {
    const step = event.shiftKey ? 5 * STEP : STEP;
    const steps = { ArrowRight: [step, 0], ArrowLeft: [-step, 0], ArrowUp: [0, step], ArrowDown: [0, -step] };
    if (event.key === "Home") move(...start);
    else if (event.key in steps) move(query[0] + steps[event.key][0], query[1] + steps[event.key][1]);
    else return;
    event.preventDefault();
  }

  function drag(event) {
    const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
    move(low + (point.x * (high - low)) / SIDE, low + ((SIDE - point.y) * (high - low)) / SIDE);
  }

  // A finger on the handle moves it; anywhere else in the picture it scrolls the page.
  handle.addEventListener("touchstart", (event) => event.preventDefault(), { passive: false });
  handle.addEventListener("pointerdown", (event) => {
    held = true;
    handle.setPointerCapture(event.pointerId);
    view.classList.add("dq-held");
    event.preventDefault();
    handle.focus();
  });
  handle.addEventListener("pointermove", (event) => held && drag(event));
  for (const end of ["pointerup", "pointercancel"]) {
    handle.addEventListener(end, () => {
      held = false;
      view.classList.remove("dq-held");
    });
  }

  // --- the numbers --------------------------------------------------------------

  const bars = names.map(() => Object.fromEntries(show.map((what) => [what, bar(what)])));

  function bar(what) {
    const fill = element("span", { class: "dq-fill" });
    const number = element("span", { class: "dq-number", "data-of": what });
    return { fill, number, cell: element("div", { role: "cell", class: "dq-cell" }, element("span", { class: "dq-track" }, fill), number) };
  }

  const heads = ["", ...show].map((what) => element("span", { role: "columnheader", class: "dq-head" }, what || "key"));
  const lines = names.map((each, j) =>
    element("div", { role: "row", class: "dq-row" }, element("span", { role: "rowheader", class: "dq-of" }, each,
      ...(values ? [element("small", {}, ` ${valueName} ${rounded(values[j], 0)}`)] : [])),
    ...show.map((what) => bars[j][what].cell)));
  const numbers = element("div", { class: "dq-numbers", role: "table", "aria-label": `${name} and each key` },
    element("div", { role: "row", class: "dq-row dq-heads" }, ...heads), ...lines);
  numbers.style.setProperty("--columns", show.length);
  const answer = element("p", { class: "dq-answer" });
  const where = element("p", { class: "dq-where" });
  // At the start it is no stop, so that Tab reaches the arrow first, from above and below.
  const back = button("back to the start", () => {
    handle.focus();
    move(...start);
  });

  function computed() {
    const dots = keys.map(([x, y]) => x * query[0] + y * query[1]);
    const length = Math.hypot(...query);
    const cosines = keys.map((key, j) => (length ? dots[j] / (length * Math.hypot(...key)) : 0));
    const top = Math.max(...dots);
    const powers = dots.map((dot) => Math.exp(dot - top));
    const weights = powers.map((power) => power / total(powers));
    return { "dot product": dots, cosine: cosines, weight: weights };
  }

  // The longest bar of a dot product: the greatest that the plane allows.
  const most = Math.max(...keys.map((key) => Math.hypot(...key))) * Math.hypot(high, high) * 0.75;

  function draw() {
    const all = computed();
    const first = all["dot product"].indexOf(Math.max(...all["dot product"]));
    aim(arrowOfQuery, query);
    const [x, y] = at(query);
    handle.setAttribute("transform", `translate(${x} ${y})`);
    handle.setAttribute("aria-valuenow", query[0].toFixed(1));
    handle.setAttribute("aria-valuetext", `${axes[0]} ${plain(query[0])}, ${axes[1]} ${plain(query[1])}`);
    names.forEach((_, j) => {
      rays[j].classList.toggle("dq-first", j === first);
      labels[j].classList.toggle("dq-first", j === first);
      lines[j].classList.toggle("dq-first", j === first);
      show.forEach((what) => {
        const { fill, number } = bars[j][what];
        const value = all[what][j];
        number.textContent = rounded(value);
        number.dataset.value = value;
        fill.classList.toggle("dq-negative", value < 0);
        fill.style.width = `${Math.min(100, 100 * Math.abs(what === "dot product" ? value / most : value))}%`;
      });
    });
    putNames(); // after the winner's name has become bold
    const angle = (Math.atan2(query[1], query[0]) * 180) / Math.PI;
    where.textContent = `${name}: ${axes[0]} ${plain(query[0])}, ${axes[1]} ${plain(query[1])}; angle ${rounded(angle, 0)}\u00b0`;
    where.dataset.value = angle;
    back.disabled = query.every((each, i) => Math.abs(each - start[i]) < STEP / 2);
    if (values) {
      const mean = total(all.weight.map((weight, j) => weight * values[j]));
      answer.replaceChildren(`${valueName} of ${name}: `, element("b", { "data-value": mean }, rounded(mean)));
    }
  }

  function tell() {
    const all = computed();
    const parts = names.map((each, j) => `${each} ${show.map((what) => rounded(all[what][j])).join(" / ")}`);
    const mean = values ? ` ${valueName}: ${rounded(total(all.weight.map((weight, j) => weight * values[j])))}.` : "";
    said.textContent = `${name} at ${axes[0]} ${plain(query[0])}, ${axes[1]} ${plain(query[1])}. ${show.join(" / ")}: ${parts.join(", ")}.${mean}`;
  }

  view.append(
    element("div", { class: "dq-parts" }, svg,
      element("div", { class: "dq-side" }, where, numbers, ...(values ? [answer] : []), element("div", { class: "controls" }, back))),
    said,
  );
  el.append(view);
  draw();
  said.replaceChildren(...withKeys(`Drag the tip of \u201c${isolated(name)}\u201d`, ", or reach it with Tab and use the arrow keys"));
  return followTheme(view);
}

export default { render };
