// What the theme leaves out for keyboards: a stop of the Tab key where a formula is wider
// than the page. Paper is light.

// A page from the file system may not fetch others, to show what stands in them.
if (location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;

function reachWideParts() {
  for (const part of document.querySelectorAll("mjx-container, div.math, .cell_output")) {
    if (part.scrollWidth > part.clientWidth) part.tabIndex = 0;
    else part.removeAttribute("tabindex");
  }
}

const page = document.documentElement;
let themeOnScreen;

addEventListener("beforeprint", () => {
  themeOnScreen = page.dataset.theme;
  page.dataset.theme = "light";
});
addEventListener("afterprint", () => {
  page.dataset.theme = themeOnScreen;
});

document.addEventListener("DOMContentLoaded", () => {
  const typeset = window.MathJax?.startup?.promise ?? Promise.resolve();
  typeset.then(reachWideParts);
  addEventListener("resize", reachWideParts);
});
