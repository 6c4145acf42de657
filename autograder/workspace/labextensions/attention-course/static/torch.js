// PyTorch, where a lesson needs it and it was left for later: one sentence above the lesson,
// the command that fits, and a button that runs it. The kernel is asked, since only its Python
// counts, and only if the lesson's first code cell imports PyTorch.

const ADVICE = "__import__('autograder.messages.pytorch', fromlist=['_']).advice()";
const INSTALL = "from autograder import pytorch as _pytorch\n_status = _pytorch.install()";
const JSON_TYPE = "application/json";

export const TORCH_STYLE = `
.attention-course-torch { flex: 0 0 auto; box-sizing: border-box; padding: 12px 18px; line-height: 1.5;
  color: var(--jp-content-font-color1); background: var(--jp-layout-color2); border-bottom: 1px solid var(--jp-border-color1);
  font-family: var(--jp-content-font-family); font-size: var(--jp-content-font-size1); }
.attention-course-torch p { margin: 0 0 8px; max-width: 60em; }
.attention-course-torch p:last-child { margin: 0; }
.attention-course-torch code { display: inline-block; max-width: 100%; box-sizing: border-box; padding: 3px 8px; white-space: pre-wrap;
  overflow-wrap: anywhere; user-select: all; border: 1px solid var(--jp-border-color1); border-radius: 4px;
  background: var(--jp-layout-color1); font-family: var(--jp-code-font-family); font-size: var(--jp-code-font-size); }
.attention-course-torch button { font: inherit; padding: 4px 14px; color: var(--jp-content-font-color1); background: var(--jp-layout-color1);
  border: 1px solid currentColor; border-radius: 4px; cursor: pointer; }
.attention-course-torch pre { max-height: 9em; margin: 8px 0 0; overflow: auto; white-space: pre-wrap; overflow-wrap: anywhere;
  font-family: var(--jp-code-font-family); font-size: var(--jp-code-font-size); }
`;

/** Return whether a lesson begins with PyTorch. sources : of its code cells */
export function needsTorch([first = ""]) {
  return /^(?:import|from)[ \t]+torch\b/m.test(first);
}

/** Return how long something has taken, as 8 s or 2 min 5 s. */
export function duration(seconds) {
  const [minutes, rest] = [Math.floor(seconds / 60), Math.floor(seconds % 60)];
  return minutes ? `${minutes} min ${rest} s` : `${rest} s`;
}

/** Ask for PyTorch above a lesson that needs it, where it is missing. sources : as above */
export async function askForTorch(lab, panel, sources) {
  if (!needsTorch(sources)) return;
  const { sessionContext } = panel;
  await sessionContext.ready;
  const kernel = () => sessionContext.session?.kernel;
  if (!kernel()) return;
  const advice = await askKernel(kernel());
  if (!advice || panel.isDisposed) return;
  const note = make("section", { className: "attention-course-torch" });
  note.setAttribute("aria-label", "PyTorch is missing");
  note.append(make("p", { textContent: advice.sentence }));
  if (advice.command) note.append(make("p", {}, make("code", { textContent: advice.command })));
  if (advice.here) note.append(installer(panel, kernel, note));
  putAbove(lab, panel, note);
}

/** Put the note between toolbar and notebook, as high as what it says. */
function putAbove(lab, panel, note) {
  const widget = new lab.widgets.Widget({ node: make("div", {}, note) });
  panel.contentHeader.addWidget(widget);
  const observer = new ResizeObserver(() => {
    widget.node.style.minHeight = `${note.offsetHeight}px`;
    widget.fit(); // Lab's boxes look at this height alone
    panel.contentHeader.fit();
  });
  observer.observe(note);
  panel.disposed.connect(() => observer.disconnect());
}

function installer(panel, kernel, note) {
  const button = make("button", { type: "button", textContent: "Install PyTorch here" });
  const state = make("span", {});
  state.setAttribute("role", "status");
  const lines = make("pre", { hidden: true, tabIndex: 0 });
  lines.setAttribute("aria-label", "What pip says");
  const row = make("p", {}, button, " ", state);
  button.addEventListener("click", async () => {
    button.disabled = true;
    lines.hidden = false;
    lines.textContent = "";
    const start = Date.now();
    const tick = setInterval(() => (state.textContent = `Installing: ${duration((Date.now() - start) / 1000)}`), 1000);
    state.textContent = "Installing …";
    try {
      const status = await runInstall(kernel(), (text) => {
        lines.textContent = (lines.textContent + text).slice(-20000);
        lines.scrollTop = lines.scrollHeight;
      });
      if (status !== "0") throw new Error("PyTorch is not installed: what pip says is below.");
      await panel.sessionContext.session?.kernel?.restart();
      lines.hidden = true;
      note.querySelectorAll("p").forEach((each) => each !== row && each.remove());
      button.remove();
      state.textContent = "PyTorch is here. Run the lesson from its first cell.";
    } catch (error) {
      state.textContent = error.message;
      button.disabled = false;
    } finally {
      clearInterval(tick);
    }
  });
  return make("div", {}, row, lines);
}

/** Return what the kernel's Python says of PyTorch: null if it is there, or nothing is known. */
async function askKernel(kernel) {
  const reply = await kernel.requestExecute({ code: "", silent: true, store_history: false, user_expressions: { advice: ADVICE } }).done;
  const said = reply.content.user_expressions?.advice;
  return (said?.status === "ok" && said.data[JSON_TYPE]) || null;
}

/** Install PyTorch; return the status as a text. tell : is called with what is printed */
async function runInstall(kernel, tell) {
  const future = kernel.requestExecute({ code: INSTALL, store_history: false, stop_on_error: true, user_expressions: { status: "_status" } });
  future.onIOPub = ({ header, content }) => header.msg_type === "stream" && tell(content.text);
  const { content } = await future.done;
  return content.user_expressions?.status?.data?.["text/plain"] || "";
}

function make(tag, properties, ...children) {
  const node = Object.assign(document.createElement(tag), properties);
  node.append(...children);
  return node;
}
