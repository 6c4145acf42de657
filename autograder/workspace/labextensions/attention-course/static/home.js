// The tab of the home page: called Home, the first one, never older than the file.

import { nameTab } from "./tabs.js";

export const HOME = "home.md";
const PAGE = "attention-course-home";
const STALE = "attention-course-stale-home";
const PATIENCE = 1500; // milliseconds: after that the page is shown as it is

const TEXT = `.${PAGE} .jp-MarkdownViewer .jp-RenderedMarkdown`;
// A bar that is full: CSS cannot compare two attributes.
const FULL = Array.from({ length: 30 }, (_, n) => `[value="${n + 1}"][max="${n + 1}"]`).join();

// The page is plain Markdown, and reads well without this: a line on where to go on, a bar, a
// table of lessons, and lists. What is hidden keeps its place, so that nothing jumps.
export const HOME_STYLE = `
.${STALE} .jp-MarkdownViewer > * { visibility: hidden; }
.${PAGE} { --home-accent: #0b5cad; --home-good: #1c7c4a; --home-quiet: #59616b; --home-line: #d5dae1;
  --home-hero: #eef4fb; --home-card: #ffffff; --home-track: #dfe5ec; }
body[data-jp-theme-light="false"] .${PAGE} { --home-accent: #7cc0ff; --home-good: #6fd39b; --home-quiet: #b3bac3;
  --home-line: #41474f; --home-hero: #17222e; --home-card: #1a1d21; --home-track: #3a4149; }
.${PAGE} .jp-MarkdownViewer { container-type: inline-size; }
${TEXT} { display: grid; grid-template-columns: repeat(12, minmax(0, 1fr)); gap: 14px; align-items: start; box-sizing: border-box;
  padding: 28px max(32px, calc(50cqi - 560px)) 48px; line-height: 1.5; }
${TEXT} > * { grid-column: 1 / -1; margin: 0; }
${TEXT} > h1 { font-size: 15px; font-weight: 650; letter-spacing: 0.02em; color: var(--home-quiet); }
${TEXT} > h2 { font-size: 20px; font-weight: 650; margin-top: 22px; }
${TEXT} a { color: var(--home-accent); text-decoration: none; }
${TEXT} :is(p, li) a { text-decoration: underline; text-decoration-thickness: 1px; text-underline-offset: 0.2em; }
${TEXT}:focus { outline: 0; }
${TEXT} a:focus-visible, ${TEXT} summary:focus-visible { outline: 3px solid var(--home-accent); outline-offset: 2px; border-radius: 3px; }

/* Where to go on, with its question, large; beside it how far one has come. */
${TEXT} > h1 + p, ${TEXT} > h1 ~ p:has(> progress) { align-self: stretch; box-sizing: border-box; padding: 22px 26px;
  border-radius: 12px; background: var(--home-hero); }
${TEXT} > h1 + p { grid-column: 1 / span 8; grid-row: 2; font-size: 20px; line-height: 1.45; text-wrap: pretty; }
${TEXT} > h1 + p > strong:first-child { display: block; margin-bottom: 4px; font-size: 14px; color: var(--home-quiet); }
${TEXT} > h1 + p > a { font-weight: 650; }
${TEXT} > h1 + p > em { display: block; margin-top: 10px; font-size: 30px; font-style: normal; font-weight: 650;
  letter-spacing: -0.015em; line-height: 1.2; text-wrap: balance; }
/* The question, then one button and its minutes; before anything is solved, also what the course is. */
${TEXT} > h1 + p > small { display: block; margin-top: 10px; max-width: 36em; font-size: 16px; color: var(--home-quiet); text-wrap: pretty; }
${TEXT} > h1 + p:has(> em) { display: flex; flex-wrap: wrap; align-items: baseline; gap: 0 10px; }
${TEXT} > h1 + p:has(> em) > :is(strong, em, small) { flex: 0 0 100%; order: -1; }
${TEXT} > h1 + p:has(> small) > strong:first-child { display: none; }
${TEXT} > h1 + p:has(> small) > em { margin-top: 0; }
${TEXT} > h1 + p:has(> em) > a { margin-top: 16px; padding: 7px 16px; border-radius: 8px; background: var(--home-accent);
  color: var(--home-hero); font-size: 17px; text-decoration: none; }
${TEXT} > h1 + p:has(> em) > a::after { content: " \\2192"; }
${TEXT} > h1 ~ p:has(> progress) { grid-column: 9 / -1; grid-row: 2; align-content: center; font-size: 15px; }
${TEXT} > h1 ~ p:has(> progress) > progress { height: 14px; margin-bottom: 12px; }
${TEXT} > h1 ~ p:has(> progress) > em { font-style: normal; }
${TEXT} > h1 ~ p:has(> progress) > br { display: block; margin-top: 8px; content: ""; }

${TEXT} progress { appearance: none; display: block; width: 100%; height: 6px; border: 0; border-radius: 99px; overflow: hidden;
  background: var(--home-track); color: var(--home-accent); }
${TEXT} progress::-webkit-progress-bar { background: var(--home-track); }
${TEXT} progress::-webkit-progress-value { background: var(--home-accent); border-radius: 99px; }
${TEXT} progress::-moz-progress-bar { background: var(--home-accent); border-radius: 99px; }
${TEXT} progress:is(${FULL})::-webkit-progress-value { background: var(--home-good); }
${TEXT} progress:is(${FULL})::-moz-progress-bar { background: var(--home-good); }

/* The lessons: a card for each row of the table, all of it the link. */
${TEXT} table, ${TEXT} tbody { display: block; width: auto; border: 0; font-size: 14px; }
${TEXT} thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
${TEXT} tbody { display: grid; grid-template-columns: repeat(auto-fill, minmax(246px, 1fr)); gap: 14px; }
${TEXT} tbody tr { position: relative; display: grid; grid-template-columns: 1fr auto auto; grid-template-rows: 1fr auto;
  gap: 12px 10px; padding: 15px 17px 16px; border: 1px solid var(--home-line); border-radius: 10px; background: var(--home-card); }
${TEXT} tbody tr:hover, ${TEXT} tbody tr:focus-within { border-color: var(--home-accent); background: var(--home-card); }
${TEXT} tbody tr:has(a:focus-visible) { outline: 3px solid var(--home-accent); outline-offset: 1px; }
${TEXT} tbody td { padding: 0; border: 0; text-align: left; white-space: normal; color: var(--home-quiet); }
${TEXT} tbody td:nth-child(1) { grid-column: 1 / -1; min-height: 4em; }
${TEXT} tbody td:nth-child(1) a { display: block; margin-bottom: 4px; font-size: 16px; font-weight: 650; line-height: 1.3; outline: 0; }
${TEXT} tbody td:nth-child(1) a::after { content: ""; position: absolute; inset: 0; }
${TEXT} tbody td:nth-child(1) a + br { display: none; }
${TEXT} tbody td:nth-child(2) { grid-area: 2 / 1 / 3 / -1; }
${TEXT} tbody td:nth-child(2) progress { margin-top: 7px; }
${TEXT} tbody td:nth-child(2) small { display: block; margin-top: 7px; font-size: 12.5px; }
${TEXT} tbody td:nth-child(2) progress ~ br { display: none; }
${TEXT} tbody td:nth-child(n + 3) { grid-area: 2 / 2; }
${TEXT} tbody td:last-child { grid-area: 2 / 3; }
${TEXT} tbody tr:has(progress:is(${FULL})) td:last-child { color: var(--home-good); font-weight: 650; }

${TEXT} > details { grid-column: span 6; padding: 12px 17px; border: 1px solid var(--home-line); border-radius: 10px;
  background: var(--home-card); }
${TEXT} > details > summary { cursor: pointer; font-weight: 600; }
${TEXT} > details > ul { margin: 10px 0 2px; padding: 0; list-style: none; }
${TEXT} > details > ul > li { padding: 4px 0; color: var(--home-quiet); }
/* For one who edits the file: it is written anew. */
${TEXT} > hr, ${TEXT} > hr ~ p { display: none; }
@container (max-width: 760px) {
  ${TEXT} { padding: 18px 14px 32px; gap: 12px; }
  ${TEXT} > h1 + p, ${TEXT} > h1 ~ p:has(> progress), ${TEXT} > details { grid-column: 1 / -1; grid-row: auto; }
  ${TEXT} > h1 + p, ${TEXT} > h1 ~ p:has(> progress) { padding: 16px 18px; }
  ${TEXT} > h1 + p { font-size: 17px; }
  ${TEXT} > h1 + p > em { font-size: 24px; }
  ${TEXT} tbody { gap: 10px; }
  ${TEXT} tbody td:nth-child(1) { min-height: 0; }
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
      nameTab(widget, () => "Home");
      scrollByKeys(widget);
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
      .finally(() => {
        newValue.removeClass(STALE);
        focusText(newValue.content.node);
      });
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
  const page = JSON.parse(document.getElementById("jupyter-config-data")?.textContent || "{}");
  if (tab) lab.app.shell.activateById(tab.id);
  // Notebook 7 has one document a page, and shows Markdown as its text only.
  else if (page.notebookPage) window.open(`${page.baseUrl}edit/${HOME}`, "_blank");
  else await lab.app.commands.execute("docmanager:open", { path: HOME, factory: "Markdown Preview" });
  return "";
}

/** Let PageDown and the arrows scroll: what JupyterLab focuses is not what scrolls. */
function scrollByKeys({ content }) {
  const page = content.node.querySelector(".jp-RenderedMarkdown");
  if (!page) return;
  page.tabIndex = 0;
  page.setAttribute("role", "region");
  page.setAttribute("aria-label", "Home");
  content.node.addEventListener("focus", () => focusText(content.node));
  focusText(content.node);
}

/** Pass on the focus; while the page is hidden it takes none. */
function focusText(node) {
  if (document.activeElement !== node) return;
  node.querySelector(".jp-RenderedMarkdown")?.focus({ preventScroll: true });
}

function tabsOfHome(lab) {
  return [...lab.app.shell.widgets("main")].filter(isHome);
}

/** Return whether a tab shows the page, and is no editor of its text. */
function isHome(widget) {
  return widget?.context?.localPath === HOME && Boolean(widget.content?.hasClass("jp-MarkdownViewer"));
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
