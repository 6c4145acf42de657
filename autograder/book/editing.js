// What the page's editors share: elements, keys, and what of a text of HTML may stand in the
// page. Python's text alone becomes HTML, and of that no more than a report or a table has:
// an answer runs where it is made, and could have written it.

(() => {
  // What such HTML consists of: no link, no form, nothing that loads or leads elsewhere.
  const ELEMENTS = "div strong p ul li span code pre details summary table thead tbody tr th td caption".split(" ");
  const ATTRIBUTES = "style class role aria-label open scope colspan rowspan".split(" ");

  const make = (tag, properties = {}, ...children) => {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...children);
    return element;
  };

  const button = (text, action) => make("button", { type: "button", textContent: text, onclick: action });

  /** Show *Stop* while Python works, and that the other buttons wait, without moving the focus:
   * a button that is disabled or hidden loses it, and the keyboard is at the page's top again. */
  function showWorking(works, stop, others) {
    if (!works && document.activeElement === stop) others[0].focus();
    stop.hidden = !works;
    for (const each of others) each.setAttribute("aria-disabled", works);
  }

  /** Return the nodes of a text of HTML, without whatever no report has. */
  function nodesOf(html) {
    const { body } = new DOMParser().parseFromString(html, "text/html"); // inert
    for (const each of body.querySelectorAll("*")) {
      if (!ELEMENTS.includes(each.localName)) each.remove();
      for (const { name } of [...each.attributes]) {
        if (!ATTRIBUTES.includes(name)) each.removeAttribute(name);
      }
    }
    return body.childNodes;
  }

  /** Return an editor for Python: Tab indents until Escape was pressed, Shift+Enter submits. */
  function textarea(properties, submit) {
    const area = make("textarea", {
      spellcheck: false, autocapitalize: "off", autocomplete: "off", wrap: "off", ...properties,
    });
    area.setAttribute("autocorrect", "off");
    const insert = (text) => {
      // Unlike setRangeText this can be undone.
      if (!document.execCommand("insertText", false, text)) {
        area.setRangeText(text, area.selectionStart, area.selectionEnd, "end");
        area.dispatchEvent(new Event("input"));
      }
    };
    area.addEventListener("keydown", (event) => {
      const { key } = event;
      if (key === "Enter" && (event.shiftKey || event.ctrlKey || event.metaKey)) {
        event.preventDefault();
        submit();
      } else if (key === "Enter" && !event.isComposing) {
        const line = area.value.slice(0, area.selectionStart).split("\n").pop();
        const margin = line.match(/^\s*/)[0] + (/:\s*(#.*)?$/.test(line) ? "    " : "");
        if (margin) {
          event.preventDefault();
          insert(`\n${margin}`);
        }
      } else if (key === "Tab" && !event.shiftKey && !area.dataset.leave) {
        event.preventDefault();
        insert("    ");
      }
      if (key !== "Shift") area.dataset.leave = key === "Escape" ? "yes" : "";
    });
    return area;
  }

  /** Make an editor as high as its text, within bounds. */
  const fit = (area, least) => { area.rows = Math.min(30, Math.max(least, area.value.split("\n").length + 1)); };

  attentionCourse.editing = { make, button, showWorking, nodesOf, textarea, fit };
})();
