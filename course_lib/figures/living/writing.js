// The reader's own text in the view of the next token: it goes through the model while one
// types, is written on, and shows what is inside: the cache, and every head's attention.

// view.begin(ids), view.draw(u, isWanted), view.name(id), view.tell(text), view.isQuiet(yes): see there.
// Returns the parts of the page box and inside, and what the view asks while it is drawn.
function ownWords(data, view) {
  const AT_ONCE = 60; // tokens, before it stops by itself
  const PAUSE = 40; // milliseconds between two, so that they are seen one by one
  const SLOW = 300; // milliseconds, after which the reader is told that it takes long
  let model = null, opening = null, running = false;
  let ids = []; // those that were read last
  let first = 0; // of them, the one with which the model's context begins
  let tokens = []; // their boxes, from first on
  let chosenHead = null; // [layer, head], or none for the mean of all
  let latest = 0; // number of the last text
  let base = data.text; // what the reader has typed, without what was drawn

  const text = element("textarea", {
    rows: 2, dir: "auto", spellcheck: "false", autocapitalize: "off", "data-lm-suppress-shortcuts": "true",
    onfocus: () => open(),
    oninput: () => typed(),
    onkeydown: (event) => {
      if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      event.stopPropagation();
      write(AT_ONCE);
    },
  });
  text.value = data.text;
  const status = element("p", { class: "model-status", role: "status" }, "A stored example. Type, and a model that the course has trained on Shakespeare's plays reads along, in your browser.");
  const whose = element("p", { class: "whose", "aria-live": "polite" });
  const learners = data.asks ? ownDraws(whose) : null; // their functions in the notebook
  const writeOn = button("write on", () => (running ? stop() : write(AT_ONCE)));
  const one = button("one token", () => write(1));
  const box = element(
    "div",
    { class: "own" },
    element("label", {}, element("span", {}, "Your text", element("span", { class: "of-keys" }, " (Ctrl-Enter writes on)")), text),
    element("div", { class: "controls", role: "group", "aria-label": "write on" }, writeOn, one),
    status,
    ...(data.asks ? [whose] : []),
  );

  const filled = element("span", { class: "from-before" });
  const newest = element("span", { class: "new" });
  const cache = element("div", { class: "cache", role: "img", "aria-label": "cache" }, filled, newest);
  const inCache = element("p", { class: "in-cache" });
  const heads = element("div", { class: "heads", role: "group", "aria-label": "attention of every head" });
  const attends = element("p", { class: "attends", "aria-live": "polite" });
  const legend = element("p", { class: "in-cache" }, "A box is a head (layer.head), with a bar for each token, as high as its weight. Press one to see it alone.");
  const inside = element("div", { class: "inside", hidden: "" }, inCache, cache, attends, heads, legend);

  // --- the model ---

  function open() {
    if (!opening) status.textContent = "Loading the model …";
    opening ??= openModel(data.model).then(
      (opened) => {
        if (opened.about.names.length !== data.vocabulary.length) {
          opened.close();
          throw new Error("The model file is of another version of the course.");
        }
        model = opened;
        makeHeads();
        inside.hidden = false;
        return typed();
      },
    ).catch((error) => {
      status.textContent = `${error.message} What you see is a stored example.`;
      text.readOnly = true;
      for (const each of [writeOn, one]) each.setAttribute("aria-disabled", "true");
    });
    return opening;
  }

  async function typed() {
    stop();
    if (!model) return open(); // which comes back to this
    const number = ++latest;
    base = text.value;
    const slow = setTimeout(() => number === latest && (status.textContent = "The model is reading …"), SLOW);
    const { ids: own } = await model.encode(base);
    if (number === latest) await view.begin(own);
    clearTimeout(slow);
    if (number === latest) status.textContent = remarks(own);
  }

  // What a reader should know of this text.
  function remarks(own) {
    const { config, nParameters } = model.about;
    const size = `${rounded(nParameters / 1e6)} million parameters`;
    if (!own.length) return `The model has ${size} and knows Shakespeare's plays alone. Nothing that you type leaves your browser.`;
    const cut = own.length > config.n_positions
      ? ` The model reads the last ${own.length - contextStart(own.length)} of them: its context has ${config.n_positions}.`
      : "";
    const bytes = own.filter((id) => id < 256).length;
    const odd = own.length > 3 && bytes > own.length / 2
      ? " Most are single letters or bytes: the plays hardly have such words, so what follows is a guess."
      : "";
    return `You typed ${own.length} token${own.length === 1 ? "" : "s"}.${cut}${odd} The model has ${size}; nothing leaves your browser.`;
  }

  // When the context is full, its later half is read again, as generate does in Python.
  function contextStart(length) {
    const most = model.about.config.n_positions;
    const half = Math.floor(most / 2) + 1;
    return length <= most ? 0 : half * Math.ceil((length - most) / half);
  }

  /** Return the logits after all token ids, of which the last ones were drawn. */
  async function read(all, drawnIds) {
    ids = all;
    first = contextStart(all.length);
    const none = { reused: 0, computed: 0, milliseconds: 0 };
    const [answer, after] = await Promise.all([all.length ? model.read(all.slice(first)) : none, model.decode(drawnIds)]);
    if (ids !== all) return answer.logits;
    showCache(answer);
    if (text.value !== base + after) {
      text.value = base + after;
      text.scrollTop = text.scrollHeight;
    }
    return answer.logits;
  }

  // --- writing on ---

  async function write(count) {
    await open();
    if (!model || running) return;
    running = true;
    learners?.reset();
    writeOn.textContent = "stop";
    setQuiet(count > 1);
    const number = latest;
    const isWanted = () => running && number === latest;
    for (let i = 0; running && i < count; i++) {
      if (!(await view.draw(Math.random(), isWanted)) || number !== latest) break;
      if (count > 1) await new Promise((done) => setTimeout(done, PAUSE));
    }
    if (number === latest) stop();
  }

  function stop() {
    running = false;
    writeOn.textContent = "write on";
    setQuiet(false);
  }

  // While it writes, nothing of it is read aloud.
  function setQuiet(isQuiet) {
    view.isQuiet(isQuiet);
    for (const each of [attends, whose]) each.setAttribute("aria-live", isQuiet ? "off" : "polite");
  }

  // --- what is inside ---

  function showCache({ reused, computed, milliseconds }) {
    const { n_positions: most, n_layers: layers, n_heads: nHeads, n_kv_heads: shared, d_model: dModel } = model.about.config;
    filled.style.width = `${(100 * reused) / most}%`;
    newest.style.width = `${(100 * computed) / most}%`;
    const total = reused + computed;
    const numbers = total * 2 * layers * (dModel / nHeads) * (shared ?? nHeads);
    inCache.textContent = `Cache: keys and values of ${total} of ${most} tokens, ${numbers.toLocaleString("en")} numbers. ${computed} computed now in ${Math.max(1, Math.round(milliseconds))} ms, ${reused} from before.`;
    cache.setAttribute("aria-label", `cache: ${total} of ${most} positions filled, ${computed} of them now`);
    Object.assign(cache.dataset, { reused, computed });
  }

  function makeHeads() {
    const { n_layers: layers, n_heads: nHeads } = model.about.config;
    heads.style.setProperty("--heads", nHeads);
    const all = Array.from({ length: layers * nHeads }, (_, i) => [Math.floor(i / nHeads), i % nHeads]);
    heads.replaceChildren(...all.map((each) => {
      const [layer, head] = each;
      const drawing = shape("svg", { viewBox: "0 0 100 20", preserveAspectRatio: "none", "aria-hidden": "true" }, shape("path"));
      const made = button("", () => choose(each), { class: "head", "aria-pressed": "false", "aria-label": `layer ${layer + 1}, head ${head + 1}` });
      made.append(element("span", {}, `${layer + 1}.${head + 1}`), drawing);
      return made;
    }));
    arrowKeys([...heads.children], { ArrowRight: 1, ArrowLeft: -1, ArrowDown: nHeads, ArrowUp: -nHeads }, () => {});
  }

  function choose(head) {
    chosenHead = String(chosenHead) === String(head) ? null : head;
    const { n_heads: nHeads } = model.about.config;
    [...heads.children].forEach((each, i) => {
      const isChosen = chosenHead && chosenHead[0] * nHeads + chosenHead[1] === i;
      each.setAttribute("aria-pressed", String(Boolean(isChosen)));
    });
    showAttention(shown);
  }

  let shown = 0; // the position whose attention is drawn

  async function showAttention(position) {
    shown = position;
    if (!model || !tokens.length) return;
    const drawnTokens = tokens;
    const weights = await model.weights(position);
    if (!weights || shown !== position || tokens !== drawnTokens) return;
    weights.flat().forEach((head, i) => drawHead(heads.children[i], head));
    const all = chosenHead ? [weights[chosenHead[0]][chosenHead[1]]] : weights.flat();
    const mean = Array.from({ length: position + 1 }, (_, t) => all.reduce((a, head) => a + head[t], 0) / all.length);
    const largest = Math.max(...mean); // its line is as wide as its token
    tokens.forEach((token, t) => {
      token.style.setProperty("--share", (mean[t] ?? 0) / largest);
      token.dataset.share = mean[t] ?? 0;
      token.classList.toggle("query", t === position);
    });
    const most = mean.map((share, t) => [share, t]).sort((a, b) => b[0] - a[0] || a[1] - b[1]).slice(0, 3);
    const which = chosenHead ? `head ${chosenHead[1] + 1} of layer ${chosenHead[0] + 1}` : "the mean of all heads";
    const name = (t) => `“${isolated(view.name(ids[first + t]))}” ${rounded(mean[t])}`;
    attends.textContent = `“${isolated(view.name(ids[first + position]))}” attends, by ${which}, most to ${most.map(([, t]) => name(t)).join(", ")}.`;
  }

  function drawHead(head, weights) {
    const width = 100 / weights.length;
    const bars = Array.from(weights, (weight, t) => `M${(t * width).toFixed(2)} 20v${(-20 * weight).toFixed(2)}h${(0.9 * width).toFixed(2)}V20Z`);
    head.querySelector("path").setAttribute("d", bars.join(""));
    head.dataset.weights = Array.from(weights, (weight) => weight.toFixed(4)).join(" ");
  }

  /** Make the boxes of all tokens show whom they attend to; return those in the context. */
  function attended(all) {
    tokens = all.slice(first);
    arrowKeys(tokens, { ArrowRight: 1, ArrowLeft: -1 }, (position) => showAttention(position));
    tokens.forEach((each, position) => each.addEventListener("pointerenter", () => showAttention(position)));
    if (tokens.length) showAttention(tokens.length - 1);
    else attends.textContent = "";
    return first ? [element("span", { class: "cut-off" }, `… ${first} tokens`), ...tokens] : tokens;
  }

  return {
    box, inside, read, stop, attended, learners,
    get isOpen() {
      return Boolean(model);
    },
    get isWriting() {
      return running;
    },
  };
}
