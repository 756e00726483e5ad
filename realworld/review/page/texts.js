// Reading, and in stage 2 correcting: each text beside what it was ------------------------------------------------------

const FIELDS = ["instruction", "effect", "reasoning"];
const TITLES = { instruction: "Instruction", effect: "Reference effect", reasoning: "Reasoning" };
const EDIT_KEYS = { instruction: "i", effect: "e", reasoning: "r" };
const texts = by("texts");
const DRAFTS = "gamegen-review-draft";  // survives a reload; one item only

function showTexts(item, stage) {
  texts.replaceChildren();
  texts.scrollTop = 0;
  by("kind").textContent = item.category;
  by("kind").title = item.id;
  for (const field of FIELDS) texts.append(stage === 2 ? editor(item, field) : reading(item, field));
  if (item.scores) texts.append(make("p", { class: "scores" }, scoresInWords(item.scores)));
}

function scoresInWords(scores) {  // those that stand out, by name
  const found = Object.entries(scores), top = Math.max(...found.map(([, score]) => score));
  const less = found.filter(([, score]) => score < top).map(([question, score]) => `${question.replaceAll("_", " ")} ${score}`);
  return `Models: ${less.length ? `${less.join(", ")}, else ${top}` : `all ${top}`}`;
}

function reading(item, field) {
  return make("div", { class: `text-part ${field}` }, make("h2", {}, TITLES[field]), make("p", {}, item[field]));
}

function editor(item, field) {
  const area = make("textarea", { id: `edit-${field}`, maxlength: 8000, spellcheck: "true", "data-field": field });
  const back = make("button", { type: "button", class: "put-back", hidden: "" }, "Put back");
  const marks = make("p", { class: "marks", hidden: "", "aria-live": "polite" });
  area.value = draftOf(item)[field] ?? item[field];
  const changed = () => {
    const differs = area.value.trim() !== item[field].trim();
    back.hidden = marks.hidden = !differs;
    marks.replaceChildren(...(differs ? marked(item[field].trim(), area.value.trim()) : []));
    grow(area);
  };
  area.addEventListener("input", () => { changed(); keepDraft(item); });
  back.addEventListener("click", () => { area.value = item[field]; changed(); keepDraft(item); area.focus(); });
  const title = make("label", { for: area.id }, TITLES[field], " ", make("kbd", {}, EDIT_KEYS[field]));
  requestAnimationFrame(changed);
  return make("div", { class: `text-part ${field}` }, make("div", { class: "title-row" }, title, back), area, marks);
}

function grow(area) {
  area.style.height = "auto";
  area.style.height = `${area.scrollHeight + 2}px`;
}

function corrected(item) {  // only what differs
  const found = {};
  for (const area of texts.querySelectorAll("textarea")) {
    if (area.value.trim() !== item[area.dataset.field].trim()) found[area.dataset.field] = area.value;
  }
  return found;
}

function keepDraft(item) {
  try { localStorage.setItem(DRAFTS, JSON.stringify({ key: item.key, texts: corrected(item) })); } catch { /* no room */ }
}

function draftOf(item) {
  try {
    const draft = JSON.parse(localStorage.getItem(DRAFTS));
    if (draft && draft.key === item.key) return draft.texts;
  } catch { /* no draft then */ }
  return item.former ? item.former.texts : {};
}

function dropDraft() {
  localStorage.removeItem(DRAFTS);
}

// What changed, word by word: the longest common run of words stays, the rest is struck out or new.
function marked(before, after) {
  const old = before.match(/\S+\s*/g) || [], now = after.match(/\S+\s*/g) || [];
  const same = (i, j) => old[i].trimEnd() === now[j].trimEnd();
  const common = Array.from({ length: old.length + 1 }, () => new Uint16Array(now.length + 1));
  for (let i = old.length - 1; i >= 0; i--) {
    for (let j = now.length - 1; j >= 0; j--) {
      common[i][j] = same(i, j) ? common[i + 1][j + 1] + 1 : Math.max(common[i + 1][j], common[i][j + 1]);
    }
  }
  const parts = [];
  const add = (tag, word) => {
    if (parts.length && parts.at(-1).tag === tag) parts.at(-1).words += word;
    else parts.push({ tag, words: word });
  };
  for (let i = 0, j = 0; i < old.length || j < now.length;) {
    if (i < old.length && j < now.length && same(i, j)) add("span", now[j++]), i++;
    else if (j >= now.length || i < old.length && common[i + 1][j] >= common[i][j + 1]) add("del", old[i++]);
    else add("ins", now[j++]);
  }
  return parts.map(({ tag, words }) => make(tag, {}, words));
}
