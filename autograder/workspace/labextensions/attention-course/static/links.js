// Links into a notebook: the cell that one leads to is the active cell then, so that
// Shift+Enter runs what is in view.

import { giveFocusBack } from "./actions.js";

/** Let links into a lesson choose the cell that they lead to. isLesson : asked at each link */
export function watchLinks(panel, isLesson, report) {
  const notebook = panel.content;
  const scroll = notebook.setFragment;
  if (typeof scroll !== "function") return;
  notebook.setFragment = async (fragment) => {
    await scroll.call(notebook, fragment);
    try {
      const index = panel.isDisposed || !isLesson() ? -1 : cellAt(notebook, fragment);
      if (index < 0) return;
      notebook.deselectAll();
      notebook.activeCellIndex = index;
      if (panel.isVisible) giveFocusBack(panel);
    } catch (error) {
      report(error);
    }
  };
}

/** Return the index of the cell that a fragment of an address names, or -1. */
function cellAt(notebook, fragment) {
  const words = fragment.replace(/^#/, "");
  const [, id] = words.match(/^cell-id=(.*)$/) || [];
  if (id !== undefined) return notebook.widgets.findIndex((cell) => cell.model.id === id);
  const name = CSS.escape(decodeURIComponent(words.replace(/^heading=/, "")));
  const heading = notebook.node.querySelector(`[data-jupyter-id="${name}"], [id="${name}"]`);
  return heading ? notebook.widgets.findIndex((cell) => cell.node.contains(heading)) : -1;
}
