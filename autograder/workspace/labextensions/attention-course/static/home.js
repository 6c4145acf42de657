// The tab of the home page: called Home, the first one, never older than the file.

export const HOME = "home.md";
const PAGE = "attention-course-home";
const STALE = "attention-course-stale-home";
const PATIENCE = 1500; // milliseconds: after that the page is shown as it is

// What is hidden keeps its place, so that nothing jumps.
export const HOME_STYLE = `
.${STALE} .jp-MarkdownViewer > * { visibility: hidden; }
.${PAGE} .jp-RenderedMarkdown table { margin-left: 0; }
@media (max-width: 640px) {
  .${PAGE} .jp-RenderedMarkdown { padding: 0 12px; }
  .${PAGE} .jp-RenderedMarkdown td { padding: 4px; }
  .${PAGE} td progress { width: 60px; }
}
`;

/** Look after the tabs that show the home page, those to come too. */
export function watchHome(lab, tell) {
  const { shell } = lab.app;
  const known = new WeakSet();
  const look = () => {
    for (const widget of tabsOfHome(lab)) {
      if (known.has(widget)) continue;
      known.add(widget);
      widget.addClass(PAGE);
      name(widget);
      setTimeout(() => putFirst(shell, widget)); // the shell is still at work on it
    }
  };
  shell.layoutModified?.connect(look);
  shell.currentChanged?.connect((_, { newValue }) => {
    look();
    if (!isHome(newValue)) return;
    newValue.addClass(STALE); // in the same turn, before anything is painted
    refresh(lab, newValue)
      .catch(tell)
      .finally(() => newValue.removeClass(STALE));
  });
  look();
}

/** Read the home page again wherever a tab has it, because it may have changed. */
export async function refreshHome(lab) {
  await Promise.all(tabsOfHome(lab).map((widget) => refresh(lab, widget)));
}

/** Open the home page. */
export async function openHome(lab) {
  if (!(await entryOf(lab))) throw new Error(`There is no ${HOME} here: autograder lab writes it.`);
  const [tab] = tabsOfHome(lab);
  if (tab) lab.app.shell.activateById(tab.id);
  else await lab.app.commands.execute("docmanager:open", { path: HOME, factory: "Markdown Preview" });
  return "";
}

function tabsOfHome(lab) {
  return [...lab.app.shell.widgets("main")].filter(isHome);
}

/** Return whether a tab shows the page, and is no editor of its text. */
function isHome(widget) {
  return widget?.context?.localPath === HOME && Boolean(widget.content?.hasClass("jp-MarkdownViewer"));
}

/** Call a tab Home. JupyterLab renames the file with its tab: unless that is off, the tab keeps its name. */
function name(widget) {
  const renames = widget._onTitleChanged;
  if (typeof renames !== "function" || !widget.title.changed.disconnect(renames, widget)) return;
  const label = () => {
    if (widget.title.label !== "Home") widget.title.label = "Home";
  };
  widget.title.changed.connect(label);
  label();
}

function putFirst(shell, widget) {
  const [first] = shell.widgets("main");
  if (widget.isDisposed || !first || first === widget) return;
  const current = shell.currentWidget;
  shell.add(widget, "main", { mode: "tab-before", ref: first.id, activate: false });
  if (current && !current.isDisposed) shell.activateById(current.id);
}

async function refresh(lab, widget) {
  const { context, content } = widget;
  await context.ready;
  const entry = await entryOf(lab);
  if (!entry || context.isDisposed || context.model.dirty) return;
  if (entry.last_modified === context.contentsModel?.last_modified) return;
  const drawn = new Promise((resolve) => {
    content.rendered?.connect(resolve);
    setTimeout(resolve, PATIENCE);
  });
  await context.revert();
  await drawn;
}

async function entryOf(lab) {
  // The folder is asked: to ask for a file that is missing is an error in the console.
  const { content } = await lab.app.serviceManager.contents.get("", { content: true });
  return content.find((entry) => entry.name === HOME);
}
