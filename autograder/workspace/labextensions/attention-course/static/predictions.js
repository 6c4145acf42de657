// Predictions in a notebook: the choice is kept in the cell's metadata, and what explains
// the run is covered until the choice was made and the cell below was run. Code that tells
// the answer, as its metadata says, is covered too: that of the run until the choice.

import { giveFocusBack } from "./actions.js";
import { cover, offer, outcome, update } from "./choices.js";

const COVERED = "attention-covered";
const TELLS = "attention-tells";
const PASSED = "attention-passed"; // of a cell that is not to be seen at all
const LIVING = /<figure class="living"/;
const RUN_ON = "notebook:run-cell-and-select-next";
const WAIT = "Make a prediction and run the cell; the explanation appears here.";
const WAIT_FOR_CODE = "Make a prediction; the code appears here.";
const ADDED = ".attention-cover, .attention-outcome";
// Ids that editors give to new cells, as Jupyter's do: eight hexadecimal digits or a UUID.
const OWN = /^[0-9a-f]{8}(-[0-9a-f]{4}){0,3}(-[0-9a-f]{12})?$/;

export const PREDICTIONS_STYLE = `
.jp-Notebook .jp-MarkdownOutput.${COVERED}, .jp-Notebook .jp-MarkdownOutput > .${COVERED} { display: none; }
.jp-Notebook .${TELLS} > .jp-Cell-inputWrapper .jp-InputArea-editor,
.jp-Notebook .${PASSED} { display: none; }
.jp-Notebook .attention-cover { margin: 0.3em 0; }
.jp-Notebook .attention-cover button { color: var(--jp-content-font-color1); }
`;

/**
 * Return a notebook's predictions: indices of cells, {prediction, runs, explanation, code, next}.
 *
 * `runs` are the code cells right below, and `explanation` the course's text from there
 * to the next heading or prediction; `code` are cells of code up to there that tell the
 * answer. `next` is that prediction if it tells, too, above its own question; else -1.
 * cells : {type, source, metadata, id}
 */
export function predictionsOf(cells) {
  const rights = cells.map((cell) => ((cell.metadata.attention || {}).prediction || {}).right);
  const isPrediction = cells.map((cell, index) => cell.type === "markdown" && Number.isInteger(rights[index]));
  const predictions = [];
  isPrediction.forEach((isOne, prediction) => {
    if (!isOne) return;
    let [end, below] = [prediction + 1, prediction + 1];
    while (end < cells.length && cells[end].type === "code") end += 1;
    const isEnd = (index) => isPrediction[index] || (cells[index].type === "markdown" && /^\s*#/.test(cells[index].source));
    while (below < cells.length && !isEnd(below)) below += 1;
    const indices = cells.map((_, index) => index);
    const isText = (index) => cells[index].type === "markdown" && !OWN.test(cells[index].id);
    const isNext = isPrediction[below] && (cells[below].metadata.attention || {}).tells;
    predictions.push({
      prediction,
      runs: indices.slice(prediction + 1, Math.min(end, below)),
      explanation: indices.slice(end, below).filter(isText),
      code: indices.slice(prediction + 1, below).filter((index) => (cells[index].metadata.attention || {}).tells),
      next: isNext ? below : -1,
    });
  });
  return predictions;
}

/** Keep a notebook's predictions drawn; nothing happens in one that has none. */
export function watch(panel, cellsOf, report) {
  const notebook = panel.content;
  const open = new Set(); // models of cells whose explanation is to be seen for good
  const told = new Set(); // models of cells whose outcome is known
  const status = document.createElement("div");
  status.className = "attention-course-status";
  status.setAttribute("role", "status");
  panel.node.append(status);
  let predictions = [];

  const read = () => {
    const widgets = notebook.widgets;
    const cells = cellsOf(panel).map((cell, index) => ({ ...cell, id: widgets[index].model.id }));
    predictions = predictionsOf(cells).map((each) => ({
      cell: widgets[each.prediction],
      runs: each.runs.map((index) => widgets[index]),
      explanation: each.explanation.map((index) => widgets[index]),
      code: each.code.map((index) => widgets[index]),
      next: widgets[each.next],
    }));
  };
  const draw = () => predictions.forEach((each) => {
    const isInside = notebook.node.contains(document.activeElement);
    drawOne(each, open, draw);
    // The button that was pressed is gone: the keyboard stays in its cell.
    if (isInside && document.activeElement === document.body) giveFocusBack(panel);
    const outcome = outcomeOf(each);
    if (!outcome || told.has(each.cell.model)) return;
    told.add(each.cell.model);
    setTimeout(() => (status.textContent = outcome), 50); // after the answer's own output
  });
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
  predictions.forEach(({ cell, runs }) => {
    if (!Number.isInteger(choiceOf(cell).choice)) return;
    open.add(cell.model);
    if (wereRun(runs)) told.add(cell.model);
  });
  const cells = notebook.model.cells;
  cells.changed.connect(() => {
    read();
    soon();
  });
  notebook.node.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !event.target.closest?.(".attention-choices, .attention-cover")) return;
    event.target.blur();
    giveFocusBack(panel);
  });
  const observer = new MutationObserver(soon);
  observer.observe(notebook.node, { childList: true, subtree: true });
  panel.disposed.connect(() => observer.disconnect());
  soon();
}

function choiceOf(cell) {
  return (cell.model.getMetadata("attention") || {}).prediction || {};
}

/** Return whether a cell is covered without a word in its place. */
export function isPassed(cell) {
  return Boolean(cell?.node.classList.contains(PASSED));
}

/** Run covered cells along with the one above, and let the selection rest on none of them. */
export function passCovered(commands, tracker) {
  commands.commandExecuted.connect((_, { id }) => {
    if (id === RUN_ON && isPassed(tracker.currentWidget?.content.activeCell)) commands.execute(RUN_ON);
  });
  const watchSelection = ({ content: notebook }) => {
    let before = notebook.activeCellIndex;
    notebook.activeCellChanged.connect(() => {
      const step = notebook.activeCellIndex < before ? -1 : 1;
      before = notebook.activeCellIndex;
      queueMicrotask(() => {
        // What runs on has gone on by now; what is left was an arrow key, a click or an error.
        if (notebook.isDisposed || !isPassed(notebook.activeCell)) return;
        let to = notebook.activeCellIndex;
        while (isPassed(notebook.widgets[to])) to += step;
        if (!notebook.widgets[to]) return;
        notebook.deselectAll();
        notebook.activeCellIndex = to;
      });
    });
  };
  tracker.forEach(watchSelection);
  tracker.widgetAdded.connect((_, panel) => watchSelection(panel));
}

/**
 * Return whether one of the cells has shown what comes out, or all ran; none that failed.
 *
 * A living figure shows nothing until somebody moves it: the cell below it tells.
 */
function wereRun(runs) {
  const outputsOf = ({ outputs }) => Array.from({ length: outputs.length }, (_, index) => outputs.get(index).type);
  const ran = runs.filter(({ model }) => model.executionCount !== null && !outputsOf(model).includes("error"));
  return ran.length === runs.length || ran.some(({ model }) => model.outputs.length > 0 && !isLiving(model));
}

function isLiving({ outputs }) {
  const texts = Array.from({ length: outputs.length }, (_, index) => outputs.get(index).data?.["text/html"]);
  return texts.some((text) => LIVING.test([text].flat().join("")));
}

function drawOne({ cell, runs, explanation, code, next }, open, draw) {
  const list = optionsOf(cell);
  const prediction = choiceOf(cell);
  const isChosen = Number.isInteger(prediction.choice);
  const isOut = isChosen && wereRun(runs);
  if (isOut) open.add(cell.model);
  if (list) {
    offer(list, questionOf(list), (choice) => {
      const course = cell.model.getMetadata("attention");
      cell.model.setMetadata("attention", { ...course, prediction: { ...choiceOf(cell), choice } });
      draw();
    });
    update(list, prediction, isOut);
  }
  const outputs = explanation.map((each) => each.node.querySelector(".jp-MarkdownOutput"));
  const parts = [...outputs, ...aboveQuestion(next)];
  const isOpen = open.has(cell.model);
  const show = () => {
    open.add(cell.model);
    draw();
  };
  code.forEach((each) => coverCode(each, !isOpen && !(isChosen && runs.includes(each)), runs[0] === each, show));
  parts.forEach((each) => each?.classList.toggle(COVERED, !isOpen));
  const [first] = parts;
  if (!first) return; // none, or not yet drawn
  const box = first.parentNode.querySelector(":scope > .attention-cover");
  if (isOpen) box?.remove();
  else if (!box) first.before(cover(WAIT, show));
  if (list) say(first, isOut ? outcome(list, prediction) : "");
}

/** Return what is read out once a prediction's outcome is known, else "". */
function outcomeOf({ cell, runs, explanation, next }) {
  const [list, prediction] = [optionsOf(cell), choiceOf(cell)];
  if (!list || !Number.isInteger(prediction.choice) || !wereRun(runs)) return "";
  const isExplained = explanation.length > 0 || aboveQuestion(next).length > 0;
  return `${outcome(list, prediction)}${isExplained ? " The explanation is below." : ""}`;
}

/** Cover the code of a cell or show it; in its place stands why, if `says` is true. */
function coverCode(cell, isCovered, says, show) {
  cell.node.classList.toggle(TELLS, isCovered);
  cell.node.classList.toggle(PASSED, isCovered && !says);
  const editor = cell.node.querySelector(".jp-InputArea-editor");
  const box = cell.node.querySelector(".attention-cover");
  if (!isCovered) box?.remove();
  else if (says && !box) editor?.after(cover(WAIT_FOR_CODE, show));
}

/** Return a prediction's list of options, once it is drawn. */
function optionsOf(cell) {
  return [...cell.node.querySelectorAll(".jp-MarkdownOutput > ul")].pop();
}

function questionOf(list) {
  return list.previousElementSibling ? list.previousElementSibling.textContent.trim() : "Your prediction";
}

/** Return the paragraphs of a prediction's cell above its question. */
function aboveQuestion(cell) {
  const question = cell && optionsOf(cell)?.previousElementSibling;
  if (!question) return [];
  const all = [...question.parentNode.children];
  return all.slice(0, all.indexOf(question)).filter((each) => !each.matches(ADDED));
}

/** Put the sentence on the outcome above an explanation, once. */
function say(first, text) {
  // A whole output holds the sentence; a paragraph stands below it.
  const isWhole = first.classList.contains("jp-MarkdownOutput");
  const parent = isWhole ? first : first.parentNode;
  let line = parent.querySelector(":scope > .attention-outcome");
  if (!text) line?.remove();
  else if (!line) {
    line = document.createElement("p");
    line.className = "attention-outcome";
    parent.prepend(line);
  }
  if (text && line.textContent !== text) line.textContent = text;
}
