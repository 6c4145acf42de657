// What a reader has written and done, as the browser keeps it: a text for each kind of thing
// and name. Where it keeps nothing, all else goes on.

const attentionCourse = {};

(() => {
  const KEY = "attention-course";
  const MAX_EARLIER = 20;
  // A prediction's key once had the page's address in it, which changes with the server.
  const FORMER_PREDICTION = /^attention-course \/(?:\S*\/)?([^/\s]+?)(?:\.html)? ([^/\s]+)$/;

  const read = (kind, name) => {
    try {
      return localStorage.getItem(`${KEY} ${kind} ${name}`);
    } catch {
      return null; // blocked
    }
  };

  /** Keep a text, or forget it (null); return whether that was possible. */
  const keep = (kind, name, text) => {
    try {
      if (text === null) localStorage.removeItem(`${KEY} ${kind} ${name}`);
      else localStorage.setItem(`${KEY} ${kind} ${name}`, text);
      return true;
    } catch {
      return false; // full or blocked
    }
  };

  /** Keep all of some texts, [kind, name, text], or none; return whether that was possible. */
  const keepAll = (changes) => {
    const done = [];
    for (const [kind, name, text] of changes) {
      done.push([kind, name, read(kind, name)]);
      if (keep(kind, name, text)) continue;
      // Backwards, through states that there was room for.
      done.reverse().forEach((each) => keep(...each));
      return false;
    }
    return true;
  };

  /** Return the earlier versions of an answer, {time, source}, the newest first. */
  const rowsOf = (name) => {
    try {
      const rows = JSON.parse(read("earlier", name) ?? "[]");
      return (Array.isArray(rows) ? rows : [])
        .map((each) => (typeof each === "string" ? { time: "", source: each } : each))
        .filter((each) => typeof each?.source === "string")
        .map(({ time, source }) => ({ time: String(time ?? ""), source }));
    } catch {
      return [];
    }
  };
  const rowOf = (source) => ({ time: new Date().toISOString(), source });
  const earlierOf = (name) => rowsOf(name).map((each) => each.source);
  const keepRows = (name, rows) => keep("earlier", name, JSON.stringify(rows));

  /** Keep a text among the earlier ones of an answer, the newest first. */
  const setAside = (name, text) => {
    const rows = rowsOf(name).filter((each) => each.source !== text);
    keepRows(name, [rowOf(text), ...rows].slice(0, MAX_EARLIER));
  };

  /** Return the keys of all that is kept, without what they begin with; none if blocked. */
  const names = () => {
    try {
      return Object.keys(localStorage)
        .filter((each) => each.startsWith(`${KEY} `))
        .map((each) => each.slice(KEY.length + 1));
    } catch {
      return [];
    }
  };

  /** Return "" if the browser keeps what it is given, else "full" or "blocked". */
  const trouble = () => {
    try {
      localStorage.getItem(KEY);
    } catch {
      return "blocked";
    }
    if (!keep("room", "", "x".repeat(1000))) return "full";
    keep("room", "", null);
    return "";
  };

  /** Keep predictions by lesson and name, wherever the book is served. */
  const renamePredictions = () => {
    for (const key of names()) {
      const [, lesson, name] = `${KEY} ${key}`.match(FORMER_PREDICTION) ?? [];
      if (!lesson) continue;
      const choice = localStorage.getItem(`${KEY} ${key}`);
      const isKept = read("prediction", `${lesson}/${name}`) !== null || keep("prediction", `${lesson}/${name}`, choice);
      if (isKept) localStorage.removeItem(`${KEY} ${key}`);
    }
  };
  renamePredictions();

  attentionCourse.storage = {
    KEY, MAX_EARLIER, read, keep, keepAll, rowsOf, rowOf, keepRows, earlierOf, setAside, names, trouble,
  };
})();
