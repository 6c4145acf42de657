// An encoder reads the source and a decoder writes the target, one token a step. data:
// source, target, start (the token that the decoder reads first), hidden (a row of numbers
// for each source token), bidirectional (each row is of two halves, and the second one is
// made from the end backwards), states (of the decoder: the first one, and one after each
// step), weights and contexts (a row for each step, or null), query ("before" or "after":
// which state of the step attends), caption.

function render({ model, el }) {
  const data = model.get("data");
  const [m, n] = [data.source.length, data.target.length];
  const last = m + n; // step m is the decoder's first state; step m + t writes token t
  const tokens = [data.start, ...data.target];
  let step = last;
  let pointed = null; // a row or a column of weights: { source: j } or { target: t }
  let timer = 0;

  const view = element("div", { class: "living-view living-encoder_decoder" });
  const said = element("p", { class: "said", "aria-live": "polite" });
  el.append(view);

  // --- controls -------------------------------------------------------------------

  const back = button("◀ back", () => go(step - 1));
  const play = button("▶ play", () => (timer ? pause() : start()));
  const forward = button("forward ▶", () => go(step + 1));
  const slider = element("input", {
    type: "range", min: 0, max: last, step: 1, value: last,
    oninput: () => go(Number(slider.value)),
  });
  const buttons = [play, back, forward];
  arrowKeys(buttons, { ArrowRight: 1, ArrowLeft: -1 }, () => {});
  const still = matchMedia("(prefers-reduced-motion: reduce)");
  const controls = element(
    "div",
    { class: "controls" },
    element("span", { role: "group", "aria-label": "steps", class: "buttons" }, ...buttons),
    element("label", { class: "slider" }, "step ", slider),
  );

  // Who wants no motion has the steps; the one stop of the Tab key is then another button.
  function followMotion() {
    if (still.matches) pause();
    play.hidden = still.matches;
    const shown = buttons.filter((each) => !each.hidden);
    if (!shown.some((each) => each.tabIndex === 0)) shown[0].tabIndex = 0;
    if (!still.matches) buttons.forEach((each) => (each.tabIndex = each === play ? 0 : -1));
  }

  function start() {
    if (step === last) go(0, true);
    play.textContent = "❚❚ pause";
    said.setAttribute("aria-live", "off"); // a line a second cannot be listened to
    wait();
  }

  function wait() {
    timer = setTimeout(() => {
      if (!view.isConnected) return pause();
      go(step + 1, true);
      if (step < last) wait();
      else pause();
    }, step < m ? 450 : 1800);
  }

  function pause() {
    clearTimeout(timer);
    timer = 0;
    play.textContent = "▶ play";
    said.setAttribute("aria-live", "polite");
  }

  function go(to, playing = false) {
    if (!playing) pause();
    step = Math.min(Math.max(to, 0), last);
    pointed = null;
    view.classList.add("moved");
    show();
  }

  // --- the parts --------------------------------------------------------------------

  const every = [...data.hidden, ...data.states, ...(data.contexts || [])].flat();
  const largest = Math.max(...every.map(Math.abs)) || 1;

  // A vector as bars, up from the middle for numbers above 0 and down for those below.
  function bars(numbers, attributes) {
    const parts = numbers.map((value, k) => {
      const height = Math.abs(value) / largest;
      return shape("rect", {
        x: k + 0.12, width: 0.76, y: value > 0 ? 1 - height : 1, height, "data-value": value,
      });
    });
    const halves = data.bidirectional && attributes.class === "hidden" ? 2 : 1;
    const groups = Array.from({ length: halves }, (_, half) =>
      shape("g", {}, ...parts.slice((half * parts.length) / halves, ((half + 1) * parts.length) / halves)),
    );
    const middle = shape("path", { class: "middle", d: `M 0 1 H ${numbers.length}` });
    const box = `0 -0.1 ${numbers.length} 2.2`;
    const drawn = shape("svg", { viewBox: box, preserveAspectRatio: "none", "aria-hidden": "true" }, middle, ...groups);
    return element("div", { ...attributes, class: `bars ${attributes.class}` }, drawn);
  }

  const word = (text) => element("span", {}, text);
  const encoder = data.source.map((token, j) => ({
    token: data.weights ? button(word(token), () => {}) : element("span", { class: "token" }, token),
    weight: element("span", { class: "weight", "data-j": j }),
    bars: bars(data.hidden[j], { class: "hidden", "data-j": j }),
  }));
  const decoder = tokens.map((token, t) => ({
    context:
      t && data.contexts
        ? bars(data.contexts[t - 1], { class: "lv-context", "data-i": t - 1 })
        : element("div", { class: t ? "lv-context plain" : "none" }),
    bars: bars(data.states[t], { class: "state", "data-i": t }),
    token: element("span", { class: t ? "token written" : "token" }, word(token)),
  }));

  const head = (text, attributes = {}) => element("span", { class: "head", ...attributes }, text);
  const stage = element(
    "div",
    { class: "stage", onpointerleave: () => view.contains(document.activeElement) || point(null),
      onkeydown: (event) => event.key === "Escape" && point(null) },
    element(
      "div",
      { class: "side encoder", role: "group", "aria-label": "source tokens and the encoder's hidden states" },
      head("source"), head(data.weights ? "weight" : ""), head("encoder state"),
      ...encoder.flatMap((row) => [row.token, row.weight, row.bars]),
    ),
    element(
      "div",
      { class: "side decoder", role: "group", "aria-label": "the decoder's hidden states and target tokens" },
      head("context"), head("decoder state"), head("target"),
      ...decoder.flatMap((row) => [row.context, row.bars, row.token]),
    ),
  );
  const draw = overlay(stage, paint);

  if (data.weights) {
    const words = encoder.map((row) => row.token);
    arrowKeys(words, { ArrowDown: 1, ArrowUp: -1 }, (j) => point({ source: j }));
    words.forEach((each, j) => {
      each.addEventListener("pointerenter", () => timer || point({ source: j }));
      each.addEventListener("click", () => each.focus());
      each.addEventListener("blur", () => point(null));
    });
  }
  decoder.slice(1).forEach((row, t) => {
    row.token.addEventListener("pointerenter", () => timer || point({ target: t }));
    row.token.addEventListener("click", () => go(m + 1 + t));
  });

  // --- one step ---------------------------------------------------------------------

  function point(what) {
    pointed = what;
    show();
  }

  // The row of weights that is shown in numbers: -1 if there is none.
  function shownRow() {
    if (!data.weights || pointed?.source >= 0) return -1;
    return pointed ? pointed.target : step - m - 1;
  }

  function show() {
    const row = shownRow();
    encoder.forEach(({ token, weight, bars }, j) => {
      const halves = bars.querySelectorAll("g");
      halves[0].classList.toggle("made", step >= j);
      if (halves[1]) halves[1].classList.toggle("made", step >= m - 1 - j);
      const read = step === j || (data.bidirectional && step === m - 1 - j);
      bars.classList.toggle("now", read);
      token.classList.toggle("now", pointed?.source === j || (!pointed && read));
      const value = row < 0 ? null : data.weights[row][j];
      weight.textContent = value === null ? "" : rounded(value);
      if (value === null) weight.removeAttribute("data-value");
      else weight.setAttribute("data-value", value);
      weight.style.setProperty("--weight", value === null ? 0 : value);
    });
    const query = data.weights ? step - (data.query === "before" ? 1 : 0) : -1;
    decoder.forEach(({ context, bars, token }, t) => {
      for (const part of [context, bars, token]) part.classList.toggle("made", step >= m + t);
      for (const part of [context, bars]) part.classList.toggle("now", step === m + t);
      token.classList.toggle("now", pointed ? pointed.target === t - 1 : step === m + t);
      bars.classList.toggle("query", step > m && query === m + t);
    });
    slider.value = step;
    said.textContent = told();
    slider.setAttribute("aria-valuetext", `${step} of ${last}: ${told()}`);
    back.setAttribute("aria-disabled", String(step === 0));
    forward.setAttribute("aria-disabled", String(step === last));
    draw();
  }

  function greatest(words, numbers) {
    const order = numbers.map((_, j) => j).sort((a, b) => numbers[b] - numbers[a]);
    const named = order.slice(0, 3).map((j) => `${words[j]} ${rounded(numbers[j])}`);
    return `${named.join(", ")}${order.length > 3 ? ", …" : ""}`;
  }

  function told() {
    if (pointed?.source >= 0) {
      const written = Math.max(step - m, 0);
      const column = data.weights.slice(0, written).map((row) => row[pointed.source]);
      const name = data.source[pointed.source];
      return written
        ? `${name} is attended to by ${greatest(data.target, column)}`
        : `${name} is attended to when the decoder writes: go on to its steps.`;
    }
    const t = pointed ? pointed.target : step - m - 1;
    if (t >= 0) return `The decoder reads “${tokens[t]}”${met(t)}, and writes “${data.target[t]}”.`;
    if (step === m) return "The decoder begins: its first state comes from the encoder.";
    const backwards = data.bidirectional ? ` forwards and “${data.source[m - 1 - step]}” backwards` : "";
    return `The encoder reads “${data.source[step]}”${backwards}; each state goes into the next.`;
  }

  function met(t) {
    if (data.weights) return `, attends to ${greatest(data.source, data.weights[t])}`;
    return " and the context, the same at every step";
  }

  // --- lines and arrows -------------------------------------------------------------

  function paint(svg, box) {
    const from = encoder.map((row) => box(row.bars));
    const to = decoder.map((row) => ({
      context: box(row.context), state: box(row.bars), token: box(row.token.firstChild),
    }));
    paintReading(svg, from);
    for (let t = 1; t <= step - m; t++) paintWeights(svg, from, to[t].context, t - 1);
    if (step >= m) {
      const start = to[0].state;
      for (const { right, y } of ends(from)) {
        svg.append(shape("path", {
          class: step === m ? "lv-first" : "lv-first past",
          d: `M ${right + 2} ${y} C ${right + 60} ${y} ${start.left - 70} ${start.y} ${start.left - 2} ${start.y}`,
        }));
      }
    }
    for (let t = 1; t <= step - m; t++) {
      const [before, { state, context, token }] = [to[t - 1], to[t]];
      const past = t < step - m ? "past" : "now";
      svg.append(arrow([[state.x, before.state.bottom], [state.x, state.top]], { class: past }));
      if (past === "past") continue;
      const out = state.right + 0.5 * (token.left - state.right) - 3;
      svg.append(
        arrow([[token.left - 2, before.state.y + 5], [state.right - 4, state.top]], { class: past }),
        arrow([[state.right + 1, state.y], [token.left - 4, state.y]], { class: past }),
      );
      // Luong's context goes to the output, Bahdanau's into the new state and to the output.
      if (data.query === "before") {
        svg.append(arrow([[context.right + 1, state.y], [state.left - 1, state.y]], { class: past }));
      }
      const d = `M ${context.x} ${context.bottom} V ${state.bottom + 4} H ${out} V ${state.y}`;
      svg.append(shape("path", { class: "lv-output", d }));
    }
  }

  // The last states of the encoder: of one direction, or of both.
  function ends(from) {
    return data.bidirectional && m > 1 ? [from[m - 1], from[0]] : [from[m - 1]];
  }

  function paintReading(svg, from) {
    const at = (box, share) => box.left + share * (box.right - box.left);
    const share = data.bidirectional ? 0.25 : 0.5;
    for (let j = 1; j < m; j++) {
      const now = step === j ? "now" : "past";
      if (step >= j) {
        const x = at(from[j], share);
        svg.append(arrow([[x, from[j - 1].bottom], [x, from[j].top]], { class: now }));
      }
      if (data.bidirectional && step >= j) {
        const [here, next] = [from[m - j], from[m - 1 - j]];
        const x = at(here, 0.75);
        svg.append(arrow([[x, here.top], [x, next.bottom]], { class: now }));
      }
    }
  }

  function paintWeights(svg, from, context, t) {
    if (!data.weights) {
      for (const { right, y } of t === step - m - 1 ? ends(from) : []) {
        svg.append(shape("line", { class: "weight now", x1: right + 2, y1: y, x2: context.left - 2, y2: context.y, "stroke-width": 3 }));
      }
      return;
    }
    const chosen = (j) => {
      if (!pointed) return t === step - m - 1;
      return pointed.source >= 0 ? pointed.source === j : pointed.target === t;
    };
    data.weights[t].forEach((weight, j) => {
      if (!(weight > 0)) return;
      svg.append(shape("line", {
        class: chosen(j) ? "weight now" : "weight past",
        x1: from[j].right + 2, y1: from[j].y, x2: context.left - 2, y2: context.y,
        "stroke-width": Math.max(7 * weight, 0.3), pathLength: 1,
        "data-i": t, "data-j": j, "data-value": weight,
      }));
    });
  }

  const legend = data.weights ? element("span", { class: "key" }, "query") : "";
  const caption = element("p", { class: "lv-caption" }, legend, data.weights ? ` = the state that attends. ` : "", data.caption);
  view.append(controls, stage, said, caption);
  followMotion();
  still.addEventListener("change", followMotion);
  show();
  return followTheme(view);
}

export default { render };
