// How a lesson's page looks: its type, its spaces, its code, predictions and reports.
// Only lessons have the class; notebooks of the learner's own are as JupyterLab has them.

export const LESSON = "attention-course-lesson";
const PAGE = `.${LESSON} .jp-Notebook`;
const TEXT = `${PAGE} .jp-MarkdownOutput`;
const REPORT = `${PAGE} .jp-OutputArea-output > [role="region"][aria-label^="check of "]`;
const WIDE = "56rem"; // of a cell, its number included

// Contrast of strings and comments with the ground of a cell: 6 and 5 on light, 9 and 6 on dark.
export const LOOK_STYLE = `
.${LESSON} { --attention-accent: #0b5cad; --attention-ground: rgba(11, 92, 173, 0.06); --attention-chosen: rgba(11, 92, 173, 0.13); --attention-line: #d5dae1;
  --attention-quiet: #59616b; --attention-good: #2e8b57; --attention-bad: #d9534f; }
body[data-jp-theme-light="false"] .${LESSON} { --attention-accent: #7cc0ff; --attention-ground: rgba(124, 192, 255, 0.09); --attention-chosen: rgba(124, 192, 255, 0.2);
  --attention-line: #444b54; --attention-quiet: #b3bac3; }
.${LESSON} { --jp-mirror-editor-string-color: #35607a; --jp-mirror-editor-string-2-color: #35607a;
  --jp-mirror-editor-comment-color: #5d6b66; --jp-mirror-editor-bracket-color: #66655a; }
body[data-jp-theme-light="false"] .${LESSON} { --jp-mirror-editor-string-color: #a5c9df; --jp-mirror-editor-string-2-color: #a5c9df;
  --jp-mirror-editor-comment-color: #9bb0a8; --jp-mirror-editor-bracket-color: #b9b7a5; }
#jp-main-dock-panel .lm-DockPanel-tabBar { --jp-private-horizontal-tab-width: 250px; }

/* The column: as wide as one reads well, in the middle of the window. */
${PAGE} { --jp-content-line-height: 1.65; --jp-content-font-size1: 15px; }
/* JupyterLab's icons for a cell lie over what one reads, and are on the way of Tab. */
${PAGE} .jp-cell-toolbar { display: none; }
/* So are the triangles that fold a section; the arrow keys do it too, at a heading. */
${PAGE} .jp-MarkdownCell:not(:hover) .jp-collapseHeadingButton:not(.jp-mod-collapsed) { visibility: hidden; }
${PAGE} .jp-Cell { max-width: ${WIDE}; margin-inline: auto; }
${TEXT} { padding-right: 0; }
${TEXT} :is(h1, h2, h3, h4) { font-weight: 650; letter-spacing: -0.01em; line-height: 1.25; }
${TEXT} h1 { font-size: 2.1em; margin: 0.6em 0 0.5em; }
${TEXT} h2 { font-size: 1.5em; margin: 1.4em 0 0.5em; }
/* Where begins what can be skipped. */
${TEXT} h2:is([id="Going-further"], [data-jupyter-id="Going-further"]) { padding-top: 1em; border-top: 1px solid var(--attention-quiet); }
${TEXT} h3 { font-size: 1.2em; margin: 1.2em 0 0.5em; }
${TEXT} h3:is([id^="Exercise"], [data-jupyter-id^="Exercise"]) { padding-top: 0.8em; border-top: 3px solid var(--attention-accent); }
${TEXT} a:not(:hover, .jp-InternalAnchorLink) { text-decoration: underline; text-decoration-thickness: 1px;
  text-underline-offset: 0.2em; }
${PAGE} .jp-MarkdownCell .jp-InputArea, ${PAGE} .jp-MarkdownCell.jp-mod-rendered .jp-MarkdownOutput { border-color: transparent; }
${PAGE} .jp-InputArea-editor { border-radius: 6px; }
/* Lines of output break between words; a word that is longer than the line is scrolled to. */
${PAGE} .jp-OutputArea-output pre { word-break: normal; overflow-wrap: normal; overflow-x: auto; }
${PAGE} .jp-InputPrompt, ${PAGE} .jp-OutputPrompt { font-size: 11px; }
${PAGE} .jp-Cell:first-child .jp-MarkdownOutput > h1 + p > strong:only-child { font-size: 1.2em; font-weight: 600;
  color: var(--attention-quiet); }
/* Where one is says the bar at the side; a frame around text would make a form of it. */
${PAGE} .jp-MarkdownCell.jp-mod-rendered { border-color: transparent; }
${PAGE} .jp-MarkdownCell.jp-mod-rendered::before { border-color: transparent; }

/* Predictions: the options as a list of answers, and what waits for one of them. */
${TEXT} ul.attention-choices { display: grid; gap: 8px; margin: 0.8em 0 1em; padding: 0; }
${TEXT} .attention-choices label { display: flex; padding: 0.4em 0.9em; border: 1px solid var(--attention-line); border-radius: 8px;
  line-height: 1.45; }
/* Pointed at: a grey ground. Reached by keyboard: a ring around it. Chosen: a full edge and ground. */
${TEXT} .attention-choices label:has(:checked) { border-color: var(--attention-accent); background: var(--attention-chosen);
  box-shadow: inset 5px 0 0 var(--attention-accent); }
${TEXT} .attention-choices label:has(:focus-visible) { outline-color: var(--attention-accent); outline-offset: -3px; }
${TEXT} .attention-choices input { accent-color: var(--attention-accent); }
${PAGE} .attention-outcome { padding: 0.6em 1em; border: 0; border-radius: 8px; background: var(--attention-ground); }
${PAGE} .attention-cover { display: flex; flex-wrap: wrap; align-items: center; justify-content: space-between; gap: 6px 16px;
  padding: 0.6em 1em; border: 1px solid var(--attention-line); border-radius: 8px; color: var(--attention-quiet); font-size: 14px; }
${PAGE} .attention-cover p { margin: 0; }
${PAGE} .attention-cover button, ${PAGE} .attention-course-way-on button { color: var(--attention-accent);
  border-color: var(--attention-accent); border-radius: 6px; padding: 0.2em 0.9em; }
${PAGE} :is(.attention-cover, .attention-course-way-on) button:hover { background: var(--attention-ground); }

/* Reports: a sheet of their own, with its outcome at the edge. */
${REPORT} { box-sizing: border-box; margin: 6px 0 10px; padding: 14px 20px; border: 1px solid var(--attention-line);
  border-left: 4px solid var(--attention-good); border-radius: 8px; line-height: 1.55; }
${REPORT}.attention-failed { border-left-color: var(--attention-bad); }
${REPORT} > strong:first-child { font-size: 1.1em; font-weight: 650; }
${REPORT} > p { margin: 0.6em 0; }
${REPORT} > p[style*="border-left"] { border-left-width: 0 !important; border-radius: 6px; padding: 0.6em 0.9em !important;
  background: rgba(184, 134, 11, 0.12); }
${REPORT} > ul { margin: 0.6em 0 !important; padding: 0 !important; }
${REPORT} > ul > li { margin: 0; padding: 4px 0; }
${REPORT} > ul > li + li { border-top: 1px solid var(--attention-line); }
${REPORT} > ul:has(details) > li:not(:has(> details)) { padding-left: 1.08em; }
${PAGE} .jp-OutputArea-output:has(> [role="region"][aria-label^="check of "]) { padding-right: 0; }
${REPORT} summary { cursor: pointer; }
${REPORT} li div { padding: 4px 0 6px; color: var(--attention-quiet); }
${REPORT} .attention-possible { font-weight: 600; }
${PAGE} .attention-course-older { border: 1px solid var(--attention-line); border-radius: 6px; }

/* Tables: lines between the rows, numbers under numbers, no stripes. */
${PAGE} .jp-RenderedHTMLCommon table { margin: 0.8em 0 1em; border-collapse: collapse; font-size: 14px; font-variant-numeric: tabular-nums; }
${PAGE} .jp-RenderedHTMLCommon :is(th, td) { padding: 6px 14px; border-bottom: 1px solid var(--attention-line); }
${PAGE} .jp-RenderedHTMLCommon thead :is(th, td) { border-bottom: 2px solid var(--attention-line); font-weight: 600; }
${PAGE} .jp-RenderedHTMLCommon :is(tr:nth-child(even), tr:hover) { background: transparent; }

/* Hints and what else folds. */
${TEXT} details { margin: 0.5em 0; padding: 0.4em 1em; border: 1px solid var(--attention-line); border-radius: 8px; }
${TEXT} details > summary { cursor: pointer; font-weight: 600; }
${TEXT} details > summary:focus-visible, ${REPORT} summary:focus-visible { outline: 3px solid var(--attention-accent); outline-offset: 2px; }
@media (max-width: 640px) {
  ${PAGE} { --jp-content-font-size1: 16px; }
  /* A line of code that is broken goes on further to the right than it begins. */
  ${PAGE} .jp-InputArea-editor .cm-content { font-size: 11.5px; line-height: 1.45; }
  ${PAGE} .jp-InputArea-editor .cm-lineWrapping .cm-line { padding-left: calc(4px + 6ch); text-indent: -6ch; word-break: normal; }
  ${PAGE} .jp-InputArea-editor .cm-lineWrapping { word-break: normal; }
  ${PAGE} .jp-OutputArea-output pre { font-size: 12px; }
  ${PAGE} .jp-RenderedHTMLCommon :not(pre) > code { overflow-wrap: anywhere; }
  ${TEXT} h1 { font-size: 1.7em; }
  ${TEXT} h2 { font-size: 1.4em; }
  ${REPORT} { padding: 12px; }
  ${PAGE} .jp-RenderedHTMLCommon :is(th, td) { padding: 5px 8px; }
}
`;
