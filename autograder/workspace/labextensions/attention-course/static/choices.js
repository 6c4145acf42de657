// A prediction's list of options as a choice. Nothing in this module knows JupyterLab or
// the book: both use it, and keep the choice each in its own way.

export const CHOICES_STYLE = `
ul.attention-choices { list-style: none; margin: 0.5em 0; padding: 0; }
.attention-choices li { margin: 0; padding: 0; }
.attention-choices label { display: inline-flex; gap: 0.6em; align-items: baseline; max-width: 100%;
  padding: 0.25em 0.6em; border-radius: 4px; cursor: pointer; }
@media (hover: hover) { .attention-choices label:not(:has(:checked)):hover { background: rgba(128, 128, 128, 0.15); } }
.attention-choices label:has(:checked) { background: rgba(128, 128, 128, 0.15); box-shadow: inset 4px 0 0 currentColor; }
.attention-choices label:has(:focus-visible) { outline: 3px solid currentColor; outline-offset: 1px; }
.attention-choices input { appearance: auto; flex: none; width: auto; height: auto; margin: 0;
  accent-color: currentColor; }
.attention-choices .note { font-weight: 600; }
@media (max-width: 640px) {
  .attention-choices label { flex-wrap: wrap; row-gap: 0; }
  .attention-choices label > span:not(.note) { flex: 1 1 70%; }
  .attention-choices .note:not(:empty) { flex: 1 0 100%; padding-left: 1.8em; }
}
.attention-outcome { border-left: 4px solid currentColor; padding-left: 0.8em; }
.attention-cover { flex: 1 1 auto; padding: 0.6em 0.8em; border: 1px dashed currentColor; border-radius: 4px; }
.attention-cover p { margin: 0 0 0.5em; }
.attention-cover button { font: inherit; color: inherit; background: transparent; padding: 0.2em 0.8em;
  border: 1px solid currentColor; border-radius: 4px; cursor: pointer; }
@media print { .attention-cover { display: none; } }
`;

const CHOOSING = new Set([" ", "ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight"]);
let groups = 0;

/**
 * Make a list of options a group of radio buttons; `choose` is called with an index.
 *
 * A list that is one already stays as it is.
 */
export function offer(list, question, choose) {
  if (list.classList.contains("attention-choices")) return;
  const name = `attention-choices-${(groups += 1)}`;
  list.classList.add("attention-choices");
  list.setAttribute("role", "radiogroup");
  list.setAttribute("aria-label", question);
  [...list.children].forEach((item, index) => {
    item.setAttribute("role", "presentation");
    const [label, input, words, note] = ["label", "input", "span", "span"].map((tag) =>
      document.createElement(tag)
    );
    Object.assign(input, { type: "radio", name });
    input.addEventListener("change", () => choose(index));
    note.className = "note";
    words.append(...item.childNodes);
    label.append(input, words, note);
    item.append(label);
  });
  // These choose; they are no command of the notebook's. All other keys are its own.
  list.addEventListener("keydown", (event) => {
    if (CHOOSING.has(event.key) && !event.ctrlKey && !event.metaKey && !event.altKey) event.stopPropagation();
  });
}

/** Show which option was chosen and, once it is out, which one is right. */
export function update(list, { right, choice }, isOut) {
  [...list.children].forEach((item, index) => {
    const [input, note] = [item.querySelector("input"), item.querySelector(".note")];
    if (!input) return;
    if (input.checked !== (index === choice)) input.checked = index === choice;
    const parts = [index === choice && "your prediction", isOut && index === right && "✓ the result"];
    const text = isOut ? parts.filter(Boolean).join(", ") : "";
    if (note.textContent !== text) note.textContent = text;
  });
}

/** Return the sentence that sets a prediction beside what came out. */
export function outcome(list, { right, choice }) {
  const words = [...list.children].map((item) =>
    item.querySelector("label > span").textContent.trim().replace(/\.$/, "")
  );
  return choice === right
    ? `As you predicted: “${words[right]}”.`
    : `You predicted “${words[choice]}”. What came out: “${words[right]}”.`;
}

/** Return what stands in the place of an explanation until a choice was made. */
export function cover(text, open) {
  const [box, words, button] = ["div", "p", "button"].map((tag) => document.createElement(tag));
  box.className = "attention-cover";
  words.textContent = text;
  Object.assign(button, { type: "button", textContent: "Show it anyway" });
  button.addEventListener("click", open);
  box.append(words, button);
  return box;
}
