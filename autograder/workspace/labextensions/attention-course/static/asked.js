// What a living figure asks of the kernel: the learner's own function gets what is typed
// into the figure. The kernel that has drawn it answers; another one knows nothing of it.

const ASK = "attention-course-ask";
const JSON_TYPE = "application/json";

/** Answer a notebook's figures. An answer is a promise: null if the kernel has none. */
export function answerFigures(panel) {
  const { node } = panel.content;
  const asked = (event) => {
    event.detail.answer = answer(panel, event.detail);
  };
  node.addEventListener(ASK, asked);
  panel.disposed.connect(() => node.removeEventListener(ASK, asked));
}

async function answer(panel, { figure, question }) {
  const kernel = panel.sessionContext.session?.kernel;
  if (!kernel || kernel.status !== "idle") return null; // a run goes first
  const texts = `${JSON.stringify(figure)}, ${literal(question)}`;
  const expression = `__import__('course_lib.figures.living', fromlist=['_']).answer(${texts})`;
  try {
    const reply = await kernel.requestExecute({ code: "", silent: true, store_history: false, user_expressions: { answer: expression } }).done;
    const { status, data } = reply.content.user_expressions?.answer || {};
    return (status === "ok" && data[JSON_TYPE]?.answer) || null;
  } catch {
    return null; // the kernel was restarted meanwhile
  }
}

// JSON in ASCII as Python's literal: both know the same escapes.
function literal(value) {
  const escaped = (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return JSON.stringify(JSON.stringify(value).replace(/[\u007f-\uffff]/g, escaped));
}
