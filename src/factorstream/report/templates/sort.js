"use strict";
// A click on the title of a column, or Enter or space on it, sorts its table; a second one turns the order round.
// Cells without a value stay at the end. A cell's data-value is what it is sorted by: a number, or else its text.
function keyOf(row, column) {
  const cell = row.cells[column];
  const number = Number(cell.dataset.value);
  if (cell.dataset.value === undefined) return cell.textContent.trim() || null;
  return cell.dataset.value === "" || Number.isNaN(number) ? null : number;
}
function compare(a, b) {
  if (typeof a === "number" && typeof b === "number") return a < b ? -1 : a > b ? 1 : 0;
  return String(a).localeCompare(String(b), undefined, { numeric: true });
}
function sort(button) {
  const title = button.closest("th");
  const body = title.closest("table").tBodies[0];
  const up = title.getAttribute("aria-sort") !== "ascending";
  for (const other of title.parentElement.cells) other.removeAttribute("aria-sort");
  title.setAttribute("aria-sort", up ? "ascending" : "descending");
  const rows = Array.from(body.rows, (row) => ({ row, key: keyOf(row, title.cellIndex) }));
  rows.sort((a, b) => {
    if (a.key === null || b.key === null) return (a.key === null) - (b.key === null);
    return up ? compare(a.key, b.key) : compare(b.key, a.key);
  });
  body.append(...rows.map((one) => one.row));
}
for (const button of document.querySelectorAll("th button")) button.addEventListener("click", () => sort(button));
