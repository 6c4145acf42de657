// How a lesson's page looks: its type, its spaces, its code, predictions and reports.
// Only lessons have the class; notebooks of the learner's own are as JupyterLab has them.

export const LESSON = "attention-course-lesson";
const PAGE = `.${LESSON} .jp-Notebook`;
const TEXT = `${PAGE} .jp-MarkdownOutput`;
const REPORT = `${PAGE} .jp-OutputArea-output > [role="region"][aria-label^="check of "]`;
const WIDE = "56rem"; // of a cell, its number included

// Contrast of strings and comments with the ground of a cell: 6 and 5 on light, 9 and 6 on dark.
export const LOOK_STYLE = `
.${LESSON} { --attention-accent: #0b5cad; --attention-ground: rgba(11, 92, 173, 0.06); --attention-line: #d5dae1;
  --attention-quiet: #59616b; --attention-good: #2e8b57; --attention-bad: #d9534f; }
body[data-jp-theme-light="false"] .${LESSON} { --attention-accent: #7cc0ff; --attention-ground: rgba(124, 192, 255, 0.09);
  --attention-line: #444b54; --attention-quiet: #b3bac3; }
.${LESSON} { --jp-mirror-editor-string-color: #35607a; --jp-mirror-editor-comment-color: #5d6b66; }
body[data-jp-theme-light="false"] .${LESSON} { --jp-mirror-editor-string-color: #a5c9df; --jp-mirror-editor-comment-color: #9bb0a8; }

/* The column: as wide as one reads well, in the middle of the window. */
${PAGE} { --jp-content-line-height: 1.65; --jp-content-font-size1: 15px; }
${PAGE} .jp-Cell { max-width: ${WIDE}; margin-inline: auto; }
${TEXT} { padding-right: 0; }
${TEXT} :is(h1, h2, h3, h4) { font-weight: 650; letter-spacing: -0.01em; line-height: 1.25; }
${TEXT} h1 { font-size: 2.1em; margin: 0.6em 0 0.5em; }
${TEXT} h2 { font-size: 1.5em; margin: 1.4em 0 0.5em; }
${TEXT} h3 { font-size: 1.2em; margin: 1.2em 0 0.5em; }
${TEXT} a:not(:hover, .jp-InternalAnchorLink) { text-decoration: underline; text-decoration-thickness: 1px;
  text-underline-offset: 0.2em; }
${PAGE} .jp-MarkdownCell .jp-InputArea, ${PAGE} .jp-MarkdownCell.jp-mod-rendered .jp-MarkdownOutput { border-color: transparent; }
${PAGE} .jp-InputArea-editor { border-radius: 6px; }
${PAGE} .jp-InputPrompt, ${PAGE} .jp-OutputPrompt { font-size: 11px; }
`;
