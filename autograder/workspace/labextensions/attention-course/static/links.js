// Links into a lesson: the cell that one leads to is the active cell then, so that
// Shift+Enter runs what is in view.

import { giveFocusBack } from "./actions.js";

const HEADING = /^#{1,6}[ \t]+(.+?)[ \t]*$/gm;

/** Let links into a lesson choose the cell that they lead to. isLesson : asked at each link */
export function watchLinks(panel, isLesson, report) {
  const notebook = panel.content;
  const scroll = notebook.setFragment;
  if (typeof scroll !== "function") return;
  notebook.setFragment = async (fragment) => {
    const cell = isLesson() ? cellAt(notebook, fragment) : null;
    // By the cell's id, for JupyterLab finds no heading that is far from the view.
    await scroll.call(notebook, cell ? `#cell-id=${cell.model.id}` : fragment);
    try {
      const index = cell && !panel.isDisposed ? notebook.widgets.indexOf(cell) : -1;
      if (index < 0) return;
      notebook.deselectAll();
      notebook.activeCellIndex = index;
      if (panel.isVisible) giveFocusBack(panel);
    } catch (error) {
      report(error);
    }
  };
  // Links within the page: JupyterLab scrolls to a heading without asking the notebook.
  const click = (event) => {
    const link = event.target.closest?.('a[href^="#"]');
    if (!link || event.ctrlKey || event.metaKey || !isLesson()) return;
    event.preventDefault();
    event.stopPropagation();
    notebook.setFragment(link.getAttribute("href"));
  };
  notebook.node.addEventListener("click", click, { capture: true });
}

/** Return the cell that a fragment of an address names by its id or a heading, or undefined. */
function cellAt(notebook, fragment) {
  const [, kind, words] = fragment.match(/^#(?:(cell-id|heading)=)?(.*)$/) || [];
  if (!words) return undefined;
  if (kind === "cell-id") return notebook.widgets.find((cell) => cell.model.id === words);
  const name = decodeURIComponent(words);
  const hasHeading = (cell) =>
    cell.model.type === "markdown" &&
    [...cell.model.sharedModel.getSource().matchAll(HEADING)].some(
      ([, heading]) => heading.replace(/[`*]/g, "").replace(/ /g, "-") === name
    );
  return notebook.widgets.find(hasHeading);
}
