// Predictions in a notebook: the choice is kept in the cell's metadata, and what explains
// the run is covered until the choice was made and the cells between were run.

import { cover, offer, outcome, update } from "./choices.js";

const COVERED = "attention-covered";
const WAIT = "Predict above, and run the cell: what comes out is explained here.";

export const PREDICTIONS_STYLE = `
.jp-Notebook .${COVERED} .jp-MarkdownOutput { display: none; }
.jp-Notebook .attention-cover button { color: var(--jp-content-font-color1); }
`;

/**
 * Return a notebook's predictions: {prediction, runs, explanation}, indices of cells.
 *
 * `runs` are the code cells right below, `explanation` the text below those, or -1 if
 * it begins with a heading or is not there. cells : {type, source, metadata}
 */
export function predictionsOf(cells) {
  const predictions = [];
  cells.forEach((cell, prediction) => {
    const { right } = (cell.metadata.attention || {}).prediction || {};
    if (cell.type !== "markdown" || !Number.isInteger(right)) return;
    let end = prediction + 1;
    while (end < cells.length && cells[end].type === "code") end += 1;
    const isText = end < cells.length && cells[end].type === "markdown" && !/^\s*#/.test(cells[end].source);
    const runs = cells.map((_, index) => index).slice(prediction + 1, end);
    predictions.push({ prediction, runs, explanation: isText && runs.length ? end : -1 });
  });
  return predictions;
}

/** Keep a notebook's predictions drawn; nothing happens in one that has none. */
export function watch(panel, cellsOf, report) {
  const notebook = panel.content;
  const open = new Set(); // models of cells whose explanation is to be seen for good
  let predictions = [];

  const read = () => {
    const cells = cellsOf(panel);
    predictions = predictionsOf(cells).map((each) => ({
      cell: notebook.widgets[each.prediction],
      runs: each.runs.map((index) => notebook.widgets[index]),
      explanation: notebook.widgets[each.explanation],
    }));
  };
  const draw = () => predictions.forEach((each) => drawOne(each, open, draw));
  let isWaiting = false;
  const soon = () => {
    if (isWaiting) return;
    isWaiting = true;
    requestAnimationFrame(() => {
      isWaiting = false;
      try {
        if (!panel.isDisposed) draw();
      } catch (error) {
        report(error);
      }
    });
  };

  read();
  predictions.forEach(({ cell }) => Number.isInteger(choiceOf(cell).choice) && open.add(cell.model));
  const cells = notebook.model.cells;
  cells.changed.connect(() => {
    read();
    soon();
  });
  const observer = new MutationObserver(soon);
  observer.observe(notebook.node, { childList: true, subtree: true });
  panel.disposed.connect(() => observer.disconnect());
  soon();
}

function choiceOf(cell) {
  return (cell.model.getMetadata("attention") || {}).prediction || {};
}

function drawOne({ cell, runs, explanation }, open, draw) {
  const list = [...cell.node.querySelectorAll(".jp-MarkdownOutput > ul")].pop();
  const prediction = choiceOf(cell);
  const isChosen = Number.isInteger(prediction.choice);
  const isRun = runs.every((each) => each.model.executionCount !== null);
  if (isChosen && isRun) open.add(cell.model);
  if (list) {
    offer(list, questionOf(list), (choice) => {
      const course = cell.model.getMetadata("attention");
      cell.model.setMetadata("attention", { ...course, prediction: { ...choiceOf(cell), choice } });
      draw();
    });
    update(list, prediction, isChosen && isRun);
  }
  if (!explanation) return;
  const isOpen = open.has(cell.model);
  const output = explanation.node.querySelector(".jp-MarkdownOutput");
  explanation.node.classList.toggle(COVERED, !isOpen);
  const box = explanation.node.querySelector(".attention-cover");
  if (isOpen) box?.remove();
  else if (!box && output) {
    output.after(
      cover(WAIT, () => {
        open.add(cell.model);
        draw();
      })
    );
  }
  if (output && list) say(output, isChosen && isRun ? outcome(list, prediction) : "");
}

function questionOf(list) {
  return list.previousElementSibling ? list.previousElementSibling.textContent.trim() : "Your prediction";
}

/** Put the sentence on the outcome above an explanation, once. */
function say(output, text) {
  let line = output.querySelector(":scope > .attention-outcome");
  if (!text) line?.remove();
  else if (!line) {
    line = document.createElement("p");
    line.className = "attention-outcome";
    output.prepend(line);
  }
  if (text && line.textContent !== text) line.textContent = text;
}
