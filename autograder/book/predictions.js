// Predictions in the book: the choice is kept by the browser, and what came out of the run
// is covered until a choice was made, with all that explains it up to the next heading or
// prediction, and code that tells it. Without a script all of it stands on the page.

const WAIT = "Make a prediction; the explanation appears here.";

/** Return by what name a choice is kept: that of the lesson, wherever it is served, and its own. */
function nameOf(prediction) {
  const lesson = document.querySelector(".your-notebook")?.dataset.lesson ?? "";
  return `${lesson}/${prediction.dataset.name}`;
}

/** Return the choice that was kept, or null; some browsers keep nothing for a file. */
function keptChoice(prediction) {
  const kept = attentionCourse.storage.read("prediction", nameOf(prediction));
  return /^\d+$/.test(kept) && kept < prediction.querySelectorAll("li").length ? Number(kept) : null;
}

/** Return what tells the answer up to the next heading or question, in order. */
function answerBelow(prediction) {
  const all = [...prediction.parentNode.children];
  const below = all.slice(all.indexOf(prediction) + 1);
  const end = below.findIndex((each) => each.matches("section, h1, h2, h3, h4, h5, h6, .prediction"));
  const parts = end < 0 ? below : below.slice(0, end);
  if (below[end]?.matches(".prediction")) parts.pop(); // its question, with its premise
  const inCell = (cell) =>
    cell.querySelectorAll(`:scope > .cell_output${cell.matches(".tag_tells") ? ", :scope > .cell_input" : ""}`);
  return parts.flatMap((each) => (each.matches("div.cell") ? [...inCell(each)] : [each]));
}

function setUp(prediction) {
  const list = prediction.querySelector("ul");
  const parts = answerBelow(prediction);
  const state = { right: Number(prediction.dataset.right), choice: keptChoice(prediction) };
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
    const text = parts.find((each) => !each.matches(".cell_output, .cell_input"));
    if (!line.parentNode) (text ?? parts[parts.length - 1]).before(line);
  };
  const above = prediction.previousElementSibling;
  const question = (above?.matches(".premise") ? above.lastElementChild : above)?.textContent.trim() || "Your prediction";
  offer(list, question, (choice) => {
    state.choice = choice;
    attentionCourse.storage.keep("prediction", nameOf(prediction), String(choice));
    draw(true);
  });
  if (state.choice === null && parts.length) {
    box = cover(WAIT, () => draw(true));
    parts[0].before(box);
  }
  draw(state.choice !== null);
  addEventListener("storage", ({ key }) => {
    if (key !== `${attentionCourse.storage.KEY} prediction ${nameOf(prediction)}`) return;
    state.choice = keptChoice(prediction);
    if (state.choice !== null) draw(true);
  });
}

document.addEventListener("DOMContentLoaded", () => {
  document.head.appendChild(document.createElement("style")).textContent = CHOICES_STYLE;
  document.querySelectorAll(".prediction").forEach(setUp);
});
