// The learner's own top_p_filter and sample, where a notebook that has them shows the view of the
// next token (course_lib.lessons.own_draws answers). whose: the paragraph that says who chose.

function ownDraws(whose) {
  const PATIENCE = 5000; // milliseconds, after which the course's functions go on
  const SLOW = 300; // after which the reader is told that it takes long
  let former = Promise.resolve(); // the kernel answers one question after another
  let isLate = false; // until the reader does something else, nothing more is asked
  const told = { cut: "", drawn: "" };
  const tell = (sentence) => (whose.textContent = sentence);

  /**
   * Ask what is left of tokens, and with u, which one is drawn.
   *
   * @param {{id: number, before: number, cut: string}[]} tokens as distribution returns them
   * @returns {Promise<?{kept: [number, number][], id: number, probability: number}>} null where
   *     no notebook answers: the course's functions in the page do
   */
  function ask(tokens, p, u = null) {
    const next = former.then(() => asked(tokens, p, u));
    former = next;
    return next;
  }

  async function asked(tokens, p, u) {
    if (isLate) return null;
    const left = tokens.filter(({ cut }) => cut !== "top-k");
    const sum = left.reduce((a, { before }) => a + before, 0);
    const probabilities = left.map(({ before }) => Number((before / sum).toPrecision(9)));
    const promise = askNotebook(whose, { ids: left.map(({ id }) => id), probabilities, size: tokens.length, p, u });
    if (!promise) return null; // a page of the book
    const slow = setTimeout(tell, SLOW, "Your own functions are being asked …");
    const late = new Promise((done) => setTimeout(done, PATIENCE, "late"));
    const answer = await Promise.race([promise, late]);
    clearTimeout(slow);
    isLate = !answer || answer === "late" || answer.late;
    if (!answer?.kept) {
      tell(answer ? `Your own functions have not answered for ${PATIENCE / 1000} seconds. The course's are used.`
        : "The notebook's kernel is busy, or has not run this cell: the course's functions are used.");
      return null;
    }
    told.cut = answer.cut;
    told.drawn = answer.drawn ?? told.drawn;
    tell([told.cut, told.drawn].filter(Boolean).join(" "));
    return answer;
  }

  return {
    ask,
    /** Ask again, although it took long the time before. */
    reset() {
      isLate = false;
    },
  };
}
