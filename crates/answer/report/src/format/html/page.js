"use strict";
const all = (query, within = document) => [...within.querySelectorAll(query)];
const make = (name, properties = {}, ...children) => {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children);
  return element;
};

// The data for download.
async function unpack(element) {
  const bytes = Uint8Array.from(atob(element.textContent), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).blob();
}
for (const button of all("button[data-from]")) {
  button.addEventListener("click", async () => {
    const status = document.getElementById("data-status");
    try {
      const blob = await unpack(document.getElementById(button.dataset.from));
      const link = make("a", { href: URL.createObjectURL(new Blob([blob], { type: button.dataset.type })), download: button.dataset.name });
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
  Promise.all(all("script[id^=data-]").map(unpack)).then((blobs) => {
    if (blobs.every((blob) => blob.size > 0)) document.documentElement.dataset.unpacked = "yes";
  });
}

// What is under the pointer says its value; a click keeps it.
const tip = make("div", { className: "tip hidden" });
tip.setAttribute("role", "status");
document.body.append(tip);
let kept = null;
function point(mark, event) {
  tip.textContent = mark.dataset.t;
  tip.classList.remove("hidden");
  const box = tip.getBoundingClientRect();
  const left = Math.min(event.clientX + 14, document.documentElement.clientWidth - box.width - 8);
  tip.style.left = Math.max(4, left) + scrollX + "px";
  tip.style.top = event.clientY + 16 + scrollY + "px";
}
function release() {
  kept = null;
  tip.className = "tip hidden";
}
addEventListener("pointermove", (event) => {
  if (kept) return;
  const mark = event.target.closest?.("[data-t]");
  if (mark) point(mark, event);
  else tip.classList.add("hidden");
});
addEventListener("click", (event) => {
  const mark = event.target.closest?.("[data-t]");
  if (!mark || mark === kept) return release();
  point(mark, event);
  kept = mark;
  tip.classList.add("kept");
});
addEventListener("keydown", (event) => event.key === "Escape" && release());

// A heading sorts the rows of every group of its table; the detail of a row stays below it.
for (const table of all("main table")) {
  const heads = table.tHead ? [...table.tHead.rows[0].cells] : [];
  heads.forEach((head, column) => {
    if (!head.textContent || head.classList.contains("plot") || !table.tBodies.length) return;
    const button = make("button", { type: "button" }, ...head.childNodes);
    head.append(button);
    head.setAttribute("aria-sort", "none");
    const value = (row) => {
      const cell = row.cells[column];
      const number = cell && cell.dataset.v !== undefined ? parseFloat(cell.dataset.v) : NaN;
      return Number.isNaN(number) ? (cell ? cell.textContent.trim() : "") : number;
    };
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      heads.forEach((other) => other.hasAttribute("aria-sort") && other.setAttribute("aria-sort", "none"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const order = (a, b) => {
        const [x, y] = [value(a), value(b)];
        const both = typeof x === "number" && typeof y === "number";
        const way = both ? x - y : typeof x === typeof y ? x.localeCompare(y, undefined, { numeric: true }) : typeof x === "number" ? -1 : 1;
        return down ? -way : way;
      };
      for (const body of table.tBodies) {
        const rows = [...body.rows].filter((row) => !row.matches(".group, .detail"));
        const details = new Map(rows.map((row) => [row, row.nextElementSibling?.matches(".detail") ? row.nextElementSibling : null]));
        for (const row of rows.sort(order)) body.append(row, ...[details.get(row)].filter(Boolean));
      }
    });
  });
}

// What the address says, and the tools that change it.
const state = Object.fromEntries(new URLSearchParams(location.hash.includes("=") ? location.hash.slice(1) : ""));
function save() {
  for (const key of Object.keys(state)) if (!state[key]) delete state[key];
  const words = new URLSearchParams(state).toString();
  // The anchor of a result stays until a tool is used.
  if (!words && !location.hash.includes("=")) return;
  history.replaceState(null, "", words ? "#" + words : location.pathname + location.search);
}
const rows = all("main tbody tr").filter((row) => !row.matches(".group, .detail"));
const results = rows.filter((row) => row.dataset.f !== undefined);
const counted = results.filter((row) => row.id).length ? results.filter((row) => row.id) : rows;
const count = make("span", { className: "muted" });
count.setAttribute("role", "status");
function filter() {
  const words = (state.q || "").toLowerCase().split(/\s+/).filter(Boolean);
  const has = (element) => words.every((word) => element.textContent.toLowerCase().includes(word));
  const fits = (row) => (row.dataset.f === undefined ? !state.family && !state.only : (!state.family || row.dataset.f === state.family) && (!state.only || row.classList.contains(state.only)));
  const active = Boolean(words.length || state.family || state.only);
  for (const row of rows) {
    const shown = !active || (has(row) && fits(row)) || (row.dataset.f === undefined && !words.length);
    row.classList.toggle("hidden", !shown);
    if (row.nextElementSibling?.matches(".detail")) row.nextElementSibling.classList.toggle("hidden", !shown);
  }
  for (const body of all("main tbody")) {
    const shown = [...body.rows].some((row) => !row.matches(".group, .detail, .hidden"));
    body.classList.toggle("hidden", active && !shown);
    const folded = body.closest("details:not(.numbers, .row)");
    if (folded && words.length && shown) folded.open = true;
  }
  // A chart with rows is shown while it has one, another while its words are found.
  for (const figure of all("main figure")) {
    const lines = all("tr", figure).filter((row) => rows.includes(row));
    const caption = figure.querySelector("figcaption");
    const found = lines.length && figure.querySelector("table.rows") ? lines.some((row) => !row.classList.contains("hidden")) : !caption || has(caption);
    figure.classList.toggle("hidden", Boolean(words.length) && !found);
  }
  const shown = counted.filter((row) => !row.classList.contains("hidden")).length;
  count.textContent = shown ? shown + " of " + counted.length : "nothing found";
  save();
}
function toggle(words, key, value, change) {
  const button = make("button", { type: "button", textContent: words });
  const show = () => button.setAttribute("aria-pressed", String(state[key] === value));
  button.addEventListener("click", () => {
    state[key] = state[key] === value ? "" : value;
    all(".tools button").forEach((other) => other.dispatchEvent(new Event("show")));
    change();
  });
  button.addEventListener("show", show);
  show();
  return button;
}
function choice(label, key, options, change) {
  const box = make("select", {}, ...options.map(([value, words]) => make("option", { value, textContent: words })));
  box.setAttribute("aria-label", label);
  box.value = state[key] || options[0][0];
  box.addEventListener("change", () => {
    state[key] = box.selectedIndex ? box.value : "";
    change();
  });
  return box;
}

// Machines side by side: another baseline divides the means, which then have no intervals.
const map = all("main table").find((table) => table.querySelector("td.heat") && [...table.tHead.rows[0].cells].some((head) => head.textContent.trim() === "rank"));
const lines = map ? [...map.tBodies[0].rows] : [];
lines.forEach((row) => all("td.heat", row).forEach((cell) => Object.assign(cell.dataset, { own: cell.dataset.v, words: cell.textContent })));
function rebase() {
  const base = lines.find((row) => row.cells[0].textContent.trim() === state.base);
  for (const row of lines) {
    for (const [at, cell] of [...row.cells].entries()) {
      if (cell.dataset.own === undefined) continue;
      const gain = base ? cell.dataset.own / base.cells[at].dataset.own : +cell.dataset.own;
      const size = Math.abs(Math.log(gain));
      const factor = (gain < 1 ? 1 / gain : gain).toPrecision(3);
      const way = size < 0.005 ? "" : gain < 1 ? " slower" : " faster";
      cell.dataset.v = gain;
      cell.textContent = row === base ? "baseline" : base ? factor + "x" + way : cell.dataset.words;
      cell.className = "heat " + (gain > 1 ? "better" : "worse") + [0.02, 0.1, 0.3, 0.7].filter((least) => size > least).length;
    }
  }
  save();
}

const nav = document.querySelector("nav") || document.querySelector("main")?.parentNode.insertBefore(make("nav"), document.querySelector("main"));
if (nav && rows.length > 3) {
  const box = make("input", { type: "search", placeholder: "find results", value: state.q || "" });
  box.setAttribute("aria-label", "find results in all tables and charts");
  box.addEventListener("input", () => {
    state.q = box.value.trim();
    filter();
  });
  const tools = make("div", { className: "tools" }, box);
  const families = [...new Set(results.map((row) => row.dataset.f))].filter(Boolean);
  if (families.length > 1) tools.append(choice("family", "family", [["", "all families"], ...families.map((name) => [name, name])], filter));
  if (results.some((row) => row.matches(".changed"))) tools.append(toggle("changed", "only", "changed", filter));
  if (results.some((row) => row.matches(".wide"))) tools.append(toggle("wide interval", "only", "wide", filter));
  const relative = () => {
    document.documentElement.classList.toggle("relative", state.view === "relative");
    save();
  };
  if (document.querySelector(".rel")) tools.append(toggle("relative", "view", "relative", relative));
  if (lines.length > 1) {
    const names = lines.map((row) => row.cells[0].textContent.trim());
    tools.append(choice("baseline of the means", "base", [["", "baseline of the report"], ...names.map((name) => [name, "baseline " + name])], rebase));
  }
  const folded = () => all("main details:not(.numbers)");
  if (folded().length) {
    const button = make("button", { type: "button", textContent: "expand all" });
    button.addEventListener("click", () => {
      const open = folded().some((one) => !one.open);
      folded().forEach((one) => (one.open = open));
      button.textContent = open ? "fold all" : "expand all";
    });
    tools.append(button);
  }
  tools.append(count);
  nav.append(tools);
  relative();
  filter();
  if (state.base) rebase();
}

// Every result can be copied and linked.
async function copy(button, text) {
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "copied";
  } catch {
    button.textContent = "could not copy";
  }
  setTimeout(() => (button.textContent = button.dataset.words), 1500);
}
for (const details of all("details.row")) {
  details.addEventListener("toggle", () => {
    const row = details.closest("tr");
    const cell = row.nextElementSibling?.cells[0];
    if (!cell || cell.querySelector(".tell")) return;
    const text = () => [...row.cells].map((one) => (one.querySelector(document.documentElement.classList.contains("relative") ? ".rel" : ".abs") || one).textContent.trim()).filter(Boolean).join("\t");
    const told = [["copy result", text], ["copy link", () => location.href.split("#")[0] + "#" + row.id]].map(([words, say]) => {
      const button = make("button", { type: "button", className: "tell", textContent: words });
      button.dataset.words = words;
      button.addEventListener("click", () => copy(button, say()));
      return button;
    });
    cell.prepend(...told);
  });
}
// A link to a result opens it.
function target() {
  const row = location.hash.length > 1 && !location.hash.includes("=") && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const details = row && row.querySelector?.(":scope > th > details.row");
  if (!details) return;
  details.open = true;
  row.scrollIntoView({ block: "start" });
}
addEventListener("hashchange", target);
target();

// Paper shows what is folded; the samples of a row are in its strip already.
addEventListener("beforeprint", () => {
  for (const folded of all("main details:not(.numbers, .row):not([open])")) {
    folded.dataset.printed = "";
    folded.open = true;
  }
});
addEventListener("afterprint", () => {
  for (const shown of all("details[data-printed]")) {
    delete shown.dataset.printed;
    shown.open = false;
  }
});
