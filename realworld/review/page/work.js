// Deciding, one item after the other -----------------------------------------------------------------------------------

const NAME = "gamegen-review-name", WAIT = 5000;  // milliseconds between signs of life
let about = null, annotator = "", work = null, item = null;
let turn = 0;                          // how many calls we made: an answer to an older one says nothing new
const WHY = "First tick a reason.";
let busy = false, armed = false;       // armed: a drop waits for its reason
let looked = 0, since = 0, active = 0; // milliseconds of looking at this item; when that began; last sign of life

const boxes = () => [...by("reasons").querySelectorAll("input[type=checkbox]")];
const advise = (text) => { by("advice").textContent = text; };

async function openPage() {
  about = await insist("/api/about");
  document.title = `${about.run} · stage ${about.stage}`;
  const stage = STAGES[about.stage];
  by("start-title").textContent = by("stage-name").textContent = stage.title;
  by("start-lead").textContent = stage.lead;
  by("stage-name").textContent = stage.title;
  by("names").append(...about.annotators.map((known) => make("option", { value: known })));
  by("name").value ||= localStorage.getItem(NAME) || "";
  document.body.dataset.stage = about.stage;
  by("reasons").querySelector(".boxes").append(...about.reasons.map((reason, place) => make("label", { title: reason.hint },
    make("input", { type: "checkbox", value: reason.name }), make("kbd", {}, String(place + 1)), " ", reason.label)));
  by("keys").append(keyList());
  by("enter").querySelector("button").disabled = false;
  by("name").select();
}

const STAGES = {
  1: { title: "Initial filtering", lead: "Look at both pictures and read the texts. Drop what is plainly wrong: a reference "
    + "text that does not fit, or a poor picture. Keep the rest; slips in the texts are corrected later." },
  2: { title: "Manual correction", lead: "These samples passed the first stage. Read each text against the pictures and correct "
    + "what is slightly wrong, above all the reference effect. Drop what cannot be mended." },
};

async function begin(event) {
  event.preventDefault();
  annotator = by("name").value;
  try {
    take(await insist("/api/work", { annotator }));
    annotator = by("who").textContent = work.annotator;
    localStorage.setItem(NAME, annotator);
  } catch (error) {
    annotator = "";
    complain(error.message);
  }
}

function show(part) {
  for (const id of ["start", "desk", "idle", "results"]) by(id).hidden = id !== part;
  by("head").hidden = part === "start";
}

// What lies before us --------------------------------------------------------------------------------------------------

function take(answer, first) {
  work = answer;
  if (first) work.items.sort((one, other) => (other.key === first) - (one.key === first));
  showProgress();
  const next = work.items[0] || null;
  if (!next) return showIdle();
  show("desk");
  if (work.items[1]) preload(work.items[1]);
  if (item && item.key === next.key && item.token === next.token) return;
  item = next;
  looked = 0;
  since = active = Date.now();
  showTexts(item, about.stage);
  showPictures(item);
  const former = item.former || { reasons: [], note: "" };
  for (const box of boxes()) box.checked = former.reasons.includes(box.value);
  by("note").value = former.note;
  arm(false);
  advise(item.former ? `You had decided: ${item.former.verdict}` : "");
}

function showIdle() {
  item = null;
  show("idle");
  const { missing, items } = work.progress;
  by("idle-title").textContent = missing ? "Nothing for you now" : "All done";
  by("idle-lead").textContent = missing
    ? `${plural(missing, "vote")} still missing, for samples that others are looking at or that need another person. This page looks again by itself.`
    : items ? `All ${plural(items, "sample")} of this stage are decided. Thank you!` : "No sample has reached this stage yet. This page looks again by itself.";
  by("idle-undo").hidden = !work.last;
  if (!missing && items) showResults();
}

function showProgress() {
  const { items, keep, drop, votes, missing, mine, pace, left } = work.progress;
  const [done, all, what] = about.asked > 1 ? [votes, votes + missing, " votes"] : [keep + drop, items, ""];
  by("meter").querySelector("i").style.width = `${all ? 100 * done / all : 0}%`;
  by("meter").setAttribute("aria-valuemax", all);
  by("meter").setAttribute("aria-valuenow", done);
  const parts = [`${done} of ${all}${what}`, `${mine} by me`];
  if (pace !== null && pace > 0) parts.push(`${(60 / pace).toFixed(pace < 12 ? 0 : 1)} a minute`);
  if (left) parts.push(`${duration(left)} left`);
  by("counts").textContent = parts.join(" · ");
  by("undo").disabled = !work.last;
}

const plural = (number, word) => `${number} ${word}${number === 1 ? "" : "s"}`;
const duration = (seconds) => seconds < 90 ? `${Math.ceil(seconds)} s` : seconds < 5400 ? `${Math.round(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`;

// Decisions ------------------------------------------------------------------------------------------------------------

function arm(on) {
  armed = on;
  document.body.classList.toggle("armed", on);
  if (on) advise(WHY);
}

async function decide(verdict) {
  if (busy || !item) return;
  const reasons = boxes().filter((box) => box.checked).map((box) => box.value);
  if (verdict === "drop" && !reasons.length) return arm(true);
  if (verdict === "drop" && reasons.includes("other") && !by("note").value.trim()) {
    advise("“Other” needs a few words in the note.");
    return by("note").focus();
  }
  if (verdict === "keep" && reasons.length) return advise("Reasons are ticked: drop it, or take them off to keep it.");
  const texts = about.stage === 2 && verdict === "keep" ? corrected(item) : {};
  if (Object.values(texts).some((text) => !text.trim())) return advise("A text must not be empty; drop the sample if nothing true can be said.");
  const { key, token, id } = item;
  const ballot = { verdict, reasons, note: by("note").value, texts, seconds: (looked + Date.now() - since) / 1000 };
  await during("/api/decide", { annotator, key, token, ...ballot }, (answer) => {
    dropDraft();
    tell(`${verdict === "keep" ? "Kept" : "Dropped"} ${id}`, answer.scores);
    take(answer);
  });
}

async function undo() {
  if (work && work.last) await during("/api/undo", { annotator, number: work.last.number }, (answer) => {
    tell("Undone");
    take(answer, answer.again);
  });
}

async function later() {
  if (item) await during("/api/later", { annotator, key: item.key }, (answer) => take(answer));
}

async function during(path, body, then) {
  if (busy) return;
  busy = true;
  turn++;
  document.body.classList.add("busy");
  try {
    then(await insist(path, body));
  } catch (error) {
    tell(error.message);
    item = null;
    take(await insist("/api/work", { annotator }));
  } finally {
    busy = false;
    document.body.classList.remove("busy");
  }
}

function tell(text, scores) {
  by("told").replaceChildren(text, ...(scores ? [make("small", {}, scoresInWords(scores))] : []));
}

// Signs of life: an item is kept for us while we look at it ------------------------------------------------------------

async function alive() {
  const at = Date.now(), before = turn;
  if (!annotator || busy || document.hidden || by("start").hidden === false) return;
  if (item && at - active > about.hold * 1000) return;
  try {
    const answer = await ask("/api/work", { annotator });
    trouble.hidden = true;
    if (turn === before && by("results").hidden) take(answer);
  } catch (error) {
    complain(error instanceof Refusal ? error.message : "The server does not answer.");
  }
}

document.addEventListener("visibilitychange", () => {
  if (document.hidden) looked += Date.now() - since;
  since = Date.now();
});
for (const sign of ["pointermove", "keydown", "pointerdown"]) document.addEventListener(sign, () => { active = Date.now(); });
window.addEventListener("pagehide", () => {
  const body = new Blob([JSON.stringify({ annotator })], { type: "application/json" });
  if (annotator) navigator.sendBeacon("/api/leave", body);
});
