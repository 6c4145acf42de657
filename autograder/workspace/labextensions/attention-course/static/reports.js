// The reports below the exercises: a mark on one that is about an earlier version of the
// answer, the button that stands for the offer of the course's version, and what is missing
// where a name is not defined because the cell that makes it has not run.

import { exercisesOf } from "./lesson.js";

const TYPE = "application/vnd.attention-course.check+json"; // autograder/messages/report.py
const ERROR = '[data-mime-type="application/vnd.jupyter.stderr"]';
const OLDER = "This report is about an earlier version of your answer. Run the answer's cell, then check it again.";
const ASIDE = "The course's version is in use for now. This report is about your own answer.";

const ABOVE = "run the cells above first (Run → Run All Above Selected Cell)."; // as in messages/stopped.py

export const REPORTS_STYLE = `
.jp-Notebook .attention-course-absent, .jp-Notebook .attention-stopped { margin: 0.4em 0; padding: 0.4em 0.8em;
  border-left: 4px solid #b8860b; color: var(--jp-content-font-color1); }
/* Above the error, not beside it: what holds both is a row. */
.jp-Notebook .jp-Cell-outputWrapper:has(> .attention-course-absent) { flex-wrap: wrap; }
.jp-Notebook .jp-Cell-outputWrapper > .attention-course-absent { flex: 0 0 100%; box-sizing: border-box; }
.jp-Notebook .jp-Cell-outputWrapper > .attention-course-absent ~ .jp-OutputArea { flex: 1 1 0; min-width: 85%; }
.jp-Notebook .attention-course-older { margin: 0 0 0.6em; padding: 0.4em 0.8em; font-weight: 600;
  border: 1px dashed currentColor; }
.jp-Notebook .attention-course-way-on { margin: 0.6em 0; }
.jp-Notebook .attention-course-way-on button { font: inherit; color: var(--jp-content-font-color1);
  background: transparent; padding: 0.3em 0.9em; border: 1px solid currentColor; border-radius: 4px;
  cursor: pointer; }
/* A failed check ends with an error, for programs: its only line is the report's first one. */
.jp-Notebook .jp-OutputArea-child:has(.attention-failed) ~ .jp-OutputArea-child:has(${ERROR}) { display: none; }
@media (max-width: 640px) {
  .jp-Notebook .jp-OutputArea-output > [role="region"] { padding-left: 6px; }
}
`;

/** Return what the outputs of a check say of themselves, or null. outputs : as in nbformat */
export function reportIn(outputs) {
  const reports = outputs.map((output) => output.data && output.data[TYPE]);
  return reports.filter((each) => each && typeof each === "object").pop() || null;
}

/**
 * Return whether a report is about a text that no cell has any more.
 *
 * report : as `reportIn` returns it; sources : of the notebook's code cells;
 * failed : whether the answer's cell ended with an error
 */
export function isOlder(report, sources, failed) {
  const judged = typeof report.judged === "string" ? report.judged.trim() : "";
  return judged ? !sources.some((source) => source.trim() === judged) : failed;
}

/**
 * Return the index of the cell that gets the course's version of an exercise, or -1.
 *
 * It stands between answer and check, whoever has put it there.
 */
export function courseCellOf(cells, { answer, end }, line) {
  const last = end > answer ? end : answer + 2;
  const isOne = (cell, index) =>
    index > answer && index < last && cell.type === "code" && cell.source.trim() === line;
  return line ? cells.findIndex(isOne) : -1;
}

/** Return the line that gets the course's version, or "": the cell or the report says it. */
export function courseLine(cells, exercise, report) {
  const kept = cells[exercise.answer].metadata.attention?.course_version;
  const line = kept || report?.course_version;
  return typeof line === "string" ? line : "";
}

/**
 * Return the name for want of which a cell ended with an error, if a cell above makes it; or "".
 *
 * outputs : of the cell, as in nbformat; above : sources of the code cells above it
 */
export function absentName(outputs, above) {
  const error = outputs.find((output) => output.output_type === "error" && output.ename === "NameError");
  const [, name] = (error && String(error.evalue).match(/^name '(\w+)' is not defined/)) || [];
  if (!name) return "";
  const makes = new RegExp(
    `^(?:(?:from .+ )?import\\b.*\\b${name}\\b(?! as )|(?:def|class) ${name}\\b|(?:\\w+, *)*${name}\\b[^=(\\[.\\n]*=[^=])`, "m");
  return above.some((source) => makes.test(source)) ? name : "";
}

/** Keep a notebook's reports marked. use : what the button does, of an exercise's name */
export function watchReports(panel, cellsOf, use, report) {
  const notebook = panel.content;
  const draw = () => {
    const cells = cellsOf(panel);
    const sources = cells.filter((cell) => cell.type === "code").map((cell) => cell.source);
    drawAbsent(notebook, cells);
    for (const exercise of exercisesOf(cells)) {
      const check = notebook.widgets[exercise.check];
      const region = check?.node.querySelector('.jp-OutputArea [role="region"][aria-label^="check of "]');
      if (!region) continue;
      const said = reportIn(check.model.outputs.toJSON());
      if (!said) continue;
      const answer = notebook.widgets[exercise.answer].model.outputs.toJSON();
      const failed = answer.some((output) => output.output_type === "error");
      const line = courseLine(cells, exercise, said);
      const inUse = courseCellOf(cells, exercise, line) >= 0;
      drawMark(region, isOlder(said, sources, failed) ? OLDER : inUse ? ASIDE : "");
      drawWayOn(region, Boolean(said.course_version), inUse, () => use(exercise.name));
    }
  };
  let isWaiting = false;
  const soon = () => {
    if (isWaiting) return;
    isWaiting = true;
    setTimeout(() => {
      isWaiting = false;
      try {
        if (!panel.isDisposed) draw();
      } catch (error) {
        report(error);
      }
    }, 100);
  };
  notebook.model.contentChanged.connect(soon);
  const observer = new MutationObserver(soon); // outputs are drawn when they come into view
  observer.observe(notebook.node, { childList: true, subtree: true });
  panel.disposed.connect(() => observer.disconnect());
  soon();
}

/** Say above an error that the cell has not run which makes the name that is missing. */
function drawAbsent(notebook, cells) {
  notebook.widgets.forEach((widget, index) => {
    const area = widget.model?.type === "code" && widget.node.querySelector(".jp-OutputArea");
    if (!area) return;
    const above = cells.slice(0, index).filter((cell) => cell.type === "code").map((cell) => cell.source);
    const name = absentName(widget.model.outputs.toJSON(), above);
    let line = area.parentNode.querySelector(":scope > .attention-course-absent");
    if (!name) {
      line?.remove();
      return;
    }
    if (line?.firstChild.textContent === name) return;
    line?.remove();
    line = document.createElement("p");
    line.className = "attention-course-absent";
    line.appendChild(document.createElement("code")).textContent = name;
    line.append(` is not there yet: ${ABOVE}`);
    area.before(line);
  });
}

function drawMark(region, words) {
  let mark = region.querySelector(":scope > .attention-course-older");
  if (!words) {
    mark?.remove();
    return;
  }
  if (!mark) {
    mark = document.createElement("p");
    mark.className = "attention-course-older";
    region.prepend(mark);
  }
  if (mark.textContent !== words) mark.textContent = words;
}

function drawWayOn(region, isOffered, inUse, use) {
  const words = inUse ? "Use your own answer again" : "Use the course's version";
  let row = region.querySelector(":scope > .attention-course-way-on");
  if (!isOffered) {
    row?.remove();
    return;
  }
  if (!row) {
    row = document.createElement("p");
    row.className = "attention-course-way-on";
    row.append("");
    const button = row.appendChild(document.createElement("button"));
    button.type = "button";
    button.addEventListener("click", use);
    button.addEventListener("keydown", (event) => {
      const presses = ["Enter", " "].includes(event.key) && !event.shiftKey && !event.ctrlKey;
      if (presses) event.stopPropagation(); // else it would go into the cell as well
    });
    const byHand = region.querySelector(".attention-by-hand");
    if (byHand) byHand.replaceWith(row);
    else region.append(row);
  }
  const button = row.firstElementChild;
  if (button.textContent === words) return;
  button.textContent = words;
  row.firstChild.data = inUse ? "To come back to it: " : "To go on and come back later: ";
}
