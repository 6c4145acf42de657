// What all views share: elements, numbers as text, one stop of the Tab key for a group,
// a line that is read aloud, and the theme. No view knows of notebooks or pages.

const SVG = "http://www.w3.org/2000/svg";

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  return filled(made, attributes, children);
}

function shape(name, attributes = {}, ...children) {
  const made = document.createElementNS(SVG, name);
  return filled(made, attributes, children);
}

function filled(made, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined) continue;
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}

// 0.125 → "0.13", −0 → "0.00": what a reader sees; the exact value is in data-value.
function rounded(value, digits = 2) {
  const text = value.toFixed(digits);
  return (Number(text) === 0 ? (0).toFixed(digits) : text).replace("-", "\u2212");
}

// A select with its label; nothing if there is no choice.
function choice(label, names, chosen, choose) {
  if (names.length < 2) return "";
  const select = element(
    "select",
    { onchange: (event) => choose(event.target.selectedIndex) },
    ...names.map((name) => element("option", {}, name)),
  );
  select.selectedIndex = chosen;
  return element("label", {}, `${label} `, select);
}

function button(label, press, attributes = {}) {
  return element("button", { type: "button", onclick: press, ...attributes }, label);
}

// A sentence on what one can do, in which a part is for whom a keyboard is at hand: a
// phone's reader does not see it.
function withKeys(before, keys, after = ".") {
  return [before, element("span", { class: "of-keys" }, keys), after];
}

// One of the items is reached by Tab, the others by arrow keys: steps maps a key to how
// many items it goes on.
function arrowKeys(items, steps, visit) {
  items.forEach((item, index) => {
    item.tabIndex = index ? -1 : 0;
    item.addEventListener("focus", () => visit(index));
    item.addEventListener("keydown", (event) => {
      const ends = { Home: 0, End: items.length - 1 };
      const next = event.key in ends ? ends[event.key] : index + steps[event.key];
      if (!(next in items)) return;
      event.preventDefault();
      event.stopPropagation();
      items.forEach((each, i) => (each.tabIndex = i === next ? 0 : -1));
      items[next].focus();
    });
  });
}

// Whether light text stands on a dark ground: told from the text, whoever set its colour.
function isDark(inside) {
  const parts = getComputedStyle(inside).color.match(/[\d.]+/g) || [0, 0, 0];
  const [red, green, blue] = parts.map(Number);
  return 0.299 * red + 0.587 * green + 0.114 * blue > 128;
}

// Says whether the theme is dark, now and whenever the page changes it.
function followTheme(view) {
  const tell = () => (view.dataset.theme = isDark(view.parentElement) ? "dark" : "light");
  tell();
  const watch = new MutationObserver(tell);
  for (const part of [document.documentElement, document.body]) {
    watch.observe(part, { attributes: true });
  }
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", tell);
  return () => watch.disconnect();
}

// As rounded, with fewer digits for large numbers: for cells of one width.
function short(value) {
  return rounded(value, Math.abs(value) >= 99.95 ? 0 : Math.abs(value) >= 9.995 ? 1 : 2);
}

// A word inside a sentence that keeps its own direction: Hebrew among English numbers.
function isolated(word) {
  return `\u2068${word}\u2069`;
}

// A drawing over a stage, in its pixels, made anew when its size changes. paint gets the
// SVG and a function from a part of the stage to its box. Returns what draws it anew.
function overlay(stage, paint) {
  const svg = shape("svg", { class: "overlay", "aria-hidden": "true" });
  const draw = () => {
    const origin = stage.getBoundingClientRect();
    const box = (part) => {
      const { left, right, top, bottom } = part.getBoundingClientRect();
      const sides = { left: left - origin.left, right: right - origin.left };
      const ends = { top: top - origin.top, bottom: bottom - origin.top };
      const centre = { x: (sides.left + sides.right) / 2, y: (ends.top + ends.bottom) / 2 };
      return { ...sides, ...ends, ...centre };
    };
    svg.replaceChildren();
    paint(svg, box);
  };
  stage.append(svg);
  new ResizeObserver(draw).observe(stage);
  return draw;
}

// A line through points [x, y] with a head at its end.
function arrow(points, attributes = {}) {
  const [[fromX, fromY], [x, y]] = points.slice(-2);
  const angle = (Math.atan2(y - fromY, x - fromX) * 180) / Math.PI;
  return shape(
    "g",
    { ...attributes, class: `arrow ${attributes.class || ""}`.trim() },
    shape("polyline", { points: points.join(" ") }),
    shape("path", { d: "M 0 0 L -6 -3.2 L -6 3.2 Z", transform: `translate(${x} ${y}) rotate(${angle})` }),
  );
}

// As arrowKeys, for items that are no row: next(index, key) is the index of the item to
// which a key leads, or none; first is the one that Tab reaches. Items may be hidden.
function arrowPaths(items, next, visit, first = 0) {
  items.forEach((item, index) => {
    item.tabIndex = index === first ? 0 : -1;
    item.addEventListener("focus", () => visit(index));
    item.addEventListener("keydown", (event) => {
      const other = next(index, event.key);
      if (!(other in items)) return;
      event.preventDefault();
      event.stopPropagation();
      items.forEach((each, i) => (each.tabIndex = i === other ? 0 : -1));
      items[other].focus();
    });
  });
}

// matplotlib's colours for 0, 1/8 … 1, and what is between them.
const CIVIDIS = [
  [0, 34, 78], [18, 53, 112], [59, 73, 109], [87, 93, 109], [112, 113, 115],
  [138, 135, 121], [165, 157, 117], [195, 181, 105], [253, 234, 69],
];

function cividis(value) {
  const place = Math.min(Math.max(value, 0), 1) * (CIVIDIS.length - 1);
  const low = Math.min(Math.floor(place), CIVIDIS.length - 2);
  return CIVIDIS[low].map((from, i) => Math.round(from + (place - low) * (CIVIDIS[low + 1][i] - from)));
}

// Numbers between 0 and 1 that came as text, 10 bits each (``packed`` in Python). There may
// be up to three zeros behind them.
function unpacked(text) {
  const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  return Float64Array.from({ length: (bytes.length / 5) * 4 }, (_, index) => {
    const first = index + (index >> 2); // the byte in which its bits begin
    const both = bytes[first] | (bytes[first + 1] << 8);
    return ((both >> (2 * (index % 4))) & 1023) / 1000;
  });
}
