// The names of tabs: a lesson's is its title, as on Home; a notebook of the learner's own
// is called as its file.

const LESSON = /^(?:.*\/)?((\d\d)_\w+)\/\1\.ipynb$/;
const TITLE = /^#[ \t]+(.+?)[ \t]*#*$/m;

/** Give a tab a name. JupyterLab renames the file with its tab: unless that is off, the tab keeps its name. */
export function nameTab(widget, nameOf) {
  const renames = widget._onTitleChanged;
  if (typeof renames !== "function" || !widget.title.changed.disconnect(renames, widget)) return;
  const label = () => {
    const name = nameOf();
    if (widget.title.label !== name) widget.title.label = name;
  };
  widget.title.changed.connect(label);
  label();
}

/** Return the name of a notebook's tab. path : of its file; cells : {type, source} */
export function tabOf(path, cells) {
  const [, , number] = path.match(LESSON) || [];
  const titles = cells.filter((cell) => cell.type === "markdown").map((cell) => cell.source.match(TITLE));
  const [, title] = titles.find(Boolean) || [];
  return number && title ? `${number} · ${title.replace(/[`*]/g, "")}` : path.split("/").pop();
}
