
"use strict";
// Long tables: filter, sort, pages. Without this script all of their rows are shown. Paper has fewer of those that nobody unfolded.
const ROWS = 50, ON_PAPER = 15;
const make = (tag, text, into) => { const made = document.createElement(tag); made.textContent = text; into.append(made); return made; };
for (const table of document.querySelectorAll("table.grid")) {
  const body = table.tBodies[0], region = table.parentElement, name = region.getAttribute("aria-label");
  let rows = [...body.rows], page = 0;
  const words = new Map();
  const tools = document.createElement("div");
  tools.className = "tools";
  region.before(tools);
  const label = make("label", "Filter ", tools), filter = make("input", "", label);
  filter.type = "search";
  filter.setAttribute("aria-label", `Filter rows of ${name}`);
  const back = make("button", "Back", tools), next = make("button", "Next", tools), said = make("span", "", tools);
  back.setAttribute("aria-label", `Back in ${name}`);
  next.setAttribute("aria-label", `Next in ${name}`);
  said.setAttribute("role", "status");
  const show = () => {
    const kept = rows.filter((row) => !row.classList.contains("out"));
    page = Math.max(0, Math.min(page, Math.ceil(kept.length / ROWS) - 1));
    const first = page * ROWS, shown = new Set(kept.slice(first, first + ROWS));
    for (const row of rows) row.hidden = !shown.has(row);
    kept.forEach((row, at) => row.classList.toggle("late", at >= first + ON_PAPER));
    const ending = (most) => kept.length ? `${first + 1} to ${first + Math.min(most, shown.size)} of ${kept.length}` : "no row has these words";
    said.textContent = ending(ROWS);
    said.dataset.paper = ending(ON_PAPER);
    back.disabled = page === 0;
    next.disabled = first + ROWS >= kept.length;
  };
  filter.addEventListener("input", () => {
    const wanted = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const row of rows) {
      if (!words.has(row)) words.set(row, row.textContent.toLowerCase());
      row.classList.toggle("out", !wanted.every((word) => words.get(row).includes(word)));
    }
    page = 0;
    show();
  });
  back.addEventListener("click", () => { page -= 1; show(); });
  next.addEventListener("click", () => { page += 1; show(); });
  const value = (cell) => cell.dataset.v === undefined ? cell.textContent.trim().toLowerCase() : Number(cell.dataset.v);
  const order = (a, b) => typeof a === typeof b ? (a < b ? -1 : a > b ? 1 : 0) : typeof a === "number" ? -1 : 1;
  [...table.tHead.rows[0].cells].forEach((head, column) => {
    if (head.tagName !== "TH") return;
    const text = head.textContent;
    head.textContent = "";
    make("button", text, head).addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const keyed = rows.map((row) => [value(row.cells[column]), row]);
      keyed.sort(([a], [b]) => down ? order(b, a) : order(a, b));
      rows = keyed.map(([, row]) => row);
      body.append(...rows);
      page = 0;
      show();
    });
  });
  show();
}
