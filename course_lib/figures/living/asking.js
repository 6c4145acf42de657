// What a view asks of the notebook that shows it (asked.js of the JupyterLab extension).

/** Return the promise of an answer to a view's question; null where no notebook hears it. */
function askNotebook(el, question) {
  const detail = { question, figure: el.closest("figure")?.id, answer: null };
  el.dispatchEvent(new CustomEvent("attention-course-ask", { bubbles: true, detail }));
  return detail.answer;
}
