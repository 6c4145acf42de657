// A model of one parameter and its loss: the values from left to right, and the gradients
// from right to left, one at a time. data: w, x, target, learning_rate (of a step).

function render({ model, el }) {
  const { w: first, x, target, learning_rate: rate } = model.get("data");
  const reach = Math.max(4, 1.5 * Math.abs(target / x - first)); // of the slider, on both sides
  const [low, high] = [Math.floor(first - reach), Math.ceil(first + reach)];
  const view = element("div", { class: "living-view living-backward-pass" });
  const said = element("p", { class: "said", "aria-live": "polite" });
  let w = first;
  let known = 0; // how many gradients, counted from the loss
  let losses = [];

  const size = (number) => String(number).replace("-", "\u2212");
  const values = () => {
    const error = w * x - target;
    return [w, w * x, error, error * error];
  };
  const gradients = () => {
    const back = 2 * values()[2];
    return [back * x, back, back, 1];
  };
  // What multiplies a gradient on its way from a value to the one on its left.
  const factors = () => [size(x), "1", rounded(gradients()[2])];
  const names = ["w", "guess", "error", "loss"];
  const formulas = ["the parameter", `w \u00b7 ${size(x)}`, `guess \u2212 ${size(target)}`.replace("\u2212 \u2212", "+ "), "error\u00b2"];

  // --- what is there ------------------------------------------------------------

  const boxes = names.map((name, i) => {
    const value = element("span", { class: "bp-value" });
    const gradient = element("span", { class: "bp-gradient" });
    const item = element("li", { class: "bp-box" },
      element("span", { class: "bp-name" }, element("strong", {}, name), ` ${formulas[i]}`), value, gradient);
    return { item, value, gradient };
  });
  const links = names.slice(1).map(() => {
    const factor = element("span", { class: "bp-factor" });
    const item = element("li", { class: "bp-link", "aria-hidden": "true" }, element("span", { class: "bp-forward" }), factor);
    return { item, factor };
  });
  const slider = element("input", {
    type: "range", min: low, max: high, step: 0.05, value: first,
    oninput: () => move(Number(slider.value)),
  });
  const shownW = element("output", {});
  const back = button("One value back", () => goBack(1));
  const all = button("All the way back", () => goBack(4));
  const step = button(`Step: w \u2212 ${rate} \u00b7 gradient`, () => takeStep());
  const anew = button("From the start", () => { losses = []; move(first); });
  const history = element("p", { class: "bp-history" });

  // --- what it does -------------------------------------------------------------

  function move(value) {
    w = value;
    known = 0;
    draw();
    said.textContent = "Forward: each value comes from the one on its left. How does the loss change with w? Go back to find out.";
  }

  function goBack(count) {
    const before = known;
    known = Math.min(4, known + count);
    draw();
    const i = 4 - known; // the leftmost that is known
    const [g, f] = [gradients().map((each) => rounded(each)), factors()];
    const rule = [
      `guess = w \u00b7 ${size(x)}: each unit of w counts ${size(x)} times. ${g[1]} \u00b7 ${f[0]} = ${g[0]}.`,
      `A unit more in the guess is a unit more in the error: ${g[2]} \u00b7 1 = ${g[1]}.`,
      `The derivative of error\u00b2 is 2 \u00b7 error = ${g[2]}.`,
      "The loss changes with itself one to one: 1.",
    ][i];
    const tells = i === 0 ? ` With w a little larger, the loss ${gradients()[0] > 0 ? "rises" : gradients()[0] < 0 ? "falls" : "stays"}.` : "";
    said.textContent = before === 4 ? "All gradients are there: take a step." : `${rule}${tells}`;
  }

  function takeStep() {
    if (!losses.length) losses.push(values()[3]);
    w = Math.min(high, Math.max(low, w - rate * gradients()[0]));
    losses = [...losses, values()[3]].slice(-7);
    known = 0;
    draw();
    said.textContent = `After the step the loss is ${rounded(values()[3])}. The gradients belong to the old w: go back again for new ones.`;
    all.focus();
  }

  function draw() {
    slider.value = w;
    shownW.textContent = rounded(w);
    const [v, g, f] = [values(), gradients(), factors()];
    boxes.forEach(({ item, value, gradient }, i) => {
      const there = i >= 4 - known;
      value.textContent = rounded(v[i]);
      value.dataset.value = v[i];
      gradient.textContent = there ? `gradient ${rounded(g[i])}` : "gradient ?";
      gradient.dataset.value = there ? g[i] : "";
      item.classList.toggle("bp-known", there);
    });
    links.forEach(({ item, factor }, i) => {
      const there = i >= 4 - known;
      factor.textContent = there ? `\u00b7 ${f[i]}` : "";
      item.classList.toggle("bp-known", there);
    });
    step.disabled = known < 4;
    back.disabled = all.disabled = known === 4;
    history.textContent = losses.length ? `loss: ${losses.map((each) => rounded(each)).join(" \u2192 ")}` : "";
  }

  view.append(
    element("div", { class: "controls" },
      element("label", {}, element("span", {}, "w "), slider, " ", shownW), back, all, step, anew),
    element("ol", { class: "bp-row" }, ...boxes.flatMap(({ item }, i) => (i ? [links[i - 1].item, item] : [item]))),
    history,
    said,
  );
  el.append(view);
  move(first);
  return followTheme(view);
}

export default { render };
