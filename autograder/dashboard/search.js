/* Find, filter and sort the students of a page that is complete without it. */
"use strict";
(() => {
  const table = document.querySelector("table.students");
  if (!table) return;
  const body = table.tBodies[0];
  const rows = [...body.rows];
  const byId = (id) => document.getElementById(id);
  const [find, section, matches] = ["find", "section", "matches"].map(byId);
  const plain = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
  /* Numbers are not searched: whoever looks for "group 1" does not mean one point. */
  const texts = rows.map((row) =>
    plain([...row.cells].filter((cell) => !cell.classList.contains("n"))
      .map((cell) => cell.textContent).join(" ")));
  const spaced = (text) => ` ${text.replace(/[^\p{L}\p{N}]+/gu, " ").trim()}`;
  const words = texts.map(spaced);
  /* One or two letters are in nearly every row: they must begin a word. */
  const holds = (index, word) =>
    word.length < 3 ? words[index].includes(spaced(word)) : texts[index].includes(word);

  /* Rows with the words as they stand ("group c"), or else with all of them. */
  function matchingRows(text) {
    const wanted = text.split(/\s+/).filter(Boolean);
    const together = words.map((row) => row.includes(spaced(text)));
    if (wanted.length > 1 && together.includes(true)) return together;
    return rows.map((_, index) => wanted.every((word) => holds(index, word)));
  }

  const columns = [...table.tHead.rows[0].cells];
  const ofSection = columns.findIndex((head) => head.dataset.column === "section");

  function filter() {
    const text = plain(find.value).trim();
    const matching = matchingRows(text);
    const only = section ? section.value : "";
    let count = 0;
    rows.forEach((row, index) => {
      const shown = matching[index] &&
        (!only || row.cells[ofSection].textContent === only);
      row.hidden = !shown;
      count += shown;
    });
    const all = `${rows.length.toLocaleString("en")} student${rows.length === 1 ? "" : "s"}`;
    const searched = text || only;
    matches.textContent = searched ? `${count.toLocaleString("en")} of ${all}` : all;
    if (searched) unfold();
  }

  function unfold() {
    for (let at = table.closest("details"); at; at = at.parentElement.closest("details"))
      at.open = true;
  }

  /* What a cell is worth: its share of the points, else its number, else its text. */
  function worth(cell) {
    const share = cell.style.getPropertyValue("--share");
    if (share) return Number(share);
    const text = cell.textContent.trim();
    if (!cell.classList.contains("n")) return plain(text) || null;
    const number = parseFloat(text.replace("−", "-").replaceAll(",", ""));
    return Number.isNaN(number) ? null : number;
  }

  function sort(head) {
    const index = columns.indexOf(head);
    const down = head.getAttribute("aria-sort") === "ascending";
    const keyed = rows.map((row) => [worth(row.cells[index]), row]);
    keyed.sort(([one], [other]) => {
      if (one === null || other === null) return (one === null) - (other === null);
      const order = typeof one === "number" ? one - other : one.localeCompare(other);
      return down ? -order : order;
    });
    columns.forEach((each) => each.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    body.append(...keyed.map(([, row]) => row));
  }

  for (const head of columns) {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => sort(head));
  }
  find.addEventListener("input", filter);
  find.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !find.value) return;
    event.preventDefault();
    find.value = "";
    filter();
  });
  if (section) section.addEventListener("change", filter);
  for (const link of document.querySelectorAll("a[data-find]"))
    link.addEventListener("click", (event) => {
      event.preventDefault();
      find.value = link.dataset.find;
      if (section) section.value = "";
      filter();
      find.closest("section").scrollIntoView();
      find.focus({ preventScroll: true });
    });
  find.closest("[hidden]").hidden = false;
  filter();
})();
