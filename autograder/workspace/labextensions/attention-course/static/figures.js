// The living figures of a notebook: one that a run has drawn is brought into view, as is
// the report of a check, and the keyboard comes back from a figure to the notebook.

import { giveFocusBack } from "./actions.js";
import { isPassed } from "./predictions.js";

const FIGURE = "figure.living";
const DRAWN = `${FIGURE}[data-live], .jp-OutputArea-output > [role="region"]`; // or a report
const BELOW = ".jp-Cell.jp-mod-active:focus-visible"; // where Shift+Enter leads from a figure's cell

// Said while the keyboard is at the cell of a figure, or at the one below it.
export const FIGURES_STYLE = `
.jp-Notebook ${FIGURE} { position: relative; padding-bottom: 18px; } /* room for the line */
.jp-Notebook :is(${BELOW}, .jp-Cell:has(+ ${BELOW})) ${FIGURE}[data-live]::after { position: absolute; bottom: 0; right: 0; padding: 1px 4px;
  font-size: 12px; line-height: 1.2; color: var(--jp-content-font-color2); background: var(--jp-layout-color0); content: "Tab goes into this picture"; }
.jp-Notebook .jp-Cell:has(+ ${BELOW}) ${FIGURE}[data-live]::after { content: "Shift + Tab goes into this picture"; }
@media (hover: none) and (pointer: coarse) { .jp-Notebook ${FIGURE}[data-live]::after { display: none; } }
`;
const MARGIN = 8; // pixels between the toolbar and what is brought into view
const TOUCHES = ["wheel", "touchmove", "pointerdown", "keydown"]; // the person goes on

/** Keep a notebook's figures in view and its keys at hand. */
export function watchFigures(lab, panel, report) {
  const notebook = panel.content;
  const { NotebookActions } = lab.notebook;
  let touches = 0;
  let together = []; // scheduled at once: several are no run of one cell
  const runs = new Map(); // cell to the touches before it ran

  const touch = (event) => {
    if (event.key !== "Shift") touches += 1;
  };
  const scheduled = (_, { notebook: its, cell }) => {
    if (its !== notebook || isPassed(cell)) return; // that one runs along
    if (!together.length) setTimeout(() => (together = []));
    together.push(cell);
    runs.set(cell, touches);
    if (together.length > 1) together.forEach((each) => runs.delete(each));
  };
  const executed = (_, { notebook: its, cell }) => {
    if (its !== notebook || !runs.has(cell)) return;
    const before = runs.get(cell);
    runs.delete(cell);
    const at = notebook.widgets.indexOf(cell);
    const between = notebook.widgets.slice(at + 1, notebook.activeCellIndex);
    const isHere = at >= 0 && notebook.activeCellIndex >= at && between.every(isPassed);
    const isLeft = () => panel.isDisposed || cell.isDisposed || touches !== before;
    if (isHere && cell.outputArea) bringIntoView(cell, isLeft).catch(report);
  };
  const keydown = (event) => {
    if (!event.target.closest?.(FIGURE) || event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key === "Escape") {
      document.activeElement?.blur(); // else it would stay: the figure is part of its cell
      giveFocusBack(panel);
    } else if (event.key === "Enter" && event.shiftKey) {
      // The figure is there already: on to what is below it.
      event.preventDefault();
      event.stopPropagation();
      document.activeElement?.blur();
      giveFocusBack(panel);
      NotebookActions.selectBelow(notebook);
    }
  };

  TOUCHES.forEach((name) => window.addEventListener(name, touch, { capture: true, passive: true }));
  NotebookActions.executionScheduled.connect(scheduled);
  NotebookActions.executed.connect(executed);
  notebook.node.addEventListener("keydown", keydown);
  panel.disposed.connect(() => {
    TOUCHES.forEach((name) => window.removeEventListener(name, touch, { capture: true }));
    NotebookActions.executionScheduled.disconnect(scheduled);
    NotebookActions.executed.disconnect(executed);
  });
}

/** Scroll, once, to a figure or a report that a cell has drawn, if a part is out of view. */
async function bringIntoView(cell, isLeft) {
  const output = cell.outputArea.node;
  let [figure, top] = [null, null];
  // Until it is drawn, and JupyterLab's own way to the next cell is over.
  for (let tries = 0; tries < 40; tries += 1) {
    await new Promise((resolve) => setTimeout(resolve, 100));
    if (isLeft()) return;
    figure = output.querySelector(DRAWN);
    const before = top;
    top = figure && figure.getBoundingClientRect().top;
    if (figure && top === before) break;
  }
  if (!figure) return;
  const scroller = scrollerOf(output);
  const seen = scroller.getBoundingClientRect();
  const box = figure.getBoundingClientRect();
  if (box.top >= seen.top && box.bottom <= seen.bottom) return;
  const start = output.getBoundingClientRect().top;
  const fits = box.bottom - start <= seen.height - MARGIN;
  scroller.scrollTop += (fits ? start : box.top) - seen.top - MARGIN;
}

function scrollerOf(node) {
  let each = node.parentElement;
  const scrolls = (part) => ["auto", "scroll"].includes(getComputedStyle(part).overflowY) && part.scrollHeight > part.clientHeight;
  while (each.parentElement && !(each.closest(".jp-Notebook") && !each.closest(".jp-Cell") && scrolls(each))) {
    each = each.parentElement;
  }
  return each;
}
