// Beam search as a tree that grows downwards, a row for each step. Pointing at a
// hypothesis shows how it came about. data: start, and trees (name, steps of nodes from
// left to right, continuations of each step, best), a node with token, parent, rank,
// sum, score, probability and state ("kept", "pruned" or "finished").

function render({ model, el }) {
  const data = model.get("data");
  const state = { tree: 0, step: 0 };
  const view = element("div", { class: "living-view living-beam" });
  const said = element("p", { class: "said", "aria-live": "polite" });
  el.append(view);
  let nodes = []; // of the tree that is drawn: {t, i, node, made, link}
  let parts = {};

  const current = () => data.trees[state.tree];
  const last = () => current().steps.length - 1;
  const at = (t, i) => nodes.find((each) => each.t === t && each.i === i);
  const isBest = (t, i) => current().best[0] === t && current().best[1] === i;
  const stay = (step) => step.filter((node) => node.state !== "pruned");
  const plural = (n, word) => `${n.toLocaleString("en")} ${word}${n === 1 ? "" : "s"}`;

  // A hypothesis and those that it continues, the first one first.
  function path(t, i) {
    const passed = [];
    for (let node; t >= 0; t -= 1, i = node.parent) {
      node = current().steps[t][i];
      passed.unshift({ t, i, node });
    }
    return passed;
  }

  const words = (t, i) => path(t, i).map(({ node }) => node.token.trim()).join(" ");

  function draw() {
    const names = data.trees.map((tree) => tree.name);
    parts = { tree: tree(), steps: steps(), ends: element("div") };
    parts.back = button("back", () => show(state.step - 1));
    parts.next = button("next", () => show(state.step + 1));
    const select = choice("search", names, state.tree, (index) => {
      state.tree = index;
      state.step = last();
      draw();
      view.querySelector("select").focus();
    });
    const controls = element(
      "div",
      { class: "controls", role: "group", "aria-label": "what is shown" },
      select,
      element("span", { class: "steps", role: "group", "aria-label": "step" }, "step ", ...parts.steps),
      element("span", {}, parts.back, " ", parts.next),
    );
    view.replaceChildren(controls, said, parts.tree, parts.ends);
    show(state.step);
  }

  function steps() {
    const made = current().steps.map((_, t) =>
      button(String(t + 1), () => show(t), { "aria-label": `step ${t + 1}` }),
    );
    const go = { ArrowRight: 1, ArrowLeft: -1 };
    const ends = { Home: 0, End: made.length - 1 };
    const next = (t, key) => (key in ends ? ends[key] : t + go[key]);
    arrowPaths(made, next, (t) => t !== state.step && show(t), state.step);
    return made;
  }

  function tree() {
    nodes = [];
    const all = current().steps;
    const middle = (t, i) => (t < 0 ? 50 : (100 * (i + 0.5)) / all[t].length);
    const rows = all.flatMap((step, t) => {
      const links = shape("svg", {
        class: "links", viewBox: "0 0 100 100", preserveAspectRatio: "none", "aria-hidden": "true",
      });
      const made = step.map((node, i) => {
        const [from, to] = [middle(t - 1, node.parent), middle(t, i)];
        const link = shape("path", {
          d: `M${from} 0C${from} 55 ${to} 45 ${to} 100`, class: node.state,
          "stroke-width": 1 + 5 * node.probability, "data-value": node.probability,
        });
        links.append(link);
        const card = button(element("span", { class: "token" }, node.token.trim() || "␣"), () => {}, {
          class: `node ${node.state}`, "data-t": t, "data-i": i, "aria-pressed": "false",
        });
        card.append(
          element("span", { class: "sum", "data-value": node.sum }, rounded(node.sum)),
          element("span", { class: "state" }, node.state),
        );
        nodes.push({ t, i, node, made: card, link });
        return card;
      });
      const label = element("span", { class: "step" }, element("span", {}, "step "), String(t + 1));
      return [
        element("div", { class: "lv-row above", "data-t": t }, links),
        element("div", { class: "lv-row", "data-t": t }, label, element("div", { class: "nodes" }, ...made)),
      ];
    });
    const cards = nodes.map(({ made }) => made);
    arrowPaths(cards, neighbour, (index) => point(nodes[index]));
    nodes.forEach((each) => {
      each.made.addEventListener("pointerenter", () => point(each));
      each.made.addEventListener("click", () => each.made.focus());
    });
    return element(
      "div",
      {
        class: "tree", role: "group", "aria-label": "hypotheses, a row for each step",
        onpointerleave: () => parts.tree.contains(document.activeElement) || point(null),
        onkeydown: (event) => event.key === "Escape" && point(null),
      },
      element("div", { class: "lv-row" }, element("div", { class: "nodes" }, element("span", { class: "root" }, data.start))),
      ...rows,
    );
  }

  // Sideways in a step, up to the parent, down to the best continuation.
  function neighbour(index, key) {
    const { t, i } = nodes[index];
    const step = current().steps[t];
    const below = t < state.step ? current().steps[t + 1] : [];
    const children = below.map((node, j) => ({ node, j })).filter(({ node }) => node.parent === i);
    children.sort((a, b) => a.node.rank - b.node.rank);
    const [toStep, toIndex] = {
      ArrowLeft: [t, i - 1],
      ArrowRight: [t, i + 1],
      Home: [t, 0],
      End: [t, step.length - 1],
      ArrowUp: [t - 1, step[i].parent],
      ArrowDown: [t + 1, children[0]?.j],
    }[key] || [];
    return nodes.findIndex((each) => each.t === toStep && each.i === toIndex);
  }

  function show(step) {
    state.step = Math.min(Math.max(step, 0), last());
    const hadFocus = parts.tree.contains(document.activeElement);
    parts.tree.querySelectorAll("[data-t]").forEach((each) => {
      each.classList.toggle("later", Number(each.dataset.t) > state.step);
    });
    parts.steps.forEach((each, t) => {
      each.setAttribute("aria-pressed", String(t === state.step));
      each.tabIndex = t === state.step ? 0 : -1;
    });
    parts.back.setAttribute("aria-disabled", String(state.step === 0));
    parts.next.setAttribute("aria-disabled", String(state.step === last()));
    const ended = state.step === last();
    nodes.forEach(({ t, i, node, made }) => {
      const best = ended && isBest(t, i);
      made.classList.toggle("best", best);
      made.querySelector(".state").textContent = best ? "★ best" : node.state;
    });
    const reached = hadFocus ? nodes.find(({ made }) => made === document.activeElement) : null;
    nodes.forEach(({ made }) => (made.tabIndex = -1));
    (reached && reached.t <= state.step ? reached : at(state.step, 0)).made.tabIndex = 0;
    parts.ends.replaceChildren(...ends());
    point(null);
  }

  function point(pointed) {
    const ended = state.step === last();
    const shown = pointed || (ended ? at(...current().best) : null);
    const passed = shown ? path(shown.t, shown.i).map(({ t, i }) => at(t, i)) : [];
    nodes.forEach((each) => {
      each.made.setAttribute("aria-pressed", String(each === pointed));
      each.made.classList.toggle("passed", passed.includes(each));
      each.link.classList.toggle("passed", passed.includes(each));
    });
    parts.tree.classList.toggle("pointed", Boolean(pointed));
    said.textContent = pointed ? hypothesis(pointed) : ofStep();
  }

  function hypothesis({ t, i, node }) {
    const before = t ? current().steps[t - 1][node.parent].sum : 0;
    const place = `${node.rank + 1} of ${current().continuations[t].toLocaleString("en")} in step ${t + 1}`;
    const sum = t
      ? `sum ${rounded(before)} + ln ${rounded(node.probability)} = ${rounded(node.sum)}`
      : `sum ln ${rounded(node.probability)} = ${rounded(node.sum)}`;
    const ended = node.state === "finished" || (node.state === "kept" && t === last());
    const score = ended ? `; score ${rounded(node.score)}` : "";
    const best = state.step === last() && isBest(t, i) ? ", the best score" : "";
    return `“${words(t, i)}”: ${sum}, ${place}; ${node.state}${score}${best}.`;
  }

  function ofStep() {
    const t = state.step;
    const step = current().steps[t];
    const count = (name) => step.filter((node) => node.state === name).length;
    const before = t ? stay(current().steps[t - 1]).filter((node) => node.state === "kept").length : 1;
    const begin = `Step ${t + 1}: ${t ? plural(before, "unfinished hypothesis").replace("hypothesiss", "hypotheses") : "the start"} → ${plural(current().continuations[t], "continuation")}`;
    const rest = current().continuations[t] - stay(step).length;
    const told = [["kept", count("kept")], ["finished", count("finished")], ["pruned", rest]];
    const states = told.filter(([, n]) => n).map(([name, n]) => `${n.toLocaleString("en")} ${name}`);
    const best = t === last() ? ` Best score: “${words(...current().best)}”.` : "";
    return `${begin}: ${states.join(", ")}.${best}`;
  }

  // What may be chosen at the end, the best score first.
  function ends() {
    const ended = nodes.filter(({ t, node }) =>
      t <= state.step && (node.state === "finished" || (node.state === "kept" && t === last())));
    if (!ended.length) return [];
    ended.sort((a, b) => b.node.score - a.node.score);
    const cell = (value, name) =>
      element("td", { "data-value": value, class: name }, rounded(value));
    const rows = ended.map(({ t, i, node, made }) =>
      element(
        "tr",
        { class: made.classList.contains("best") ? "best" : null },
        element("th", { scope: "row" }, `${made.classList.contains("best") ? "★ " : ""}${words(t, i)}`),
        cell(node.sum, "sum"),
        element("td", {}, String(t + 1)),
        cell(node.score, "score"),
      ),
    );
    const head = ["hypothesis", "sum", "length", "score"].map((name) => element("th", { scope: "col" }, name));
    const caption = state.step < last() ? "finished so far"
      : "at the end: score = sum ÷ length penalty, and the greatest is chosen";
    return [element("table", {}, element("caption", {}, caption),
      element("thead", {}, element("tr", {}, ...head)), element("tbody", {}, ...rows))];
  }

  state.step = last();
  draw();
  return followTheme(view);
}

export default { render };
