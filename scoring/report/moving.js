// Moving about ---------------------------------------------------------------------------------------------------------

function mark(scroll) {
  for (const card of grid.querySelectorAll(".here")) card.classList.remove("here");
  const card = grid.children[here];
  if (!card) return;
  card.classList.add("here");
  if (scroll) card.focus({ preventScroll: true }), card.scrollIntoView({ block: "nearest" });
}

let begun = false;  // the first step shows where one is, the next ones move
function go(step) {
  if (begun || detail.open) here = Math.max(0, Math.min(shown.length - 1, here + step));
  begun = true;
  if (detail.open) open();
  else mark(true);
}

function nextRun() {
  if (!chosen.run) return;
  chosen.run.selectedIndex = (chosen.run.selectedIndex + 1) % chosen.run.options.length;
  refresh();
}

function reset() {
  find.value = "";
  for (const select of Object.values(chosen)) select.value = "";
  refresh();
}

const KEYS = {
  j: () => go(1), k: () => go(-1), ArrowRight: () => go(1), ArrowLeft: () => go(-1), ArrowDown: () => go(1), ArrowUp: () => go(-1),
  Enter: () => detail.open || open(), t: toggleTheme, r: () => detail.open || nextRun(),
  "/": () => detail.open || find.focus(), "?": () => keys.showModal(),
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || keys.open) return;
  if (event.target.matches("input, select")) {
    if (event.key === "Escape" || event.key === "Enter") event.target.blur(), event.preventDefault();
    return;
  }
  if (event.key === "Enter" && event.target.matches("button, a, summary")) return;
  const action = KEYS[event.key];
  const scrolls = ["ArrowUp", "ArrowDown"].includes(event.key) && (detail.open || event.target.closest(".part, .top"));
  if (!action || scrolls || event.target.closest(".scroll") && event.key.startsWith("Arrow")) return;
  document.documentElement.classList.add("keys");
  event.preventDefault();
  action();
});

document.addEventListener("click", (event) => {
  const key = event.target.closest(".key");
  if (!key) return;
  const on = key.getAttribute("aria-pressed") !== "true";
  key.setAttribute("aria-pressed", String(on));
  for (const series of key.closest(".plot").querySelectorAll(".series")) {
    if (series.dataset.series === key.dataset.series) series.classList.toggle("off", !on);
  }
});

by("bar").addEventListener("submit", (event) => event.preventDefault());
by("theme").addEventListener("click", toggleTheme);
by("help").addEventListener("click", () => keys.showModal());
by("close").addEventListener("click", () => keys.close());
by("reset").addEventListener("click", reset);
window.addEventListener("hashchange", openAddressed);
window.addEventListener("resize", () => grid.style.removeProperty("--high"));
let pause = 0;
find.addEventListener("input", () => { clearTimeout(pause); pause = setTimeout(refresh, 120); });

followScheme();
buildFilters();
refresh();
openAddressed();
