// The attention weights of all heads as a wall of small matrices. A press on one opens it
// below: its matrix, the tokens, and where the chosen query attends. If something was
// measured without a head, it can be taken out, and its number is then shown.
// data: queries, keys, layers (names; none: they are counted), heads (how many in a
// layer), weights (packed; by layer, head, query, key), roles and marks (by layer and
// head, "" for none), measure (name, complete, and without by layer and head) or null,
// shown (layer, head and query at first).

const MANY = 16; // tokens on a side; with more, colours and names need room
const TILE = 32; // cells on a side of a small picture

function render({ model, el }) {
  const data = model.get("data");
  const { queries, keys, measure } = data;
  const [n, m] = [queries.length, keys.length];
  const proportion = Math.min(Math.max(m / n, 0.5), 3); // a single query is no thin line
  const weights = unpacked(data.weights);
  const heads = data.roles.flatMap((row, layer) =>
    row.map((role, head) => ({
      layer, head, role,
      index: layer * data.heads + head,
      mark: data.marks[layer][head],
      name: `${data.layers ? data.layers[layer] : `layer ${layer}`}, head ${head}`,
      without: measure && measure.without[layer][head],
      change: measure && measure.without[layer][head] - measure.complete,
      out: false, tried: false,
    })),
  );
  const roles = [...new Set(heads.map((each) => each.role).filter(Boolean))];
  const widest = Math.max(...heads.map((each) => Math.abs(each.change || 0))) || 1;
  const state = { head: data.shown[0] * data.heads + data.shown[1], query: data.shown[2], role: null };
  // Among many tokens most weights are small: their square roots make colours differ.
  const power = Math.max(n, m) > MANY ? 0.5 : 1;
  const colours = Array.from({ length: 256 }, (_, c) => cividis(c / 255));
  const value = (head, i, j) => weights[(head * n + i) * m + j];

  const view = element("div", { class: "living-view living-heads" });
  const said = element("p", { class: "said", "aria-live": "polite" });
  const summary = element("div", { class: "summary" });
  const large = element("div", { class: "large", role: "group" });
  const parts = {};

  // --- the wall ---------------------------------------------------------------------

  const few = data.heads <= 4;
  const tiles = heads.map((each) => {
    const tile = button("", () => open(each.index), {
      class: "tile", "data-layer": each.layer, "data-head": each.head,
    });
    tile.append(
      element("span", { class: "picture" }, painted(each.index, TILE)),
      ...(measure ? [element("span", { class: "track" }, element("span", { class: "bar" }))] : []),
      ...(roles.length ? [element("span", { class: "lv-mark" }, (few ? each.role : each.mark) || "\u00a0")] : []),
    );
    tile.addEventListener("pointerenter", () => tell(each));
    tile.addEventListener("keydown", (event) => event.key === "Delete" && measure && take(each, !each.out));
    return tile;
  });
  arrowKeys(
    tiles,
    { ArrowRight: 1, ArrowLeft: -1, ArrowDown: data.heads, ArrowUp: -data.heads },
    (index) => tell(heads[index]),
  );

  function wall() {
    const label = (text, of) => element("span", { class: of, "aria-hidden": "true" }, text);
    const rows = heads.filter((each) => !each.head).map((first) => [
      label(data.layers ? data.layers[first.layer] : first.layer, "layer"),
      ...tiles.slice(first.index, first.index + data.heads),
    ]);
    return element(
      "div",
      {
        class: few ? "wall few" : "wall", role: "group",
        "aria-label": "heads: a row for each layer",
        style: `--heads: ${data.heads}; --shape: ${proportion}`,
      },
      label("", "corner"),
      ...heads.slice(0, data.heads).map((each) => label(each.head, "number")),
      ...rows.flat(),
    );
  }

  // Cells of a head; in a small picture several become one, and the greatest is shown.
  function painted(head, most) {
    const [down, across] = [n, m].map((count) => Math.max(1, Math.ceil(count / most)));
    const [height, width] = [Math.ceil(n / down), Math.ceil(m / across)];
    const greatest = new Float64Array(height * width);
    for (let i = 0; i < n; i++) {
      for (let j = 0; j < m; j++) {
        const cell = Math.floor(i / down) * width + Math.floor(j / across);
        greatest[cell] = Math.max(greatest[cell], value(head, i, j));
      }
    }
    const canvas = element("canvas", { width, height, "aria-hidden": "true" });
    const context = canvas.getContext("2d");
    const image = context.createImageData(width, height);
    greatest.forEach((weight, cell) => {
      image.data.set(colours[Math.round(255 * weight ** power)], 4 * cell);
      image.data[4 * cell + 3] = 255;
    });
    context.putImageData(image, 0, 0);
    return canvas;
  }

  function controls() {
    const chosen = roles.map((role) => {
      const some = heads.filter((each) => each.role === role);
      const mark = few ? "" : element("b", {}, some[0].mark);
      return element(
        "button",
        {
          type: "button", "data-role": role, "aria-pressed": "false",
          onclick: () => pick(state.role === role ? null : role),
        },
        mark, element("bdi", {}, few ? role : ` ${role}`), ` (${some.length})`,
      );
    });
    arrowKeys(chosen, { ArrowRight: 1, ArrowLeft: -1, ArrowDown: 1, ArrowUp: -1 }, () => {});
    const scale = element("span", { class: "scale" }, 
      "weight 0", element("span", { class: "colours" }, rounded(0.5 ** (1 / power))), "1");
    return element(
      "div",
      { class: "controls" },
      ...(roles.length ? [element("span", { class: "roles", role: "group", "aria-label": "roles" }, ...chosen)] : []),
      scale,
      element("span", { class: "axes" }, "a row for each layer, a column for each head"),
    );
  }

  function pick(role) {
    state.role = role;
    refresh();
    const some = heads.filter((each) => each.role === role);
    say(role ? `${role}: ${some.map((each) => each.name).join("; ")}` : "");
  }

  // --- what is told -----------------------------------------------------------------

  function say(text) {
    const keys = `; arrow keys go through the heads${measure ? ", Delete takes one out" : ""}`;
    said.replaceChildren(...(text ? [text] : withKeys("Press a head to open it", keys)));
  }

  function tell(each) {
    const role = each.role ? `: ${each.role}` : "";
    say(`${each.name}${role}${each.out ? ", taken out" : ""}${each.tried ? `. ${cost(each)}` : ""}`);
  }

  function signed(change) {
    const text = rounded(change, 3);
    return text.startsWith("\u2212") || Number(text) === 0 ? text : `+${text}`;
  }

  function cost(each) {
    return `${measure.name} without it ${rounded(each.without, 3)}, with all heads ${rounded(measure.complete, 3)}: ${signed(each.change)}`;
  }

  // --- taking heads out -------------------------------------------------------------

  function take(each, out) {
    each.out = out;
    each.tried ||= out;
    refresh();
    if (each.index === state.head) opened();
    tell(each);
  }

  function all() {
    heads.forEach((each) => (each.tried = true));
    refresh();
    const order = [...heads].sort((a, b) => Math.abs(b.change) - Math.abs(a.change));
    const told = order.slice(0, 3).map((each) => `${each.name} ${signed(each.change)}`);
    say(`Taken out alone, these change the ${measure.name} most: ${told.join("; ")}.`);
  }

  function refresh() {
    heads.forEach((each, index) => {
      const tile = tiles[index];
      const role = each.role ? `, ${each.role}` : "";
      tile.setAttribute("aria-label", `${each.name}${role}${each.out ? ", taken out" : ""}`);
      tile.setAttribute("aria-pressed", String(index === state.head));
      tile.classList.toggle("out", each.out);
      tile.classList.toggle("aside", state.role !== null && each.role !== state.role);
      const bar = tile.querySelector(".bar");
      if (!bar) return;
      bar.hidden = !each.tried;
      if (!each.tried) return;
      bar.style.width = `${(100 * Math.abs(each.change)) / widest}%`;
      bar.classList.toggle("less", each.change < 0);
      bar.dataset.value = each.without;
    });
    view.querySelectorAll("[data-role]").forEach((each) =>
      each.setAttribute("aria-pressed", String(each.dataset.role === state.role)));
    if (measure) summarise();
  }

  function summarise() {
    const out = heads.filter((each) => each.out);
    const told = out.map((each) => `${each.name} (${signed(each.change)})`);
    const tried = heads.some((each) => each.tried);
    const lines = [];
    if (out.length) lines.push(`Taken out: ${told.join("; ")}.`);
    if (out.length > 1) {
      lines.push("Each number is for that head alone; together they can cost more or less than the sum.");
    }
    if (tried) {
      const falls = heads.some((each) => each.tried && each.change < 0);
      lines.push(`Bar: change of the ${measure.name} without that head, the longest ${rounded(widest, 3)}${falls ? "; hollow: it falls" : ""}.`);
    }
    parts.lines.textContent = lines.join(" ");
    parts.back.disabled = !out.length;
    parts.all.disabled = heads.every((each) => each.tried);
  }

  // --- one head, large --------------------------------------------------------------

  function open(index) {
    state.head = index;
    refresh();
    opened();
    tell(heads[index]);
  }

  function words(tokens, of, label, visit) {
    const items = tokens.map((token, index) =>
      element(
        "button",
        { type: "button", "data-index": index },
        element("bdi", {}, token),
        ...(of === "keys" ? [element("span", { class: "weight" })] : []),
      ));
    arrowKeys(items, { ArrowRight: 1, ArrowLeft: -1, ArrowDown: 1, ArrowUp: -1 }, visit);
    items.forEach((item, index) => {
      item.addEventListener("pointerenter", () => visit(index));
      item.addEventListener("click", () => item.focus());
    });
    parts[of] = items;
    return element("div", { class: `words ${of}`, role: "group", "aria-label": label }, ...items);
  }

  function build() {
    const name = element("strong", {});
    const role = element("bdi", { class: "role" });
    const knob = element("span", { class: "knob", "aria-hidden": "true" });
    const out = element(
      "button",
      {
        type: "button", role: "switch", class: "switch",
        onclick: () => take(heads[state.head], !heads[state.head].out),
      },
      knob, "taken out",
    );
    const number = element("span", { class: "cost" });
    const sides = [queries, keys].map((tokens, side) =>
      element(
        "div",
        { class: `side ${side ? "above" : "left"}${tokens.length > MANY ? " many" : ""}`, "aria-hidden": "true", style: `--count: ${tokens.length}` },
        ...tokens.map((token) => element("span", {}, element("bdi", {}, token))),
      ));
    const row = element("span", { class: "lv-row" });
    const column = element("span", { class: "column" });
    const cells = element("div", { class: "matrix" });
    const track = (event) => {
      const box = cells.getBoundingClientRect();
      const at = (from, size, count) => Math.min(Math.max(Math.floor((from / size) * count), 0), count - 1);
      point(at(event.clientY - box.top, box.height, n), at(event.clientX - box.left, box.width, m));
    };
    cells.addEventListener("pointermove", track);
    cells.addEventListener("pointerdown", track);
    Object.assign(parts, { name, role, out, number, sides, row, column, cells });
    const asks = element("p", { class: "of" }, "query");
    const attended = element("p", { class: "of" });
    parts.attended = attended;
    large.append(
      element("div", { class: "title" }, name, role, ...(measure ? [out, number] : [])),
      element("div", { class: "lv-table", style: `--shape: ${proportion}; max-width: ${6 + 2.6 * m}rem` }, sides[1], sides[0], cells),
      element(
        "div",
        { class: "texts" },
        asks, words(queries, "queries", "query: attends", (i) => point(i, null)),
        attended, words(keys, "keys", "key: is attended to", (j) => point(state.query, j)),
      ),
    );
  }

  function opened() {
    const each = heads[state.head];
    large.setAttribute("aria-label", each.name);
    parts.name.textContent = each.name;
    parts.role.textContent = each.role;
    parts.out.setAttribute("aria-checked", String(each.out));
    parts.number.textContent = each.out ? cost(each) : "";
    large.classList.toggle("out", each.out);
    parts.cells.replaceChildren(painted(each.index, Infinity), parts.row, parts.column);
    point(state.query, null, false);
  }

  // A row is pointed at, and in it a key, if any.
  function point(i, j, aloud = true) {
    state.query = i;
    const each = heads[state.head];
    const numbers = keys.map((_, k) => value(each.index, i, k));
    parts.queries.forEach((item, k) => item.setAttribute("aria-pressed", String(k === i)));
    parts.attended.replaceChildren(element("bdi", {}, queries[i]), " attends to");
    parts.keys.forEach((item, k) => {
      item.dataset.value = numbers[k];
      item.style.setProperty("--weight", `${100 * numbers[k]}%`);
      item.classList.toggle("pointed", k === j);
      item.querySelector(".weight").textContent = numbers[k] < 0.005 ? "" : rounded(numbers[k]);
    });
    [[parts.sides[0], i], [parts.sides[1], j]].forEach(([side, index]) =>
      [...side.children].forEach((label, k) => label.classList.toggle("pointed", k === index)));
    parts.row.style.cssText = `top: ${(100 * i) / n}%; height: ${100 / n}%`;
    parts.column.style.cssText = j === null ? "display: none" : `left: ${(100 * j) / m}%; width: ${100 / m}%`;
    if (!aloud) return;
    if (j !== null) return say(`${queries[i]} attends to ${keys[j]}: ${rounded(numbers[j], 3)}`);
    const order = keys.map((_, k) => k).sort((a, b) => numbers[b] - numbers[a]);
    const told = order.slice(0, 4).map((k) => `${keys[k]} ${rounded(numbers[k])}`);
    say(`${queries[i]} attends to ${told.join(", ")}${m > 4 ? ", …" : ""}`);
  }

  parts.lines = element("p", {});
  parts.back = button("put all back", () => {
    heads.forEach((each) => (each.out = false));
    refresh();
    opened();
    say("All heads are in use.");
  });
  parts.all = button("take out each in turn", all);
  summary.append(
    element("div", { class: "controls" }, parts.all, parts.back),
    parts.lines,
  );
  build();
  view.append(controls(), wall(), ...(measure ? [summary] : []), said, large);
  el.append(view);
  refresh();
  opened();
  say("");
  return followTheme(view);
}

export default { render };
