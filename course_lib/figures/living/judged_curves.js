// Learning curves of several models: the reader chooses one, and sees what it can do.
// data: x, names, values (per model one number for each x), shares (a number between 0
// and 1 per model, hidden until the model is chosen), share_name, axes (labels of x and
// of the values), top (the largest value that is drawn).

function render({ model, el }) {
  const data = model.get("data");
  const { x, names, values, shares, top } = data;
  const [width, height] = [400, 230];
  const plot = { left: 34, right: 14 + 9 * Math.max(...names.map((name) => name.length)), top: 8, bottom: 36 };
  const dashes = [null, "8 4", "2 3", "10 3 2 3", "5 2", "1 4"];
  let chosen = null;
  const asked = new Set();
  const view = element("div", { class: "living-view living-judged-curves" });
  const said = element("p", { class: "said", "aria-live": "polite" });

  // --- curves -------------------------------------------------------------------

  const across = (value) => plot.left + ((value - x[0]) / (x.at(-1) - x[0] || 1)) * (width - plot.left - plot.right);
  const down = (value) => height - plot.bottom - (value / top) * (height - plot.top - plot.bottom);
  const svg = shape("svg", { viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" });
  for (let tick = 0; tick <= top; tick += Math.max(1, Math.ceil(top / 5))) {
    svg.append(
      shape("line", { class: "jc-grid", x1: plot.left, x2: width - plot.right, y1: down(tick), y2: down(tick) }),
      shape("text", { x: plot.left - 6, y: down(tick) + 4, "text-anchor": "end" }, String(tick)),
    );
  }
  [x[0], x[Math.floor(x.length / 2)], x.at(-1)].forEach((value) =>
    svg.append(shape("text", { x: across(value), y: height - plot.bottom + 15, "text-anchor": "middle" }, String(value))));
  svg.append(
    shape("text", { x: (plot.left + width - plot.right) / 2, y: height - 4, "text-anchor": "middle" }, data.axes[0]),
    shape("text", { x: plot.left + 4, y: plot.top + 8 }, data.axes[1]),
  );
  // What is above the top is cut off where its line meets the top.
  function path(row) {
    const points = [];
    row.forEach((value, i) => {
      const before = row[i - 1];
      if (i && (before > top) !== (value > top)) {
        const share = (top - before) / (value - before);
        points.push([value > top ? "L" : "M", x[i - 1] + share * (x[i] - x[i - 1]), top]);
      }
      if (value <= top) points.push([points.length ? "L" : "M", x[i], value]);
    });
    return points.map(([move, at, value]) => `${move}${across(at).toFixed(1)} ${down(value).toFixed(1)}`).join("");
  }
  const lines = values.map((row, i) => shape("path", { class: `jc-line jc-${i}`, "stroke-dasharray": dashes[i], d: path(row) }));
  // Names at the right ends, apart from each other.
  const ends = values.map((row, i) => ({ i, y: down(Math.min(row.at(-1), top)) })).sort((a, b) => b.y - a.y);
  ends.forEach((end, k) => k && (end.y = Math.min(end.y, ends[k - 1].y - 14)));
  const letters = ends.map(({ i, y }) => ({ i, text: shape("text", { class: "jc-name", x: width - plot.right + 6, y: y + 4 }, names[i]) }));
  svg.append(...lines, ...letters.map(({ text }) => text));

  // --- models -------------------------------------------------------------------

  const percent = (share) => `${Math.round(100 * share)} %`;
  const buttons = names.map((name, i) => {
    const result = element("span", { class: "jc-share" }, "?");
    return { result, item: button(name, () => choose(i), { class: "jc-model", "aria-pressed": "false" }) };
  });
  buttons.forEach(({ item, result }) => item.append(result));
  arrowKeys(buttons.map(({ item }) => item), { ArrowRight: 1, ArrowLeft: -1, ArrowDown: 1, ArrowUp: -1 }, () => {});

  function choose(index) {
    chosen = index;
    asked.add(index);
    draw();
    const row = values[index];
    const rest = asked.size < names.length ? "" : ` You have asked all ${names.length}.`;
    said.textContent = `${isolated(names[index])}: ${data.axes[1]} ${rounded(row[0])} at first, ${rounded(row.at(-1))} at the end. ` +
      `${data.share_name}: ${percent(shares[index])}.${rest}`;
  }

  function draw() {
    buttons.forEach(({ item, result }, i) => {
      item.setAttribute("aria-pressed", String(i === chosen));
      result.textContent = asked.has(i) ? percent(shares[i]) : "?";
      if (asked.has(i)) result.dataset.value = shares[i];
    });
    lines.forEach((line, i) => {
      line.classList.toggle("jc-chosen", i === chosen);
      line.classList.toggle("jc-aside", chosen !== null && i !== chosen);
    });
    letters.forEach(({ i, text }) => text.classList.toggle("jc-chosen", i === chosen));
  }

  view.append(
    element("div", { class: "controls", role: "group", "aria-label": "model" }, element("span", {}, "model"), ...buttons.map(({ item }) => item)),
    svg,
    said,
  );
  el.append(view);
  said.textContent = "Choose a model.";
  draw();
  return followTheme(view);
}

export default { render };
