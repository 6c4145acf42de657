// Attention weights, as lines or as a table. Pointing at a token shows its row, or for a
// key its column. data: sentences (name, queries, keys, weights by layer, head, query and
// key), layers, heads, form ("lines" or "table").

function render({ model, el }) {
  const data = model.get("data");
  const state = { sentence: 0, layer: 0, head: 0, form: data.form };
  const view = element("div", { class: "living-view living-attention" });
  const said = element("p", { class: "said", "aria-live": "polite" });
  el.append(view);

  const current = () => {
    const { queries, keys, weights } = data.sentences[state.sentence];
    return { queries, keys, weights: weights[state.layer][state.head] };
  };

  function change(name) {
    return (value) => {
      state[name] = value;
      draw(name);
    };
  }

  function controls() {
    const forms = ["lines", "table"].map((form) =>
      button(form, () => change("form")(form), {
        "aria-pressed": String(state.form === form),
        "data-form": form,
      }),
    );
    const names = data.sentences.map((sentence) => sentence.name);
    return element(
      "div",
      { class: "controls", role: "group", "aria-label": "what is shown" },
      choice("sentence", names, state.sentence, change("sentence")),
      choice("layer", data.layers, state.layer, change("layer")),
      choice("head", data.heads, state.head, change("head")),
      element("span", { role: "group", "aria-label": "form" }, ...forms),
    );
  }

  function draw(changed) {
    view.replaceChildren(controls(), state.form === "lines" ? lines() : table(), said);
    say("");
    // What was pressed is made anew: the keyboard stays where it was.
    if (changed === "form") view.querySelector(`[data-form=${state.form}]`).focus();
    const order = ["sentence", "layer", "head"].filter((_, i) =>
      [data.sentences, data.layers, data.heads][i].length > 1);
    if (order.includes(changed)) view.querySelectorAll("select")[order.indexOf(changed)].focus();
  }

  function say(text) {
    said.replaceChildren(...(text ? [text] : withKeys("Point at a token", ", or go through them with the arrow keys")));
  }

  // The greatest weights of a row or column, in words.
  function sentence(name, word, others, numbers) {
    const order = numbers.map((_, j) => j).sort((a, b) => numbers[b] - numbers[a]);
    const told = order.slice(0, 4).map((j) => `${others[j]} ${rounded(numbers[j])}`);
    return `${name} ${word} ${told.join(", ")}${order.length > 4 ? ", …" : ""}`;
  }

  function lines() {
    const { queries, keys, weights } = current();
    const between = shape("svg", {
      "aria-hidden": "true", width: "100%", height: "100%",
      class: queries.length === 2 ? "two" : null,
    });
    const drawn = [];
    queries.forEach((_, i) => {
      keys.forEach((_, j) => {
        const weight = weights[i][j];
        const line = shape("line", {
          x1: "0%", x2: "100%",
          y1: `${(100 * (i + 0.5)) / queries.length}%`,
          y2: `${(100 * (j + 0.5)) / keys.length}%`,
          "stroke-width": 7 * weight, "data-i": i, "data-j": j, "data-value": weight,
        });
        if (weight > 0) between.append(line);
        drawn.push({ line, i, j });
      });
    });
    const label = (word) => element("span", {}, word);
    const left = queries.map((word) => button(label(word), () => {}));
    const right = keys.map((word) => button(label(word), () => {}));

    function point(side, index) {
      const shown = ({ i, j }) => side === null || (side ? j : i) === index;
      drawn.forEach((each) => each.line.setAttribute("opacity", shown(each) ? 0.85 : 0.05));
      [...left, ...right].forEach((each) => {
        each.setAttribute("aria-pressed", "false");
        each.querySelector(".weight")?.remove();
      });
      if (side === null) return say("");
      const here = side ? right[index] : left[index];
      here.setAttribute("aria-pressed", "true");
      const column = weights.map((row) => row[index]);
      const numbers = side ? column : weights[index];
      (side ? left : right).forEach((each, k) =>
        each.append(element("span", { class: "weight" }, rounded(numbers[k]))),
      );
      say(
        side
          ? sentence(keys[index], "is attended to by", queries, column)
          : sentence(queries[index], "attends to", keys, numbers),
      );
    }

    [left, right].forEach((tokens, side) => {
      arrowKeys(tokens, { ArrowDown: 1, ArrowUp: -1 }, (index) => point(side, index));
      tokens.forEach((token, index) => {
        token.addEventListener("pointerenter", () => point(side, index));
        token.addEventListener("click", () => token.focus());
      });
    });
    const sides = element(
      "div",
      {
        class: "sides",
        onpointerleave: () => view.contains(document.activeElement) || point(null),
        onkeydown: (event) => event.key === "Escape" && point(null),
      },
      element("div", { class: "tokens queries", role: "group", "aria-label": "attends" }, ...left),
      between,
      element("div", { class: "tokens keys", role: "group", "aria-label": "is attended to" }, ...right),
    );
    point(null);
    return sides;
  }

  function table() {
    const { queries, keys, weights } = current();
    const dense = keys.length > 12;
    const upright = dense || keys.some((key) => key.length > 4);
    const cells = [];
    const head = element(
      "tr",
      {},
      element("td", {}),
      ...keys.map((key) =>
        element("th", { scope: "col", class: upright ? "upright" : null }, element("span", {}, key)),
      ),
    );
    const rows = queries.map((query, i) =>
      element(
        "tr",
        {},
        element("th", { scope: "row" }, query),
        ...keys.map((key, j) => {
          const cell = element("td", {
            role: "gridcell", "data-i": i, "data-j": j, "data-value": weights[i][j],
          }, rounded(weights[i][j]));
          const [red, green, blue] = cividis(weights[i][j]);
          cell.style.background = `rgb(${red} ${green} ${blue})`;
          cell.style.color = 0.299 * red + 0.587 * green + 0.114 * blue > 140 ? "#000" : "#fff";
          cells.push(cell);
          return cell;
        }),
      ),
    );
    let before = null;
    const visit = (index) => {
      before?.classList.remove("pointed");
      before = cells[index];
      before.classList.add("pointed");
      const [i, j] = [Math.floor(index / keys.length), index % keys.length];
      say(`${queries[i]} attends to ${keys[j]}: ${rounded(weights[i][j], 3)}`);
    };
    const steps = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: keys.length, ArrowUp: -keys.length };
    arrowKeys(cells, steps, visit);
    cells.forEach((cell, index) => cell.addEventListener("pointerenter", () => visit(index)));
    const label = "weights: a row for each token that attends";
    return element(
      "table",
      { role: "grid", "aria-label": label, class: dense ? "dense" : null },
      element("thead", {}, head),
      element("tbody", {}, ...rows),
    );
  }

  draw();
  return followTheme(view);
}

export default { render };
