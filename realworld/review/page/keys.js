// Keys and buttons -----------------------------------------------------------------------------------------------------

const NUDGE = 0.08, SLIDE = 4;

function arrow(x, y) {
  if (view === "slider" && lens.scale === 1 && x) slideTo(Number(slide.value) - x * SLIDE / NUDGE);
  else pan(x, y);
}

const edit = (field) => {
  const area = by(`edit-${field}`);
  if (area) area.focus(), area.setSelectionRange(area.value.length, area.value.length);
};

const KEYS = [
  ["k", "keep", () => decide("keep")],
  ["d", "drop", () => decide("drop")],
  ["Enter", "drop, once reasons are ticked", () => boxes().some((box) => box.checked) && decide("drop")],
  ["u", "undo my last decision", undo],
  ["s", "later: put it off", later],
  ["n", "write a note", () => by("note").focus()],
  ["e", "edit the effect (stage 2)", () => edit("effect")],
  ["i", "edit the instruction (stage 2)", () => edit("instruction")],
  ["r", "edit the reasoning (stage 2)", () => edit("reasoning")],
  ["b", "side by side", () => look("both")],
  ["l", "slider; ← → move it", () => look("slider")],
  ["f", "flicker", () => look("flicker")],
  ["c", "difference", () => look("changes")],
  [" ", "hold: show the other picture", () => swap(true)],
  ["+", "zoom in; also wheel, double click, two fingers", () => zoomBy(STEP)],
  ["-", "zoom out", () => zoomBy(1 / STEP)],
  ["0", "whole pictures", fit],
  ["ArrowLeft", "", () => arrow(NUDGE, 0)],
  ["ArrowRight", "", () => arrow(-NUDGE, 0)],
  ["ArrowUp", "", () => arrow(0, NUDGE)],
  ["ArrowDown", "", () => arrow(0, -NUDGE)],
];
const ANYWHERE = [
  ["g", "results, and back", () => by("results").hidden ? showResults() : leaveResults()],
  ["t", "light or dark", toggleTheme],
  ["?", "these keys", () => by("keys").showModal()],
];
const NAMES = { " ": "space", Enter: "enter" };

function keyList() {
  const list = make("dl");
  const last = about.reasons.length;
  for (const [key, meaning] of [["1", `… ${last}: reasons for a drop`], ...KEYS, ...ANYWHERE, ["Esc", "leave a text"], ["Ctrl Enter", "keep, from within a text"]]) {
    if (meaning) list.append(make("dt", {}, make("kbd", {}, NAMES[key] || key)), make("dd", {}, meaning));
  }
  return make("div", { class: "sheet" }, make("h2", {}, "Keys"), list,
    make("button", { type: "button", onclick: () => by("keys").close() }, "close"));
}

function tick(place) {
  const box = boxes()[place];
  if (!box) return;
  box.checked = !box.checked;
  ticked();
}

function ticked() {
  const any = boxes().some((box) => box.checked);
  if (armed) advise(any ? "Enter or d drops it." : WHY);
  else advise("");
}

document.addEventListener("keydown", (event) => {
  if (by("keys").open || event.isComposing) return;
  const writing = event.target.matches("textarea, input:not([type=checkbox], [type=range])");
  if (writing) {
    if (event.key === "Escape" || event.key === "Enter" && event.target === by("note")) event.target.blur(), event.preventDefault();
    else if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && !by("desk").hidden) event.preventDefault(), decide("keep");
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const button = event.target.matches("button, a, input[type=checkbox]");
  if (button && ["Enter", " "].includes(event.key)) return;
  if (event.key.startsWith("Arrow") && (event.target === slide || by("desk").hidden || event.target.closest(".texts"))) return;
  const known = [...ANYWHERE, ...(by("desk").hidden ? [["u", "", undo]] : KEYS)].find(([key]) => key === event.key);
  const number = !by("desk").hidden && /^[1-9]$/.test(event.key) ? Number(event.key) : 0;
  if (by("start").hidden === false || !known && !number) return;
  event.preventDefault();
  if (event.repeat && !["+", "-"].includes(event.key) && !event.key.startsWith("Arrow")) return;
  if (number) tick(number - 1);
  else known[2]();
});
document.addEventListener("keyup", (event) => { if (event.key === " ") swap(false); });

by("enter").addEventListener("submit", begin);
by("decision").addEventListener("submit", (event) => event.preventDefault());
by("reasons").addEventListener("change", ticked);
by("keep").addEventListener("click", () => decide("keep"));
by("drop").addEventListener("click", () => decide("drop"));
by("undo").addEventListener("click", undo);
by("idle-undo").addEventListener("click", undo);
by("later").addEventListener("click", later);
by("who").addEventListener("click", () => location.reload());
by("to-results").addEventListener("click", showResults);
by("help").addEventListener("click", () => by("keys").showModal());
by("theme").addEventListener("click", toggleTheme);

followScheme();
look("both");
slideTo(50);
openPage().then(() => setInterval(alive, Math.min(WAIT, about.hold * 1000 / 3)));
