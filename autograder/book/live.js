// The exercise on its page, to be answered: an editor, what checks the answer, and what was
// written, kept by the browser. Python's report alone becomes HTML, and of that no more than
// such a report has: an answer runs where the report is made, and could have written it.

(() => {
  const { python, storage: browserStorage } = attentionCourse;
  const { make, button, showWorking, nodesOf, textarea, fit: fitTo } = attentionCourse.editing;
  const { KEY, MAX_EARLIER, read, keep, earlierOf, rowsOf, rowOf, keepRows } = browserStorage;
  const ACTIVITY = ["pointermove", "pointerdown", "keydown", "scroll"]; // of a reader

  // The page

  /** Return the folded hints that stand above the editor, in the nearest section with any. */
  function hintsOf(container) {
    for (let part = container.closest("section"); part; part = part.parentElement.closest("section")) {
      const all = [...part.querySelectorAll("details")].filter(
        (each) => !each.closest(".live, .solution, .cell_output") && each.compareDocumentPosition(container) & Node.DOCUMENT_POSITION_FOLLOWING,
      );
      if (all.length) return all;
    }
    return [];
  }

  function enliven(container) {
    const about = JSON.parse(container.querySelector("script").textContent);
    const { name, stub } = about;
    const code = make("code", { textContent: name });
    const label = make("label", { htmlFor: `answer-${name}` }, "Your ", code);
    const area = textarea({ id: `answer-${name}` }, () => check());
    const keys = make("p", {
      id: `keys-${name}`, className: "live-keys",
      textContent: "Shift+Enter checks. Tab indents; Escape, then Tab leaves the editor.",
    });
    area.setAttribute("aria-describedby", keys.id);
    const status = make("p", { className: "live-status" });
    status.setAttribute("role", "status");
    const storage = make("p", { className: "live-storage" });
    storage.setAttribute("role", "status");
    const report = make("div", { className: "live-report" });
    const stale = make("p", { className: "live-stale", hidden: true, textContent: "The report is about what you had written before." });
    let judged = null; // the text that the report is about
    let other = null; // what another tab has written, until this one overwrites it
    const say = (text) => {
      status.textContent = text;
      status.classList.remove("live-heard");
    };

    // What was written

    const write = () => {
      setOtherAside();
      const text = area.value;
      const isKept = keep("answer", name, text === stub ? null : text);
      storage.textContent = isKept ? "" : "Your browser does not keep what you write here (its storage is full or blocked): copy it before you leave.";
      stale.hidden = judged === null || judged === text;
      fit();
    };
    const fit = () => fitTo(area, 8);
    const setAside = (text) => {
      if (text.trim() !== stub.trim()) browserStorage.setAside(name, text);
    };
    const setOtherAside = () => {
      if (other !== null) setAside(other);
      other = null;
    };
    const replace = (text) => {
      setOtherAside(); // below this tab's own
      setAside(area.value);
      area.value = text;
      write();
      offer();
      area.focus();
    };
    const offer = () => {
      const isOther = other !== null && other !== area.value && other.trim() !== stub.trim();
      restore.disabled = !isOther && !earlierOf(name).some((each) => each !== area.value);
    };
    const solved = () => {
      const isSolved = read("solved", name) !== null;
      container.classList.toggle("live-solved", isSolved);
      mark.textContent = isSolved ? "✓ solved" : "";
    };

    // Buttons

    const check = async () => {
      if (python.waiting) return;
      python.say = say;
      const text = area.value;
      area.dataset.leave = "";
      showWorking(true, stop, [checkButton]);
      const earlier = Object.fromEntries(about.uses.map((each) => [each, read("answer", each) ?? ""]));
      const result = await python.ask("check.check_json", { name, text, earlier, imports: about.imports }, about.extras);
      showWorking(false, stop, [checkButton]);
      judged = text;
      show(result);
      if (result.kind !== "report") return;
      setAside(text);
      const time = new Date().toISOString();
      if (result.solved) keep("solved", name, read("solved", name) ?? time);
      if (result.claims) {
        const attempts = (JSON.parse(read("checked", name) ?? "{}").attempts ?? 0) + 1;
        const { holding, claims, data: { points } } = result;
        keep("checked", name, JSON.stringify({ time, holding, claims, points, attempts }));
      }
      solved();
      offer();
    };
    const show = (result) => {
      report.replaceChildren();
      stale.hidden = judged === area.value;
      if (result.sentence) {
        judged = null;
        stale.hidden = true;
        report.append(make("p", { textContent: result.sentence }));
        if (!python.worker) status.textContent = "";
        return;
      }
      status.textContent = result.headline; // heard: the report says it to the eye
      status.classList.add("live-heard");
      report.append(make("div", {}, ...nodesOf(result.html)));
      // Below a long answer the report would be out of sight.
      const first = report.querySelector("[role=region] > p") ?? report;
      if (container.contains(document.activeElement)) first.scrollIntoView({ block: "nearest" });
      if (result.printed) {
        const printed = make("pre", { textContent: result.printed, tabIndex: 0 });
        const summary = make("summary", { textContent: "What your text printed" });
        report.append(make("details", { open: true }, summary, printed));
      }
    };
    const hints = hintsOf(container);
    const openHint = () => {
      const next = hints.find((each) => !each.open) ?? hints[hints.length - 1];
      next.open = true;
      next.querySelector("summary").focus();
      next.scrollIntoView({ block: "center" });
    };
    const restoreEarlier = () => {
      setOtherAside();
      const rows = rowsOf(name);
      const last = rows.findIndex((each) => each.source !== area.value);
      if (last < 0) return;
      const [row] = rows.splice(last, 1);
      // The one that is there comes last, so that pressing again leads through all.
      const others = rows.filter((each) => each.source !== area.value);
      const known = rows.find((each) => each.source === area.value) ?? rowOf(area.value);
      const own = area.value.trim() === stub.trim() ? [] : [known];
      keepRows(name, [...others, ...own, row].slice(-MAX_EARLIER));
      area.value = row.source;
      write();
      offer();
      area.focus();
    };
    const checkButton = button("Check", check);
    checkButton.className = "live-check";
    const stop = button("Stop", () => python.stop());
    stop.hidden = true;
    const restore = button("Restore", restoreEarlier);
    restore.title = "Bring back what you had written earlier";
    const buttons = [checkButton, stop];
    if (hints.length) buttons.push(button("Hint", openHint));
    buttons.push(button("Start over", () => replace(stub)), restore);
    buttons.push(button("Use the course's version", () => replace(about.courseVersion)));
    const mark = make("span", { className: "live-mark" });

    area.addEventListener("input", write);
    area.addEventListener("focus", () => {
      if (python.waiting) return; // another editor's check
      python.say = say;
      python.start();
      python.sayHowFar();
    });
    addEventListener("storage", (event) => {
      if (event.key === `${KEY} solved ${name}`) solved();
      if (event.key === null) { // cleared
        storage.textContent = "What your browser kept of this book was cleared elsewhere. This text is still here: change it, and it is kept again.";
        offer();
        solved();
        return;
      }
      if (event.key !== `${KEY} answer ${name}`) return;
      const text = event.newValue ?? stub;
      if (document.activeElement === area) {
        other = text;
        storage.textContent = "Another tab has written another version of this answer: Restore brings it here.";
      } else {
        other = null;
        area.value = text;
        stale.hidden = judged === null || judged === text;
        fit();
      }
      offer();
    });

    // In its lesson the course's own check comes after the solution: the reader's is here.
    const own = container.nextElementSibling?.nextElementSibling;
    if (own?.matches("div.cell") && own.querySelector("pre")?.textContent.trim() === `check(${name})`) {
      own.classList.add("live-replaced");
    }
    area.value = read("answer", name) ?? stub;
    const row = make("div", { className: "live-buttons" }, ...buttons, mark);
    container.replaceChildren(label, area, keys, row, status, storage, stale, report);
    fit();
    offer();
    solved();
  }

  /** Start Python when a reader, who has done something here, comes near an editor. */
  function startWhileReading(containers) {
    const watch = new IntersectionObserver((entries) => {
      const near = entries.find((each) => each.isIntersecting);
      if (!near) return;
      watch.disconnect();
      python.startEarly(near.target.querySelector("textarea").id.replace("answer-", ""));
    }, { rootMargin: "100%" });
    const begin = () => {
      ACTIVITY.forEach((kind) => removeEventListener(kind, begin));
      containers.forEach((each) => watch.observe(each));
    };
    ACTIVITY.forEach((kind) => addEventListener(kind, begin, { passive: true }));
  }

  document.addEventListener("DOMContentLoaded", () => {
    if (!/^https?:$/.test(location.protocol)) return;
    const all = document.querySelectorAll(".live");
    if (!window.Worker || !window.WebAssembly) {
      all.forEach((each) => each.append(make("p", {}, "This browser cannot run Python: a newer one checks your answer here.")));
      return;
    }
    all.forEach(enliven);
    startWhileReading(all);
  });
})();
