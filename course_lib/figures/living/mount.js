// Puts the view where the static picture is, in each copy of it on the page; the picture
// stays for printing, and if the view stops at an error.

// A plain key belongs to the view: in JupyterLab an arrow would go to another cell, and
// "dd" delete this one. What has Ctrl or the like, Tab, Escape and Shift-Enter go on.
function keepKeys(event) {
  const isPlain = !(event.ctrlKey || event.metaKey || event.altKey);
  const isOfPage = ["Tab", "Escape"].includes(event.key) || (event.shiftKey && event.key === "Enter");
  if (isPlain && !isOfPage) event.stopPropagation();
  // On a button an arrow would scroll the page under the keyboard.
  if (isPlain && event.target.closest("button") && event.key.startsWith("Arrow")) event.preventDefault();
}

// Shown while the keyboard is inside, and read to whom the picture is described.
function describeKeys(place, id) {
  const leaves = place.closest(".jp-Notebook") ? ", Escape leaves it" : "";
  const keys = document.createElement("p");
  keys.id = id;
  keys.className = "living-keys";
  keys.textContent = `Keyboard: Tab goes from part to part of this picture, the arrow keys move inside a part, Enter chooses${leaves}.`;
  place.append(keys);
  place.setAttribute("aria-describedby", id);
}

// The views of a cell's outputs by what they show, for the next run of that cell. Where
// the figure's id does not tell that, the page has told it: figure.shows.
function viewsOf(figure) {
  const cell = figure.closest(".jp-Cell, .cell");
  if (cell) cell.livingViews ||= {};
  return cell ? (cell.livingViews[figure.shows || figure.id] ||= []) : [];
}

// Where the cell was run again and its numbers are the same, the view from before goes on:
// as the reader left it.
function mount(name, data, css) {
  for (const figure of document.querySelectorAll(`figure[id="${name}"]`)) {
    if (figure.dataset.live) continue;
    const picture = figure.querySelector("img");
    const views = viewsOf(figure);
    const former = views.find((each) => !each.isConnected);
    const place = former || document.createElement("div");
    const style = document.createElement("style");
    style.textContent = css;
    figure.append(style, place);
    if (former) {
      picture.hidden = true;
      figure.dataset.live = "yes";
      continue;
    }
    try {
      render({ model: { get: (key) => ({ data, alt: picture.alt })[key] }, el: place });
      place.addEventListener("keydown", keepKeys);
      place.setAttribute("role", "group");
      place.setAttribute("aria-label", picture.alt);
      describeKeys(place, `${name}-keys-${document.querySelectorAll(".living-keys").length}`);
      picture.hidden = true;
      figure.dataset.live = "yes";
      views.push(place);
    } catch (error) {
      place.remove();
      console.error(error);
    }
  }
}
