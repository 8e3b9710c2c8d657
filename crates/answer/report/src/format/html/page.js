"use strict";
async function unpack(element) {
  const bytes = Uint8Array.from(atob(element.textContent), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).blob();
}
for (const button of document.querySelectorAll("button[data-from]")) {
  button.addEventListener("click", async () => {
    const status = document.getElementById("data-status");
    try {
      const blob = await unpack(document.getElementById(button.dataset.from));
      const link = document.createElement("a");
      link.href = URL.createObjectURL(new Blob([blob], { type: button.dataset.type }));
      link.download = button.dataset.name;
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 10000);
      status.textContent = blob.size + " bytes";
    } catch (error) {
      status.textContent = "This browser cannot unpack the data: " + error.message;
    }
  });
}
// Opened with #check, the page proves to a test that its data can be unpacked.
if (location.hash === "#check") {
  Promise.all([...document.querySelectorAll("script[id^=data-]")].map(unpack)).then((all) => {
    if (all.every((blob) => blob.size > 0)) document.documentElement.dataset.unpacked = "yes";
  });
}

// Rows are found by their words: what is folded opens where it has one.
const nav = document.querySelector("nav");
if (nav && document.querySelector("main tbody")) {
  const box = document.createElement("input");
  box.type = "search";
  box.placeholder = "find results";
  box.setAttribute("aria-label", "find results in all tables");
  nav.prepend(box);
  box.addEventListener("input", () => {
    const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const body of document.querySelectorAll("main tbody")) {
      let shown = 0;
      for (const row of body.rows) {
        if (row.classList.contains("group")) continue;
        const text = row.textContent.toLowerCase();
        const found = words.every((word) => text.includes(word));
        row.classList.toggle("hidden", !found);
        shown += found;
      }
      body.classList.toggle("hidden", shown === 0);
      const folded = body.closest("details:not(.numbers)");
      if (folded && words.length && shown) folded.open = true;
    }
  });
}
// Paper shows what is folded: the results. The numbers behind a drawing stand in the tables too.
addEventListener("beforeprint", () => {
  for (const folded of document.querySelectorAll("main details:not(.numbers):not([open])")) {
    folded.dataset.printed = "";
    folded.open = true;
  }
});
addEventListener("afterprint", () => {
  for (const shown of document.querySelectorAll("details[data-printed]")) {
    delete shown.dataset.printed;
    shown.open = false;
  }
});
// A click on a heading sorts the rows of every group of its table.
for (const table of document.querySelectorAll("main table")) {
  const heads = table.tHead ? [...table.tHead.rows[0].cells] : [];
  heads.forEach((head, column) => {
    if (!head.textContent) return;
    head.dataset.sort = "";
    head.tabIndex = 0;
    const value = (row) => {
      const cell = row.cells[column];
      const number = cell && cell.dataset.v !== undefined ? parseFloat(cell.dataset.v) : NaN;
      return Number.isNaN(number) ? (cell ? cell.textContent.trim() : "") : number;
    };
    const sort = () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const order = (a, b) => {
        const [x, y] = [value(a), value(b)];
        const both = typeof x === "number" && typeof y === "number";
        const way = both ? x - y : typeof x === typeof y ? x.localeCompare(y, undefined, { numeric: true }) : typeof x === "number" ? -1 : 1;
        return down ? -way : way;
      };
      for (const body of table.tBodies) {
        const rows = [...body.rows].filter((row) => !row.classList.contains("group"));
        rows.sort(order).forEach((row) => body.append(row));
      }
    };
    head.addEventListener("click", sort);
    head.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      sort();
    });
  });
}
