// Texts are one JSON block; the pictures of sample n wait in <script id="pN"> and become images only near the screen.
const rows = JSON.parse(document.getElementById("rows").textContent);
const grid = by("grid"), detail = by("detail"), find = by("find");
let shown = [];   // numbers of the rows that pass the filters
let here = 0;     // place in `shown` of the current card

// Filters ------------------------------------------------------------------------------------------------------------

const FILTERS = [
  ["task", "every task", (row, want) => row.task === want || row.game === want],
  ["level", "every level", (row, want) => String(row.level) === want],
  ["skin", "every skin", (row, want) => row.skin === want],
  ["language", "every language", (row, want) => row.language === want],
  ["verdict", "every verdict", (row, want) => verdictOf(row)[0] === want],
];
const chosen = {};

function valuesOf(name) {
  if (name === "verdict") return [...new Set(rows.filter((row) => row.verdict).map((row) => verdictOf(row)[0]))].sort();
  return [...new Set(rows.map((row) => row[name]).filter((value) => value !== null))].sort();
}

function buildFilters() {
  for (const [name, all] of FILTERS) {
    const values = valuesOf(name);
    if (values.length < 2) continue;
    const select = make("select", { "aria-label": name, onchange: refresh }, make("option", { value: "" }, all));
    const games = name === "task" ? new Set(rows.map((row) => row.game)) : new Set();
    for (const game of games.size > 1 ? [...games].sort() : []) {
      const own = values.filter((task) => task.startsWith(game + "/"));
      if (own.length > 1) select.append(make("option", { value: game }, `${game}: all`));
      for (const task of own) select.append(make("option", { value: task }, task));
    }
    if (games.size < 2) for (const value of values) {
      select.append(make("option", { value }, name === "level" ? `level ${value}` : String(value)));
    }
    chosen[name] = select;
    by("choices").append(select);
  }
}

const haystack = new Map();
function textOf(number) {
  if (!haystack.has(number)) {
    const row = rows[number];
    const parts = [row.id, row.instruction, row.rules, row.reasoning, row.effect, row.verdict ? row.verdict.reason : ""];
    haystack.set(number, parts.join("\n").toLowerCase());
  }
  return haystack.get(number);
}

function passes(number, words) {
  for (const [name, , test] of FILTERS) {
    if (chosen[name] && chosen[name].value && !test(rows[number], chosen[name].value)) return false;
  }
  return words.every((word) => textOf(number).includes(word));
}

function refresh() {
  const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
  shown = rows.map((_, number) => number).filter((number) => passes(number, words));
  here = 0;
  watcher.disconnect();
  grid.replaceChildren(...shown.map((number, place) => slot(number, place)));
  for (const card of grid.children) watcher.observe(card);
  by("count").textContent = shown.length === rows.length ? `${rows.length} samples` : `${shown.length} of ${rows.length}`;
  by("none").hidden = shown.length > 0;
  mark(false);
}

// Cards: empty slots, filled while they are near the screen -------------------------------------------------------------

const watcher = new IntersectionObserver((entries) => {
  for (const entry of entries) {
    if (entry.isIntersecting) fill(entry.target);
    else entry.target.replaceChildren();
  }
}, { rootMargin: "900px 0px" });

function slot(number, place) {
  return make("article", {
    class: "card", tabindex: "-1", "data-number": number, "aria-label": rows[number].id,
    onclick: () => { here = place; mark(false); open(); },
  });
}

function fill(card) {
  if (card.firstChild) return;
  const row = rows[Number(card.dataset.number)];
  const pips = make("span", { class: "pips", title: `level ${row.level}` }, "●".repeat(row.level || 0),
    make("i", {}, "●".repeat(5 - (row.level || 0))));
  const head = make("div", { class: "head" }, make("b", {}, row.task), row.level ? pips : null,
    make("span", { class: "end" }, row.verdict ? badge(row) : row.skin || ""));
  card.append(head, strip(Number(card.dataset.number)), make("p", { class: "say", lang: row.language }, row.instruction));
  if (!grid.style.getPropertyValue("--high")) {  // all cards are alike, so the first tells how high an empty one is
    const high = card.lastChild.getBoundingClientRect().bottom - card.getBoundingClientRect().top;
    grid.style.setProperty("--high", `${Math.ceil(high)}px`);
  }
}

function picturesOf(number) {
  const [before, after, mask, output] = by(`p${number}`).textContent.trim().split("\n").map((line) => line.trim());
  return { before, after, mask, output };
}

function picture(source, mask, caption, missing) {
  const frame = make("div", { class: "picture" });
  if (source && source !== "-") frame.append(make("img", { src: source, alt: caption, decoding: "async", onload: sharpen }));
  else frame.append(make("span", { class: "none" }, missing));
  if (mask && mask !== "-") {
    const may = make("div", { class: "may" });
    may.style.maskImage = `url("${mask}")`;
    frame.append(may);
  }
  return make("figure", {}, frame, make("figcaption", {}, caption));
}

function strip(number) {
  const row = rows[number], { before, after, mask, output } = picturesOf(number);
  const pair = make("div", { class: "strip" }, picture(before, mask, "before", "none"), picture(after, "", "after", "none"));
  if (row.verdict) pair.append(picture(output, "", "output", "no picture"));
  return pair;
}

function verdictOf(row) {
  if (!row.verdict) return ["", ""];
  if (!row.verdict.found) return ["missing", "warn"];
  if (!row.verdict.readable) return ["unreadable", "warn"];
  return row.verdict.correct ? ["correct", "good"] : row.verdict.legal ? ["wrong", "bad"] : ["against the rules", "bad"];
}

function badge(row) {
  const [word, kind] = verdictOf(row);
  return make("span", { class: `verdict ${kind}` }, word);
}

// One sample, large -----------------------------------------------------------------------------------------------------

function fact(value) {
  if (Array.isArray(value)) return value.map(fact).join(" · ");
  return value !== null && typeof value === "object" ? `(${value.row}, ${value.col})` : String(value);
}

function steps(row) {
  if (!row.steps.length) return null;
  return make("ol", { class: "steps" }, ...row.steps.map((step) => {
    const known = Object.entries(step.facts).map(([name, value]) => `${name} ${fact(value)}`).join(", ");
    return make("li", {}, step.rule, step.action ? make("code", {}, `  →  ${step.action}`) : null,
      known ? make("span", { class: "facts" }, known) : null);
  }));
}

function judged(verdict) {
  const share = (value) => `${(100 * value).toFixed(1)} %`;
  return facts([["preserved", share(verdict.preserved)], ["quality", verdict.quality.toFixed(3)],
    ["confidence", verdict.confidence.toFixed(3)]]);
}

function sheet(number) {
  const row = rows[number], text = { lang: row.language };
  const boards = make("div", { class: "boards" }, make("pre", {}, row.before), make("pre", {}, row.after),
    row.verdict && row.verdict.position ? make("pre", {}, row.verdict.position) : null);
  const move = (step) => () => go(step);
  return make("div", { class: "sheet" },
    make("nav", {}, make("b", {}, row.task), make("code", {}, row.id), row.verdict ? badge(row) : null,
      make("span", { class: "end" }, make("span", {}, `${here + 1} / ${shown.length}`),
        make("button", { type: "button", title: "previous (k)", onclick: move(-1) }, "←"),
        make("button", { type: "button", title: "next (j)", onclick: move(1) }, "→"),
        make("button", { type: "button", title: "back (esc)", onclick: () => detail.close() }, "close"))),
    strip(number),
    make("p", { class: "ask", ...text }, row.instruction),
    make("div", { class: "text" },
      make("div", {},
        ...(row.verdict ? section("Verdict", make("p", {}, row.verdict.reason), judged(row.verdict)) : []),
        ...section("Rules", row.rules && make("p", text, row.rules)),
        ...section("Reasoning", row.reasoning && make("p", text, row.reasoning)),
        ...section("Result", row.effect && make("p", text, row.effect))),
      make("div", {},
        ...section("Difficulty, as measured", facts([["level", row.level], ...Object.entries(row.difficulty)])),
        ...section("Position, before and after", row.before && boards),
        ...section("Steps", steps(row)),
        ...section("Shown as", facts([["skin", row.skin], ["language", row.language], ["split", row.split]])))));
}

function open() {
  if (!shown.length) return;
  detail.replaceChildren(sheet(shown[here]));
  if (!detail.open) detail.showModal(), detail.focus();
  detail.scrollTop = 0;
  history.replaceState(null, "", `#${encodeURIComponent(rows[shown[here]].id)}`);
}

detail.addEventListener("close", () => {
  history.replaceState(null, "", location.pathname + location.search);
  detail.replaceChildren();
  mark(true);
});

// Moving about ----------------------------------------------------------------------------------------------------------

function mark(scroll) {
  for (const card of grid.querySelectorAll(".here")) card.classList.remove("here");
  const card = grid.children[here];
  if (!card) return;
  card.classList.add("here");
  if (scroll) card.focus({ preventScroll: true }), card.scrollIntoView({ block: "nearest" });
}

function go(step) {
  here = Math.max(0, Math.min(shown.length - 1, here + step));
  if (detail.open) open();
  else mark(true);
}

function columns() {
  return getComputedStyle(grid).gridTemplateColumns.split(" ").length;
}

function toggleMask() {
  const on = document.documentElement.classList.toggle("masked");
  by("mask").setAttribute("aria-pressed", String(on));
}

const KEYS = {
  j: () => go(1), k: () => go(-1), ArrowRight: () => go(1), ArrowLeft: () => go(-1),
  ArrowDown: () => detail.open || go(columns()), ArrowUp: () => detail.open || go(-columns()),
  Enter: () => detail.open || open(), m: toggleMask, t: toggleTheme, "/": () => detail.open || find.focus(),
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.matches("input, select")) {
    if (event.key === "Escape" || event.key === "Enter") event.target.blur(), event.preventDefault();
    return;
  }
  if (event.key === "Enter" && event.target.matches("button")) return;
  const action = KEYS[event.key];
  if (!action) return;
  document.documentElement.classList.add("keys");
  const scrolls = detail.open && event.key.startsWith("Arrow") && !["ArrowLeft", "ArrowRight"].includes(event.key);
  if (!scrolls) event.preventDefault();
  action();
});

by("bar").addEventListener("submit", (event) => event.preventDefault());
by("mask").addEventListener("click", toggleMask);
by("theme").addEventListener("click", toggleTheme);
by("reset").addEventListener("click", () => {
  find.value = "";
  for (const select of Object.values(chosen)) select.value = "";
  refresh();
});
window.addEventListener("resize", () => {
  grid.style.removeProperty("--high");
  for (const card of grid.children) if (card.firstChild) card.replaceChildren(), fill(card);
});
let pause = 0;
find.addEventListener("input", () => { clearTimeout(pause); pause = setTimeout(refresh, 120); });

if (rows.some((row) => row.verdict)) grid.style.setProperty("--column", "34rem");
followScheme();
buildFilters();
refresh();
const wanted = decodeURIComponent(location.hash.slice(1));
const place = wanted ? shown.findIndex((number) => rows[number].id === wanted) : -1;
if (place >= 0) { here = place; mark(true); open(); }
