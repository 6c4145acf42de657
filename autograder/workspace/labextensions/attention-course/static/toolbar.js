// The plugin: commands, buttons for five of them in the toolbar of a lesson's notebook, and
// the lesson's predictions and reports.

import * as actions from "./actions.js";
import { answerFigures } from "./asked.js";
import { CHOICES_STYLE } from "./choices.js";
import { FIGURES_STYLE, watchFigures } from "./figures.js";
import { HOME_STYLE, openHome, refreshHome, watchHome } from "./home.js";
import { watchLinks } from "./links.js";
import { LESSON, LOOK_STYLE } from "./look.js";
import { makeRoom, NARROW, NARROW_STYLE } from "./narrow.js";
import { passCovered, PREDICTIONS_STYLE, watch } from "./predictions.js";
import { REPORTS_STYLE, watchReports } from "./reports.js";
import { nameTab, tabOf } from "./tabs.js";
import { askForTorch, TORCH_STYLE } from "./torch.js";

// Each path is drawn for 16 × 16; jp-icon3 gives it the theme's colour.
const BUTTONS = [
  {
    id: "check",
    text: "Check",
    label: "Check this exercise",
    caption: (name) => `Check this exercise: ${name}`,
    keys: ["Alt Shift Enter"],
    path: "M6.4 12.6 2 8.2l1.3-1.3 3.1 3.1L12.9 3.4l1.3 1.3z",
    action: actions.check,
  },
  {
    id: "hint",
    text: "Hint",
    label: "Open the next hint",
    caption: (name) => `Open the next hint: ${name}`,
    keys: ["Alt Shift H"],
    path:
      "M8 1a5 5 0 0 0-3 9v2h6v-2a5 5 0 0 0-3-9zm0 1.5a3.5 3.5 0 0 1 1.9 6.4l-.4.3v1.3h-3V9.2l" +
      "-.4-.3A3.5 3.5 0 0 1 8 2.5zM5.5 13h5v1.3h-5z",
    action: actions.hint,
  },
  {
    id: "start-over",
    text: "Start over",
    label: "Start this exercise over",
    caption: (name) => `Start this exercise over: ${name}`,
    path: "M8 2.5V.6L4.7 3.4 8 6.2V4.2a4.2 4.2 0 1 1-4.2 4.2H2.1A5.9 5.9 0 1 0 8 2.5z",
    action: actions.startOver,
  },
  {
    id: "restore",
    text: "Restore",
    label: "Restore an earlier answer",
    caption: (name) => `Restore an earlier answer: ${name}`,
    path: "M6 3v2.6h4.2a3.7 3.7 0 1 1 0 7.4H4v-1.7h6.2a2 2 0 1 0 0-4H6v2.6L1.6 6.4z",
    action: actions.restore,
  },
  {
    id: "home",
    text: "Home",
    label: "Open the home page",
    caption: () => "Open the home page: all lessons and what you have solved",
    path: "M8 1.6 1.3 7.7h1.8v6.2h4v-4h1.8v4h4V7.7h1.8zm0 2 3.4 3.1v5.7h-1V8.4H5.6v4h-1V6.7z",
    action: (lab) => openHome(lab),
    everywhere: true,
  },
];

// Without a button of its own in the toolbar: a report offers it when it may help.
const COURSE_VERSION = {
  id: "course-version",
  label: "Use the course's version, or your own answer again",
  caption: (name) => `Use the course's version: ${name}`,
  path: "M2 2.5h5.3l.7.8.7-.8H14v10H8.7l-.7 1-.7-1H2zm1.5 1.5v7h3.7V4zm5.3 0v7h3.7V4z",
  action: (lab, panel, args) => actions.useCourseVersion(lab, panel, args.exercise),
};
const COMMANDS = [...BUTTONS, COURSE_VERSION];

const OURS = '.jp-Toolbar-item[data-jp-item-name^="attention-course:"] .jp-ToolbarButtonComponent-label';
const ICONS = OURS.replace(/ \S+$/, " svg");

const STYLE = `
${OURS} { margin-left: 4px; }
.jp-Toolbar-item[data-jp-item-name="attention-course:home"] { padding-right: 4px; margin-right: 4px;
  border-right: 1px solid var(--jp-border-color2); }
@media (max-width: ${NARROW}px) {
  ${ICONS} { display: none; }
  ${OURS} { margin: 0; }
  .jp-NotebookPanel-toolbar [data-jp-item-name^="attention-course:"] jp-button { padding: 0; }
  .jp-cell-toolbar { display: none; }
}
.attention-course-status { position: absolute; width: 1px; height: 1px; margin: -1px; overflow: hidden;
  clip-path: inset(50%); white-space: nowrap; }
.attention-course-earlier fieldset { border: 0; margin: 0; padding: 0; max-height: 30vh; overflow: auto; }
.attention-course-earlier legend { padding: 0 0 8px; }
.attention-course-earlier label { display: block; padding: 3px 0; }
.attention-course-earlier input.jp-mod-styled { appearance: auto; width: auto; height: auto; margin: 0 8px 0 0;
  box-shadow: none; vertical-align: middle; accent-color: var(--jp-brand-color1); }
.jp-RenderedHTMLCommon mjx-container[display="true"] { max-width: 100%; overflow-x: auto; overflow-y: hidden; }
@media (max-width: 480px) { .jp-RenderedHTMLCommon mjx-container[display="true"] { font-size: 92% !important; } }
.attention-course-earlier pre { max-height: 35vh; max-width: 70vw; overflow: auto; margin: 12px 0 0; padding: 8px;
  color: var(--jp-content-font-color1); background: var(--jp-cell-editor-background);
  border: 1px solid var(--jp-border-color1); font-family: var(--jp-code-font-family);
  font-size: var(--jp-code-font-size); }
`;

/** Return the plugin. lab : JupyterLab's modules {notebook, apputils, components, widgets} */
export function makePlugin(lab) {
  return {
    id: "attention-course:toolbar",
    description: "Buttons for the exercises of a lesson.",
    autoStart: true,
    requires: [lab.notebook.INotebookTracker],
    optional: [lab.apputils.ICommandPalette],
    activate(app, tracker, palette) {
      const tell = (error) => lab.apputils.Notification.error(sentence(error), { autoClose: 8000 });
      try {
        activate({ ...lab, app }, tracker, palette, tell);
      } catch (error) {
        tell(error); // a notebook without our buttons is still a notebook
      }
    },
  };
}

function sentence(error) {
  return error instanceof Error && error.message ? error.message : `Something went wrong: ${error}`;
}

function activate(lab, tracker, palette, tell) {
  const { commands } = lab.app;
  document.head.appendChild(document.createElement("style")).textContent = [
    STYLE,
    CHOICES_STYLE,
    PREDICTIONS_STYLE,
    REPORTS_STYLE,
    HOME_STYLE,
    LOOK_STYLE,
    FIGURES_STYLE,
    TORCH_STYLE,
    NARROW_STYLE,
  ].join("");
  const status = document.createElement("div");
  status.className = "attention-course-status";
  status.setAttribute("role", "status");

  const panelOf = (args) =>
    (args.panel && tracker.find((panel) => panel.id === args.panel)) || tracker.currentWidget;
  const running = new Set();

  for (const button of COMMANDS) {
    const isLesson = (args) => Boolean(button.everywhere || actions.exerciseOf(panelOf(args)));
    commands.addCommand(commandOf(button), {
      label: button.label,
      caption: (args) => {
        const exercise = actions.exerciseOf(panelOf(args));
        return button.caption(exercise ? exercise.name : "no lesson is open");
      },
      icon: iconOf(lab, button),
      isEnabled: isLesson,
      isVisible: isLesson,
      execute: async (args) => {
        const panel = panelOf(args);
        const work = `${button.id} ${panel?.id}`;
        if (running.has(work)) return; // a second click while the first is at work
        running.add(work);
        const pressed = document.activeElement;
        try {
          const said = await button.action(lab, panel, args);
          if (said) say(lab, status, panel, said, button.id === "check");
        } catch (error) {
          tell(error);
        } finally {
          running.delete(work);
          if (args.panel && isLeft(lab, panel, pressed)) actions.giveFocusBack(panel);
        }
      },
    });
    palette?.addItem({ command: commandOf(button), category: "Course" });
  }
  lab.app.restored.then(() => addKeys(commands)).catch(tell);

  const changed = () => COMMANDS.forEach((button) => commands.notifyCommandChanged(commandOf(button)));
  const welcome = (panel) => {
    watchLinks(panel, () => actions.exerciseOf(panel), tell); // before one leads here
    panel.context.ready
      .then(() => {
        if (panel.isDisposed || !actions.exerciseOf(panel)) return;
        panel.addClass(LESSON);
        nameTab(panel, () => tabOf(panel.context.localPath, actions.cellsOf(panel)));
        addButtons(lab, panel);
        watch(panel, actions.cellsOf, tell);
        const use = (exercise) => commands.execute(commandOf(COURSE_VERSION), { panel: panel.id, exercise });
        watchReports(panel, actions.cellsOf, use, tell);
        watchFigures(lab, panel, tell);
        answerFigures(panel);
        const code = actions.cellsOf(panel).filter((cell) => cell.type === "code");
        askForTorch(lab, panel, code.map((cell) => cell.source)).catch(tell);
        panel.content.activeCellChanged.connect(changed);
        changed();
      })
      .catch(tell);
  };
  tracker.forEach(welcome);
  tracker.widgetAdded.connect((_, panel) => welcome(panel));
  tracker.currentChanged.connect(changed);
  lab.notebook.NotebookActions.executed.connect((_, { cell }) => {
    const { grade_id: id } = cell.model.getMetadata("nbgrader") || {};
    if (String(id).startsWith("check_")) refreshHome(lab).catch(tell); // the check has written it
  });
  passCovered(commands, tracker);
  watchHome(lab, tell);
  lab.app.restored.then(() => makeRoom(lab)).catch(tell);
  lab.app.contextMenu?.addItem({ command: commandOf(COURSE_VERSION), selector: ".jp-Notebook .jp-CodeCell", rank: 20 });
}

/** Return whether the keyboard is still at a button: there, Shift+Enter would press it again. */
function isLeft(lab, panel, pressed) {
  if (!panel || panel.isDisposed || lab.app.shell.currentWidget !== panel) return false;
  const focused = document.activeElement;
  if (panel.content.node.contains(focused)) return false; // the action has put it somewhere
  return [pressed, document.body, null].includes(focused) || panel.toolbar.node.contains(focused);
}

function commandOf(button) {
  return `attention-course:${button.id}`;
}

function iconOf(lab, button) {
  return new lab.components.LabIcon({
    name: `attention-course:${button.id}`,
    svgstr:
      '<svg xmlns="http://www.w3.org/2000/svg" width="16" height="16" viewBox="0 0 16 16" aria-hidden="true">' +
      `<path class="jp-icon3" fill="#616161" d="${button.path}"/></svg>`,
  });
}

/** Put the buttons first: in a narrow window the last ones go into Lab's overflow menu. */
function addButtons(lab, panel) {
  BUTTONS.forEach((button, index) => {
    const item = new lab.apputils.CommandToolbarButton({
      commands: lab.app.commands,
      id: commandOf(button),
      args: { panel: panel.id },
      label: button.text,
    });
    panel.toolbar.insertItem(index, commandOf(button), item);
  });
}

/** Add the shortcuts that nothing else has, once all others are known. */
function addKeys(commands) {
  for (const button of BUTTONS.filter((each) => each.keys)) {
    const taken = commands.keyBindings.some((binding) => binding.keys.join() === button.keys.join());
    if (taken) continue;
    commands.addKeyBinding({
      command: commandOf(button),
      args: {},
      keys: button.keys,
      selector: ".jp-Notebook",
    });
  }
}

/** Say something: a report that is in view anyway is read out only. */
function say(lab, status, panel, text, quietly) {
  if (!quietly) {
    lab.apputils.Notification.info(text, { autoClose: 5000 });
    return;
  }
  if (status.parentNode !== panel.node) panel.node.appendChild(status);
  status.textContent = "";
  setTimeout(() => (status.textContent = text), 50); // the same text again is news too
}
