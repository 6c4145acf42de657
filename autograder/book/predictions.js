// Predictions in the book: the choice is kept by the browser, and what came out of the run
// is covered until a choice was made. Without a script all of it stands on the page.

const WAIT = "Predict above: what the run gives is shown then.";

function keyOf(prediction) {
  return `attention-course ${location.pathname} ${prediction.dataset.name}`;
}

/** Return the choice that was kept, or null; some browsers keep nothing for a file. */
function keptChoice(prediction) {
  try {
    const kept = localStorage.getItem(keyOf(prediction));
    return kept === null ? null : Number(kept);
  } catch {
    return null;
  }
}

function keepChoice(prediction, choice) {
  try {
    localStorage.setItem(keyOf(prediction), choice);
  } catch {
    // It holds until the page is left.
  }
}

/** Return what tells the answer: outputs of the cells below, and the text below those. */
function answerBelow(prediction) {
  const [outputs, text] = [[], []];
  let next = prediction.nextElementSibling;
  for (; next?.matches("div.cell"); next = next.nextElementSibling) {
    outputs.push(...next.querySelectorAll(":scope > .cell_output"));
  }
  for (; next && !next.matches("div.cell, section, .prediction"); next = next.nextElementSibling) text.push(next);
  return { outputs, text };
}

function setUp(prediction) {
  const list = prediction.querySelector("ul");
  const { outputs, text } = answerBelow(prediction);
  const state = { right: Number(prediction.dataset.right), choice: keptChoice(prediction) };
  const parts = [...outputs, ...text];
  const line = document.createElement("p");
  line.className = "attention-outcome";
  let box = null;

  const draw = (isOpen) => {
    const isChosen = state.choice !== null;
    update(list, state, isChosen);
    for (const part of parts) part.classList.toggle("prediction-covered", !isOpen);
    if (isOpen) box?.remove();
    if (!isChosen || !parts.length) return;
    line.textContent = outcome(list, state);
    if (!line.parentNode) (text[0] ?? outputs[outputs.length - 1]).before(line);
  };
  const question = prediction.previousElementSibling?.textContent.trim() || "Your prediction";
  offer(list, question, (choice) => {
    state.choice = choice;
    keepChoice(prediction, choice);
    draw(true);
  });
  if (state.choice === null && parts.length) {
    box = cover(WAIT, () => draw(true));
    parts[0].before(box);
  }
  draw(state.choice !== null);
}

document.addEventListener("DOMContentLoaded", () => {
  document.head.appendChild(document.createElement("style")).textContent = CHOICES_STYLE;
  document.querySelectorAll(".prediction").forEach(setUp);
});
