// What the buttons do with a notebook. `lab` holds JupyterLab's own modules and its
// application; an action throws an Error with a sentence for the learner where it cannot go on.

import { describe, earlierOf, keep, stubOf, timeOf } from "./answers.js";
import { exerciseAt, exercisesOf, textOf } from "./lesson.js";

const HOME = "home.md";
const UPDATE = "This copy of the lesson is too old for that: run autograder update, and open it anew.";

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

/** Run the answer and, if it runs through, its check; return the report's first line. */
export async function check(lab, panel) {
  const { name, answer, check } = present(panel);
  const notebook = panel.content;
  const [answerCell, checkCell] = [notebook.widgets[answer], notebook.widgets[check]];
  // By cell, not by index: while one runs, the learner may insert or move others.
  if (!(await run(lab, panel, answerCell))) {
    if (!firstLine(answerCell)) throw new Error(`The answer of ${name} was not run: try again.`);
    await show(notebook, answerCell, answerCell.outputArea.node);
    if (firstLine(answerCell).startsWith("NameError")) offerCellsAbove(lab, panel, answerCell);
    return `${name}: the answer does not run. ${firstLine(answerCell)}`;
  }
  if (!checkCell) throw new Error(`There is no check of ${name} in this notebook any more.`);
  await run(lab, panel, checkCell);
  await show(notebook, checkCell, checkCell.outputArea.node);
  return firstLine(checkCell);
}

async function run(lab, panel, cell) {
  const { content, sessionContext } = panel;
  await sessionContext.ready; // right after a notebook was opened its kernel still starts
  const well = await lab.notebook.NotebookActions.runCells(content, [cell], sessionContext);
  if (sessionContext.hasNoKernel) throw new Error("No kernel is running: choose one, and check again.");
  return well && !outputsOf(cell).some((output) => output.output_type === "error");
}

/** Offer what a name that is not defined most often needs, in a kernel that just started. */
function offerCellsAbove(lab, panel, cell) {
  const above = () => {
    const { widgets } = panel.content;
    const cells = widgets.slice(0, widgets.indexOf(cell)).filter((each) => each.model.type === "code");
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
    notebook.activeCellIndex = notebook.widgets.indexOf(cell);
    await show(notebook, cell, folded);
    folded.querySelector("summary").focus({ preventScroll: true });
    return "";
  }
  if (!hints.length) return `${exercise.name} has no hints.`;
  const last = hints[hints.length - 1];
  await show(notebook, last.cell, last.details);
  return hints.length === 1
    ? `The only hint of ${exercise.name} is open.`
    : `All ${hints.length} hints of ${exercise.name} are open.`;
}

/** Put the stub in the place of the answer, which is kept; return what happened. */
export async function beginAnew(lab, panel) {
  const exercise = present(panel);
  const cell = panel.content.widgets[exercise.answer];
  const stub = stubOf(cell.model.getMetadata("attention"));
  if (stub === null) throw new Error(UPDATE);
  if (cell.model.sharedModel.getSource() === stub) return `${exercise.name} is as the course gave it.`;
  const { Dialog, showDialog } = lab.apputils;
  const { button } = await showDialog({
    title: `Begin ${exercise.name} anew?`,
    body:
      "The text that the course gave you takes the place of your answer. " +
      "Your answer is kept: Bring back shows it.",
    buttons: [Dialog.cancelButton(), Dialog.okButton({ label: "Begin anew" })],
  });
  if (!button.accept) return "";
  return replace(panel, exercise, cell, stub, `${exercise.name} begins anew; your answer is kept.`);
}

/** Let the learner choose one of the earlier answers; what stands there is kept. */
export async function bringBack(lab, panel) {
  const exercise = present(panel);
  const cell = panel.content.widgets[exercise.answer];
  const attention = cell.model.getMetadata("attention");
  if (stubOf(attention) === null) throw new Error(UPDATE);
  const earlier = earlierOf(attention).reverse();
  if (!earlier.length) return `No earlier answer of ${exercise.name} is kept.`;
  const { Dialog, showDialog } = lab.apputils;
  const { button, value } = await showDialog({
    title: `Bring back an earlier answer of ${exercise.name}`,
    body: choice(lab, earlier),
    buttons: [Dialog.cancelButton(), Dialog.okButton({ label: "Bring back" })],
    focusNodeSelector: "input",
  });
  if (!button.accept) return "";
  const done = `The answer of ${timeOf(earlier[value])} is back.`;
  return replace(panel, exercise, cell, earlier[value].source, done);
}

async function replace(panel, exercise, cell, source, done) {
  if (cell.isDisposed) throw new Error("The cell is gone: nothing has changed.");
  const { model } = cell;
  const time = new Date().toISOString();
  // The old answer is kept first: whatever happens after that, it is not lost.
  const before = model.getMetadata("attention");
  const after = keep(before, model.sharedModel.getSource(), time);
  if (after !== before) model.setMetadata("attention", after);
  model.sharedModel.undoManager?.stopCapturing(); // one Ctrl-Z, not one with typing before
  model.sharedModel.setSource(source);
  clearReports(panel, exercise);
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
function clearReports(panel, { answer, check }) {
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

/** Open the home page, as the file is now. */
export async function openHome(lab) {
  if (!(await entryOf(lab))) throw new Error(`There is no ${HOME} here: autograder lab writes it.`);
  const { commands } = lab.app;
  const widget = await commands.execute("docmanager:open", { path: HOME, factory: "Markdown Preview" });
  if (widget) await refreshHome(lab, widget);
  return "";
}

/** Read the home page from disk again if a tab shows it and the file is newer. */
export async function refreshHome(lab, widget) {
  const context = widget?.context;
  if (!context || context.localPath !== HOME) return;
  await context.ready;
  const entry = await entryOf(lab);
  if (!entry || context.isDisposed || context.model.dirty) return;
  if (entry.last_modified !== context.contentsModel?.last_modified) await context.revert();
}

async function entryOf(lab) {
  // The folder is asked: to ask for a file that is missing is an error in the console.
  const { content } = await lab.app.serviceManager.contents.get("", { content: true });
  return content.find((entry) => entry.name === HOME);
}

function present(panel) {
  const exercise = exerciseOf(panel);
  if (!exercise) throw new Error("This notebook is no lesson of the course.");
  return exercise;
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
