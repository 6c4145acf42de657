// What may come next: probabilities of tokens under temperature, top-k and top-p, and a
// sequence that grows by the token whose bar is pressed. data: vocabulary, start (token
// ids), end (a token id or null), contexts (token ids joined by spaces → logits), and
// temperature, top_k and top_p as they are at first. If there is also model, a model's file,
// the reader's own text goes through it (writing.js); the contexts are then an example, with
// which the view begins, and which stays if the model cannot be had. text is the start's; asks is
// whether a notebook may be asked for the learner's own functions (own_draws.js).

function render({ model, el }) {
  const data = model.get("data");
  const size = data.vocabulary.length;
  const SHOWN = 12; // bars; what is less probable is summed up in one line
  // Of the slider, whose next stop is "all": where it starts is on it, unless that is all.
  const MOST_K = Math.min(size, Math.max(30, data.top_k < size ? data.top_k : 0));
  const state = {
    temperature: data.temperature,
    top_k: Math.min(data.top_k, MOST_K + (size > MOST_K ? 1 : 0)),
    top_p: data.top_p,
    chosen: [], // {id, probability}
  };
  const view = element("div", { class: "living-view living-next" });
  const said = element("p", { class: "said", "aria-live": "polite" });
  const sequence = element("p", { class: "sequence" });
  const place = element("div", { class: "bars", role: "group", "aria-label": "next token" });
  const rest = element("p", { class: "rest" });
  el.append(view);
  let pointed = null; // the bar that is told about
  let bars = []; // {id, row, …}, the most probable first
  let start = data.start;
  let contexts = data.contexts; // or the one of the reader's text
  const OWN_PAUSE = 350; // milliseconds of rest, before the learner's top_p_filter is asked
  let ownCut = null; // {of, kept}: a situation, and what the learner's top_p_filter leaves in it
  let resting = 0;

  const name = (id) => data.vocabulary[id].trim() || (data.vocabulary[id].includes("\n") ? "⏎" : "␣");
  const ids = () => [...start, ...state.chosen.map(({ id }) => id)];
  const logitsAfter = (...more) => contexts[[...ids(), ...more].join(" ")];
  const words = () => ids().map(name).join(" ");
  const allowed = () => (state.top_k > MOST_K ? size : state.top_k);

  const settings = () => ({ temperature: state.temperature, topK: allowed(), topP: state.top_p });

  const situation = () => JSON.stringify([ids(), settings()]);

  // The tokens as the settings leave them, by the learner's function if it has been asked.
  function tokensOf(logits) {
    const all = distribution(logits, settings());
    if (ownCut?.of !== situation()) return all;
    return all.map((each) => {
      const after = ownCut.kept.get(each.id) ?? 0;
      return { ...each, after, cut: after ? "" : each.cut || "top-p" };
    });
  }

  function askOwnCut() {
    if (!own?.learners || !own.isOpen || own.isWriting) return;
    const now = ++resting;
    setTimeout(async () => {
      const logits = logitsAfter();
      if (now !== resting || !logits) return;
      const of = situation();
      own.learners.reset();
      const answer = await own.learners.ask(distribution(logits, settings()), state.top_p);
      if (!answer || of !== situation()) return;
      ownCut = { of, kept: new Map(answer.kept) };
      update();
      if (pointed) tell(pointed);
      else tellSettings();
    }, OWN_PAUSE);
  }

  function slider(label, key, low, high, step, shownAs) {
    // No output element: a label would be for it, and not for the slider.
    const shown = element("span", { class: "value", "aria-hidden": "true" }, shownAs(state[key]));
    const input = element("input", {
      type: "range", min: low, max: high, step, value: state[key],
      "aria-valuetext": shownAs(state[key]),
      oninput: () => {
        state[key] = Number(input.value);
        shown.textContent = shownAs(state[key]);
        input.setAttribute("aria-valuetext", shownAs(state[key]));
        update();
        tellSettings();
        askOwnCut();
      },
    });
    return element("label", {}, element("span", {}, `${label} `, shown), input);
  }

  function controls() {
    const all = size > MOST_K ? MOST_K + 1 : MOST_K;
    return element(
      "div",
      { class: "controls", role: "group", "aria-label": "how the next token is chosen" },
      slider("temperature", "temperature", 0.1, 2, 0.1, (value) => value.toFixed(1)),
      slider("top-k", "top_k", 1, all, 1, (value) => (value >= all ? "all" : String(value))),
      slider("top-p", "top_p", 0.05, 1, 0.05, (value) => value.toFixed(2)),
    );
  }

  const steps = {
    likely: button("most likely", () => bars.length && press(bars[0])),
    back: button("take back", () => state.chosen.length && goTo(state.chosen.slice(0, -1))),
    start: button("from the start", () => state.chosen.length && goTo([])),
  };

  // A bar becomes wider or narrower as a slider moves: it is made once for a context.
  function makeBars() {
    const logits = logitsAfter();
    bars = logits ? distribution(logits, settings()).slice(0, SHOWN).map(({ id }) => makeBar(id, logits[id])) : [];
    place.replaceChildren(...bars.map(({ row }) => row));
    arrowKeys(bars.map(({ row }) => row), { ArrowDown: 1, ArrowUp: -1 }, (index) => tell(bars[index]));
  }

  function makeBar(id, logit) {
    const bar = { id, logit, goesOn: id === data.end || Boolean(own?.isOpen || logitsAfter(id)) };
    bar.fill = element("span", { class: "fill" });
    bar.mark = element("span", { class: "lv-mark" });
    bar.why = element("span", { class: "why" });
    bar.number = element("span", { class: "number" });
    bar.row = button(
      element("span", { class: "token" }, name(id)),
      () => press(bar),
      { class: "bar", "data-id": id },
    );
    const track = element("span", { class: "track" }, bar.fill, bar.why, bar.mark);
    bar.row.append(track, bar.number);
    bar.row.addEventListener("pointerenter", () => tell(bar));
    return bar;
  }

  function ended() {
    if (own?.isOpen) return "There is no token yet: type something, and the model goes on from there.";
    const last = state.chosen.at(-1);
    return last && last.id === data.end
      ? `“${name(last.id)}”: the sequence is complete.`
      : `Here the data end: no logits were stored for what follows “${words()}”. Take a token back, and choose another.`;
  }

  // Writes the numbers of the present settings into the bars.
  function update() {
    const logits = logitsAfter();
    rest.textContent = "";
    said.classList.toggle("ended", !logits);
    if (!logits) return;
    const all = tokensOf(logits);
    const cuts = all.some(({ cut }) => cut);
    // Half of the probability is as wide as the page: else most bars would be short.
    const wide = 100 / Math.max(0.5, all[0].after);
    bars.forEach((bar, rank) => {
      Object.assign(bar, all[rank]);
      bar.row.classList.toggle("cut", Boolean(bar.cut));
      bar.row.setAttribute("aria-disabled", String(Boolean(bar.cut)));
      bar.row.dataset.value = bar.after;
      bar.row.dataset.before = bar.before;
      bar.fill.style.width = `${wide * (bar.cut ? bar.before : bar.after)}%`;
      bar.mark.style.insetInlineStart = `${wide * bar.before}%`;
      bar.mark.hidden = !cuts || Boolean(bar.cut);
      bar.why.textContent = bar.cut ? `cut by ${bar.cut}` : "";
      bar.number.textContent = bar.cut ? "0" : rounded(bar.after);
    });
    const marks = cuts ? "dotted line: the probability before the cut" : "";
    const others = all.slice(SHOWN);
    if (!others.length) return (rest.textContent = marks);
    const sum = others.reduce((a, { after }) => a + after, 0);
    const left = others.filter(({ cut }) => !cut).length;
    const which = left === others.length ? "" : left ? `, ${left} of them not cut` : ", all cut";
    rest.textContent = `and ${others.length} more tokens, together ${rounded(sum)}${which}${marks && `; ${marks}`}`;
  }

  function tell(bar) {
    const { id, logit, before, after, cut, goesOn } = bar;
    pointed = bar;
    const tempered = `${rounded(before)} at temperature ${state.temperature.toFixed(1)}`;
    const then = cut ? `; cut by ${cut}, so it cannot be drawn`
      : after - before > 5e-4 ? `, ${rounded(after)} once others are cut` : "";
    const more = goesOn || cut ? "" : ". After it the data end";
    said.textContent = `“${name(id)}”: logit ${rounded(logit)}, probability ${tempered}${then}${more}.`;
  }

  function tellSettings() {
    const logits = logitsAfter();
    pointed = null;
    if (!logits) return (said.textContent = ended());
    const left = tokensOf(logits).filter(({ cut }) => !cut);
    const before = left.reduce((a, each) => a + each.before, 0);
    const had = before < 0.995
      ? `; before the cut they had ${rounded(before)} of the probability`
      : "; the others had next to no probability";
    const share = left.length < size ? had : "";
    const ofText = own?.isOpen ? "your text" : `“${words()}”`;
    said.textContent = `After ${ofText} ${left.length} of ${size} tokens can be drawn${share}. Press a bar.`;
  }

  function press(bar) {
    if (bar.cut) return tell(bar);
    const inBars = place.contains(document.activeElement);
    own?.stop();
    goTo([...state.chosen, { id: bar.id, probability: bar.after }], () => inBars && (bars[0]?.row || steps.back).focus());
  }

  // The logits of a reader's text take a moment; meanwhile the ones before stay.
  function goTo(chosen, then = () => {}) {
    state.chosen = chosen;
    if (!own?.isOpen) return show(), then();
    const asked = ids();
    return own.read(asked, chosen.map(({ id }) => id)).then((logits) => {
      if (asked.join(" ") !== ids().join(" ")) return; // the reader has gone on
      contexts = logits ? { [asked.join(" ")]: logits } : {};
      show();
      then();
    });
  }

  function show() {
    makeBars();
    update();
    const chosen = state.chosen;
    const token = (id, probability) => element(
      own?.isOpen ? "button" : "span",
      { type: own?.isOpen ? "button" : null, class: probability === null ? "token" : "token drawn" },
      element("span", {}, name(id)),
      probability === null ? "" : element("small", { "data-value": probability }, rounded(probability)),
    );
    const tokens = [...start.map((id) => token(id, null)), ...chosen.map(({ id, probability }) => token(id, probability))];
    sequence.replaceChildren(
      ...(own?.isOpen ? own.attended(tokens) : tokens),
      bars.length ? element("span", { class: "next", "aria-hidden": "true" }, "?") : "",
    );
    const disabled = { likely: !bars.length, back: !chosen.length, start: !chosen.length };
    for (const [key, off] of Object.entries(disabled)) {
      steps[key].setAttribute("aria-disabled", String(off));
    }
    tellSettings();
    askOwnCut();
  }

  const own = data.model && ownWords(data, {
    name,
    tell: (text) => (said.textContent = text),
    isQuiet(isQuiet) {
      said.setAttribute("aria-live", isQuiet ? "off" : "polite");
      if (!isQuiet) askOwnCut();
    },
    /** Begin with the token ids of another text. */
    begin(other) {
      start = other;
      return goTo([]);
    },
    /** Draw one more token; return whether there was one. */
    async draw(u, isWanted) {
      const logits = logitsAfter();
      if (!logits) return false;
      const tokens = distribution(logits, settings());
      const before = ids().join(" ");
      const answer = await own.learners?.ask(tokens, state.top_p, u);
      if (answer && (!isWanted() || before !== ids().join(" "))) return false;
      const { id, after } = answer ? { id: answer.id, after: answer.probability } : drawn(tokens, u);
      await goTo([...state.chosen, { id, probability: after }]);
      return true;
    },
  });

  const buttons = element("div", { class: "controls", role: "group", "aria-label": "sequence" }, ...Object.values(steps));
  place.addEventListener("pointerleave", () => place.contains(document.activeElement) || tellSettings());
  view.append(...(own ? [own.box] : []), controls(), sequence, buttons, said, place, rest, ...(own ? [own.inside] : []));
  goTo([]);
  return followTheme(view);
}

export default { render };
