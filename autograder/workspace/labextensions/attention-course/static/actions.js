// What the buttons do with a notebook. `lab` holds JupyterLab's own modules and its
// application; an action throws an Error with a sentence for the learner where it cannot go on.

import { describe, earlierOf, keep, stubOf, timeOf } from "./answers.js";
import { exerciseAt, exercisesOf, textOf } from "./lesson.js";
import { courseCellOf, courseLine, reportIn } from "./reports.js";

const UPDATE = "This copy of the lesson is too old for that: run autograder update, and open it again.";

/** Return a notebook's cells as plain objects. */
export function cellsOf(panel) {
  const cells = panel.content.model ? [...panel.content.model.cells] : [];
  return cells.map((cell) => ({
    type: cell.type,
    source: cell.sharedModel.getSource(),
    metadata: { attention: cell.getMetadata("attention"), nbgrader: cell.getMetadata("nbgrader") },
  }));
}

/** Return the exercise that the active cell belongs to, or null in other notebooks. */
export function exerciseOf(panel) {
  if (!panel || panel.isDisposed) return null;
  const cells = cellsOf(panel);
  const exercises = exercisesOf(cells);
  return exercises.length ? exerciseAt(cells, panel.content.activeCellIndex, exercises) : null;
}

/**
 * Run the answer and, if it runs through, its check; return the report's first line.
 *
 * Where the course's version is in use, it is again after a check that failed, and it
 * is put away after one that did not. Where a button was pressed, the cell that tells
 * the outcome is the active one then.
 */
export async function check(lab, panel, { panel: pressed } = {}) {
  const exercise = present(panel);
  const { name, answer, check } = exercise;
  const notebook = panel.content;
  const courseCell = courseCellIn(panel, exercise);
  const [answerCell, checkCell] = [notebook.widgets[answer], notebook.widgets[check]];
  // By cell, not by index: while one runs, the learner may insert or move others.
  if (!(await run(lab, panel, answerCell))) {
    if (!firstLine(answerCell)) throw new Error(`The answer of ${name} was not run: try again.`);
    if (pressed) select(notebook, answerCell);
    await show(notebook, answerCell, answerCell.outputArea.node);
    offerCellsAbove(lab, panel, answerCell, answerCell);
    return `${name}: the answer does not run. ${firstLine(answerCell)}`;
  }
  if (!checkCell) throw new Error(`There is no check of ${name} in this notebook any more.`);
  const isSolved = await run(lab, panel, checkCell);
  if (courseCell && isSolved) remove(panel, courseCell);
  else if (courseCell) await run(lab, panel, courseCell);
  if (pressed) select(notebook, checkCell);
  await show(notebook, checkCell, checkCell.outputArea.node);
  offerCellsAbove(lab, panel, checkCell, answerCell);
  return firstLine(checkCell);
}

/**
 * Go on with the course's version of an exercise, in a cell below the answer, which
 * stays as it is; or with the answer again. Return what happened.
 *
 * name : the exercise's, the one at the active cell without it
 */
export async function useCourseVersion(lab, panel, name) {
  const cells = cellsOf(panel);
  const exercise = exercisesOf(cells).find((each) => each.name === name) || present(panel);
  const notebook = panel.content;
  const answer = notebook.widgets[exercise.answer];
  const inUse = courseCellIn(panel, exercise);
  if (inUse) {
    remove(panel, inUse);
    await run(lab, panel, answer);
    return `${exercise.name} is your own answer again.`;
  }
  const line = lineOf(panel, exercise);
  if (!line) throw new Error(UPDATE);
  const { sharedModel } = notebook.model;
  sharedModel.insertCell(exercise.answer + 1, { cell_type: "code", source: line, metadata: {} });
  const cell = notebook.widgets[exercise.answer + 1];
  if (!(await run(lab, panel, cell))) throw new Error(`The course's version did not run: ${firstLine(cell)}`);
  await show(notebook, cell, cell.node);
  return `${exercise.name} is the course's version from here on. Your answer is kept, and can be checked at any time.`;
}

function lineOf(panel, exercise) {
  const check = panel.content.widgets[exercise.check];
  return courseLine(cellsOf(panel), exercise, check && reportIn(outputsOf(check)));
}

/** Return the cell in which the course's version is in use, or undefined. */
function courseCellIn(panel, exercise) {
  return panel.content.widgets[courseCellOf(cellsOf(panel), exercise, lineOf(panel, exercise))];
}

function remove(panel, cell) {
  const at = panel.content.widgets.indexOf(cell);
  if (at >= 0) panel.content.model.sharedModel.deleteCell(at);
}

async function run(lab, panel, cell) {
  const { content, sessionContext } = panel;
  await sessionContext.ready; // right after a notebook was opened its kernel still starts
  const well = await lab.notebook.NotebookActions.runCells(content, [cell], sessionContext);
  if (sessionContext.hasNoKernel) throw new Error("No kernel is running: choose one, and check again.");
  return well && !outputsOf(cell).some((output) => output.output_type === "error");
}

/**
 * Offer what a name that is not defined most often needs, in a kernel that just started:
 * to run the cells above the answer.
 */
function offerCellsAbove(lab, panel, cell, answerCell) {
  if (!/^(NameError|NotRunYet)/.test(firstLine(cell))) return;
  const above = () => {
    const { widgets } = panel.content;
    const cells = widgets.slice(0, widgets.indexOf(answerCell)).filter((each) => each.model.type === "code");
    lab.notebook.NotebookActions.runCells(panel.content, cells, panel.sessionContext);
  };
  lab.apputils.Notification.warning("A name is not defined: the cells above may have to run first.", {
    autoClose: 15000,
    actions: [{ label: "Run the cells above", callback: above }],
  });
}

function outputsOf(cell) {
  return cell.model.outputs.toJSON();
}

function firstLine(cell) {
  const texts = outputsOf(cell).map((output) => {
    if (output.output_type === "error") return `${output.ename}: ${output.evalue}`;
    const text = output.text || (output.data && output.data["text/plain"]) || "";
    return Array.isArray(text) ? text.join("") : text;
  });
  return (texts.join("\n").split("\n").find((line) => line.trim()) || "").trim();
}

/** Open the exercise's next hint; return what happened, or nothing if a hint opened. */
export async function hint(lab, panel) {
  const exercise = present(panel);
  const notebook = panel.content;
  const cells = textOf(cellsOf(panel), exercise).map((index) => notebook.widgets[index]);
  const hints = [];
  for (const cell of cells.filter((each) => each.model.sharedModel.getSource().includes("<details"))) {
    await scrollTo(notebook, cell); // far from the view its text may not be drawn yet
    cell.rendered = true;
    const drawn = () => [...cell.node.querySelectorAll("details")];
    await until(() => drawn().length > 0);
    hints.push(...drawn().map((details) => ({ cell, details })));
    const folded = drawn().find((details) => !details.open);
    if (!folded) continue;
    folded.open = true;
    select(notebook, cell);
    await show(notebook, cell, folded);
    folded.querySelector("summary").focus({ preventScroll: true });
    return "";
  }
  if (!hints.length) return `${exercise.name} has no hints.`;
  const last = hints[hints.length - 1];
  select(notebook, last.cell);
  await show(notebook, last.cell, last.details);
  return hints.length === 1
    ? `The only hint of ${exercise.name} is open.`
    : `${hints.length === 2 ? "Both" : `All ${hints.length}`} hints of ${exercise.name} are open.`;
}

/** Put the stub in the place of the answer, which is kept; return what happened. */
export async function startOver(lab, panel) {
  const exercise = present(panel);
  const cell = panel.content.widgets[exercise.answer];
  const stub = stubOf(cell.model.getMetadata("attention"));
  if (stub === null) throw new Error(UPDATE);
  if (cell.model.sharedModel.getSource() === stub) return `${exercise.name} is as the course gave it.`;
  const { Dialog, showDialog } = lab.apputils;
  const { button } = await showDialog({
    title: `Start ${exercise.name} over?`,
    body:
      "This puts the course's starting text back in place of your answer. " +
      "Your answer is kept: Restore brings it back.",
    buttons: [Dialog.cancelButton(), Dialog.okButton({ label: "Start over" })],
  });
  if (!button.accept) return "";
  const courseCell = courseCellIn(panel, exercise);
  if (courseCell) remove(panel, courseCell);
  return replace(panel, exercise.name, cell, stub, `${exercise.name} starts over; your answer is kept.`);
}

/** Let the learner choose one of the earlier answers; what stands there is kept. */
export async function restore(lab, panel) {
  const exercise = present(panel);
  const cell = panel.content.widgets[exercise.answer];
  const attention = cell.model.getMetadata("attention");
  if (stubOf(attention) === null) throw new Error(UPDATE);
  const earlier = earlierOf(attention).reverse();
  if (!earlier.length) return `No earlier answer of ${exercise.name} is kept.`;
  const { Dialog, showDialog } = lab.apputils;
  const { button, value } = await showDialog({
    title: `Restore an earlier answer of ${exercise.name}`,
    body: choice(lab, earlier),
    buttons: [Dialog.cancelButton(), Dialog.okButton({ label: "Restore" })],
    focusNodeSelector: "input",
  });
  if (!button.accept) return "";
  const done = `The answer of ${timeOf(earlier[value])} is back.`;
  return replace(panel, exercise.name, cell, earlier[value].source, done);
}

async function replace(panel, name, cell, source, done) {
  if (cell.isDisposed) throw new Error("The cell is gone: nothing has changed.");
  const { model } = cell;
  const time = new Date().toISOString();
  // The old answer is kept first: whatever happens after that, it is not lost.
  const before = model.getMetadata("attention");
  const after = keep(before, model.sharedModel.getSource(), time);
  if (after !== before) model.setMetadata("attention", after);
  model.sharedModel.undoManager?.stopCapturing(); // one Ctrl-Z, not one with typing before
  model.sharedModel.setSource(source);
  clearReports(panel, exercisesOf(cellsOf(panel)).find((each) => each.name === name));
  const notebook = panel.content;
  notebook.activeCellIndex = notebook.widgets.indexOf(cell);
  await scrollTo(notebook, cell);
  try {
    await panel.context.save();
  } catch {
    throw new Error("The notebook could not be saved: what you see is not in the file yet.");
  } finally {
    notebook.mode = "edit";
    cell.editor?.focus();
  }
  return done;
}

/** Remove what the answer printed and what its check reported: both are of another text. */
function clearReports(panel, exercise) {
  if (!exercise) return;
  const { answer, check } = exercise;
  for (const cell of [answer, check].map((index) => panel.content.widgets[index])) {
    cell?.model.sharedModel.transact(() => cell.model.clearExecution(), false);
  }
}

function choice(lab, earlier) {
  const body = document.createElement("div");
  body.className = "attention-course-earlier";
  const group = body.appendChild(document.createElement("fieldset"));
  group.appendChild(document.createElement("legend")).textContent =
    "Newest first. What stands in the cell now is kept too.";
  const preview = document.createElement("pre");
  preview.tabIndex = 0;
  preview.setAttribute("role", "region");
  preview.setAttribute("aria-label", "The chosen answer");
  earlier.forEach((answer, index) => {
    const label = group.appendChild(document.createElement("label"));
    const input = label.appendChild(document.createElement("input"));
    Object.assign(input, { type: "radio", name: "attention-course-earlier", checked: index === 0 });
    input.addEventListener("change", () => (preview.textContent = answer.source));
    label.append(describe(answer));
  });
  preview.textContent = earlier[0].source;
  body.append(preview);
  const widget = new lab.widgets.Widget({ node: body });
  widget.getValue = () => [...group.querySelectorAll("input")].findIndex((each) => each.checked);
  return widget;
}

function present(panel) {
  const exercise = exerciseOf(panel);
  if (!exercise) throw new Error("This notebook is no lesson of the course.");
  return exercise;
}

/** Give the keyboard back to a notebook, in command mode, where nothing scrolls for it. */
export function giveFocusBack(panel) {
  const notebook = panel.content;
  notebook.mode = "command";
  notebook.activate();
}

function select(notebook, cell) {
  const index = notebook.widgets.indexOf(cell);
  if (index >= 0) notebook.activeCellIndex = index;
}

/** Bring a part of a cell into view: its top, if it is taller than the window. */
async function show(notebook, cell, node) {
  await scrollTo(notebook, cell);
  await new Promise((resolve) => setTimeout(resolve, 100)); // until outputs are drawn
  const tall = node.clientHeight > notebook.node.clientHeight * 0.9;
  node.scrollIntoView({ block: tall ? "start" : "nearest" });
}

async function scrollTo(notebook, cell) {
  const index = notebook.widgets.indexOf(cell);
  if (index < 0) return;
  const scrolled = notebook.scrollToItem(index, "smart").catch(() => {});
  await Promise.race([scrolled, new Promise((resolve) => setTimeout(resolve, 1000))]);
}

async function until(condition) {
  for (let tries = 0; tries < 40 && !condition(); tries += 1) {
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
