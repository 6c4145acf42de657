// The Transformer as boxes, from the tokens at the bottom upwards. Pointing at a box tells
// its shapes, its parameters and its lesson. data: boxes of encoder and decoder, from the
// bottom (name, note beside it, part, text, reads and gives: shapes, parameters, shared,
// layer: whether it is repeated, lesson, link, state: "done", "current", "to come" or
// "left out" or null), n_layers, totals (lines), memory (its shape), small, states (whether there are any).

const MARKS = { done: "✓", current: "●", "to come": "○", "left out": "–" };
const WORDS = { done: "in an earlier lesson", current: "in this lesson", "to come": "in a later lesson", "left out": "left out in this lesson" };

function render({ model, el }) {
  const data = model.get("data");
  const columns = [data.boxes.encoder, data.boxes.decoder];
  const rows = Math.max(...columns.map((column) => column.length));
  const view = element("div", {
    class: `living-view living-architecture${data.small ? " lv-small" : ""}${data.states ? " states" : ""}`,
  });
  const said = element("div", { class: "said", "aria-live": "polite" });
  el.append(view);
  let pointed = null; // [column, row]

  const made = columns.map((column, side) =>
    column.map((box, row) => {
      const mark = box.state
        ? element("span", { class: "lv-mark", role: "img", "aria-label": `${WORDS[box.state]}: ` }, MARKS[box.state])
        : "";
      const note = data.small ? "" : element("span", { class: "lv-note" }, box.note);
      const each = button(element("span", { class: "name" }, mark, box.name), () => press(each, side, row), {
        class: `box ${box.part.replace(/ /g, "-")}`,
        "data-part": box.part, "data-state": box.state, "data-value": box.parameters || null,
      });
      each.append(note);
      each.style.gridArea = `${rows - row + 1} / ${side ? 4 : 2}`;
      // What was chosen stays while the pointer goes to the link of its lesson.
      each.addEventListener("pointerenter", () => view.contains(document.activeElement) || point([side, row]));
      return each;
    }),
  );

  const names = ["encoder", "decoder"];
  made.forEach((boxes, side) =>
    arrowKeys(boxes, { ArrowUp: 1, ArrowDown: -1 }, (row) => point([side, row])),
  );
  const title = (side) => {
    const head = element("span", { class: "head" }, names[side]);
    head.style.gridArea = `${rows - columns[side].length + 1} / ${side ? 4 : 2}`;
    return head;
  };
  const lines = [`each frame: one of ${data.n_layers} stacked layers`, ...data.totals];
  const isGone = (box) => box.state === "left out";
  const unused = columns.flat().some(isGone) ? "to come" : "left out";
  const key = Object.entries(MARKS).filter(([state]) => state !== unused).map(([state, mark]) =>
    element("span", { class: "box", "data-state": state }, element("span", { class: "lv-mark" }, mark), WORDS[state]));
  const notes = element(
    "div",
    { class: "notes" },
    ...(data.states ? [element("p", { class: "key" }, ...key)] : []),
    ...lines.map((line) => element("p", {}, line)),
  );
  notes.style.gridArea = `1 / 1 / ${rows - columns[0].length + 1} / 4`;
  const stage = element(
    "div",
    { class: "stage", onpointerleave: () => view.contains(document.activeElement) || point(null) },
    notes,
    ...made.map((boxes, side) =>
      element("div", { class: "column", role: "group", "aria-label": `${names[side]}, from the bottom` }, title(side), ...boxes)),
  );
  const draw = overlay(stage, paint);

  // Enter and a click lead to the link, if there is one.
  function press(each, side, row) {
    each.focus();
    point([side, row]);
    said.querySelector("a")?.focus();
  }

  view.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    document.activeElement.blur();
    point(null);
  });
  const linked = columns.flat().some((box) => box.link);
  const hint = withKeys("Point at a box", `, or go through them with the arrow keys${linked ? "; Enter leads to its lesson" : ""}`);

  // --- what is told -----------------------------------------------------------------

  function point(where) {
    pointed = where;
    made.flat().forEach((each) => each.classList.remove("pointed", "shared"));
    if (where) {
      const [side, row] = where;
      made[side][row].classList.add("pointed");
      columns.forEach((column, other) => column.forEach((box, k) => {
        const same = box.shared && columns[side][row].shared && !(other === side && k === row);
        made[other][k].classList.toggle("shared", same);
      }));
    }
    said.replaceChildren(...(where ? told(where) : hint));
    draw();
  }

  function told([side, row]) {
    const box = columns[side][row];
    const parts = [element("p", {}, element("strong", {}, `${names[side]}: ${box.name}`), ` – ${box.text}.`)];
    const facts = [];
    if (box.gives) {
      const shapes = box.reads.length ? `${box.reads.join(" and ")} → ${box.gives}` : box.gives;
      facts.push(element("span", { class: "shapes" }, `shape ${shapes}`));
    }
    if (box.parameters) {
      const where = box.layer ? `, in each of ${data.n_layers} layers` : box.shared ? ", the same in three boxes" : "";
      facts.push(element("span", { class: "parameters", "data-value": box.parameters }, `${box.parameters} parameters${where}`));
    }
    const name = `lesson ${box.lesson}`;
    facts.push(box.link ? element("a", { href: box.link }, name) : element("span", {}, name));
    if (box.state) facts.push(element("span", {}, WORDS[box.state]));
    return [...parts, element("p", { class: "facts" }, ...facts)];
  }

  // --- arrows -----------------------------------------------------------------------

  function paint(svg, box) {
    const all = made.map((boxes) => boxes.map(box));
    const lit = (...ends) => (ends.some(([side, row]) => pointed?.[0] === side && pointed[1] === row) ? " lit" : "");
    all.forEach((boxes, side) => {
      const outer = (each) => (side ? each.right : each.left);
      const away = side ? 1 : -1;
      const lane = outer(boxes[0]) + 10 * away;
      const layers = columns[side].map((each, row) => (each.layer ? row : -1)).filter((row) => row >= 0);
      const [first, last] = [layers[0], layers.at(-1)];
      const pale = columns[side].every(isGone) ? " gone" : "";
      frame(svg, boxes[first], boxes[last], lane, pale);
      boxes.slice(1).forEach((to, k) => {
        const [from, row] = [boxes[k], k + 1];
        const attends = /attention/.test(columns[side][row].part);
        const name = `flow${pale}${lit([side, k], [side, row])}`;
        const three = attends && !data.small && columns[side][row].part !== "cross-attention";
        if (!three) return svg.append(arrow([[to.x, from.top], [to.x, to.bottom]], { class: name }));
        // Query, key and value of the same vectors: three arrows.
        const middle = from.top - 0.35 * (from.top - to.bottom);
        for (const offset of [-0.22, 0, 0.22]) {
          const x = to.x + offset * (to.right - to.left);
          svg.append(arrow([[to.x, from.top], [to.x, middle], [x, middle], [x, to.bottom]], { class: name }));
        }
      });
      // x + f(x): from the box before a sublayer to the norm behind it.
      for (const row of layers.filter((_, k) => k % 2 === 0)) {
        const [from, to] = [boxes[row - 1], boxes[row + 1]];
        const [up, into] = [from.y - 4, to.y + 5];
        svg.append(arrow([[outer(from), up], [lane, up], [lane, into], [outer(to), into]],
          { class: `residual${isGone(columns[side][row]) ? " gone" : ""}${lit([side, row - 1], [side, row + 1])}` }));
      }
    });
    paintMemory(svg, all, lit);
    const top = all[1].at(-1);
    svg.append(arrow([[top.x, top.top], [top.x, top.top - 14]], { class: `flow${lit([1, all[1].length - 1])}` }));
    svg.append(shape("text", { class: "end", x: top.x + 7, y: top.top - 5 }, "probabilities"));
  }

  function frame(svg, bottom, top, lane, pale) {
    const [x, end] = [Math.min(lane, bottom.left) - 5, Math.max(lane, bottom.right) + 5];
    const y = top.top - 5;
    svg.append(shape("rect", { class: `frame${pale}`, x, y, width: end - x, height: bottom.bottom + 5 - y, rx: 4 }));
  }

  function paintMemory(svg, all, lit) {
    const from = all[0].at(-1);
    const row = columns[1].findIndex((each) => each.part === "cross-attention");
    const to = all[1][row];
    const turn = from.right + 0.45 * (to.left - from.right);
    const name = `memory${isGone(columns[1][row]) ? " gone" : ""}${lit([0, all[0].length - 1], [1, row])}`;
    [["k", -6], ["v", 6]].forEach(([letter, offset]) => {
      const y = to.y + offset;
      svg.append(
        arrow([[from.right, from.y], [turn, from.y], [turn, y], [to.left, y]], { class: name, "data-to": "cross-attention" }),
        shape("text", { class: `letter${isGone(columns[1][row]) ? " gone" : ""}`, x: to.left - 9, y: y + (offset < 0 ? -4 : 11), "text-anchor": "end" }, letter),
      );
    });
  }

  const caption = element(
    "p",
    { class: "lv-caption" },
    columns[0].every(isGone)
      ? "Grey: what a decoder without an encoder leaves out. The outer arrows are residual connections, x + f(x)."
      : data.small
      ? "Blue: every cross-attention reads the encoder's output, as keys (k) and values (v). An outer arrow goes around a box: what enters the box is added to what leaves it."
      : `Blue: the memory${data.memory && ` ${data.memory}`}, which is the encoder's output, gives every cross-attention its keys (k) and values (v). The outer arrows are residual connections, x + f(x).`,
  );
  view.append(stage, said, caption);
  point(null);
  return followTheme(view);
}

export default { render };
