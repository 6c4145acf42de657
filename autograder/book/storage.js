// What a reader has written and done, as the browser keeps it: a text for each kind of thing
// and name. Where it keeps nothing, all else goes on.

const attentionCourse = {};

(() => {
  const KEY = "attention-course";
  const MAX_EARLIER = 20;

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

  const earlierOf = (name) => {
    try {
      const texts = JSON.parse(read("earlier", name) ?? "[]");
      return Array.isArray(texts) ? texts.filter((each) => typeof each === "string") : [];
    } catch {
      return [];
    }
  };

  /** Keep a text among the earlier ones of an answer, the newest first. */
  const setAside = (name, text) => {
    const texts = earlierOf(name).filter((each) => each !== text);
    keep("earlier", name, JSON.stringify([text, ...texts].slice(0, MAX_EARLIER)));
  };

  attentionCourse.storage = { KEY, MAX_EARLIER, read, keep, earlierOf, setAside };
})();
