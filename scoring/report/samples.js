// Texts are one JSON block; the pictures of sample n wait in <script id="pN"> and become images only near the screen.
const { runs, questions, samples } = JSON.parse(by("data").textContent);
const grid = by("grid"), detail = by("detail"), keys = by("keys"), find = by("find");
const PREFIX = "#sample/";
let shown = [];   // numbers of the samples that pass the filters
let here = 0;     // place in `shown` of the current sample

// Verdicts -------------------------------------------------------------------------------------------------------------

const KIND = { correct: "good", wrong: "bad", "against the rules": "bad", unreadable: "warn", missing: "warn" };

function tagsOf(told) {
  const tags = runs.some((run) => run.judged) ? [told.word] : told.here ? [] : ["missing"];
  if (told.vlm && told.vlm.judge_failed) tags.push("model: failed to judge");
  else if (told.vlm) tags.push(told.vlm.percent === 100 ? "model: full score" : "model: less than full score");
  if (told.stale) tags.push("judged before it changed");
  return tags;
}

function badge(told) {
  const parts = [];
  if (told.exact) parts.push(make("span", { class: `verdict ${KIND[told.word] || ""}` }, told.word));
  if (told.vlm) parts.push(make("span", {}, told.vlm.judge_failed ? "judge failed" : `score ${told.vlm.percent.toFixed(1)} %`));
  if (!parts.length) parts.push(make("span", { class: "verdict" }, "not judged"));
  return parts.flatMap((part, place) => (place ? [" · ", part] : [part]));
}

// Filters --------------------------------------------------------------------------------------------------------------

const disagree = "runs disagree";
const chosen = {};

function runsChosen() {
  return chosen.run && chosen.run.value !== "" ? [Number(chosen.run.value)] : runs.map((_, place) => place);
}

const FILTERS = [
  ["run", "all runs", () => runs.map((run, place) => [place, run.label]), () => true],
  ["category", "every category", () => listed(samples.map((sample) => sample.category)), (sample, want) => sample.category === want],
  ["level", "every level", () => listed(samples.map((sample) => sample.level), (level) => `level ${level}`),
    (sample, want) => String(sample.level) === want],
  ["verdict", "every verdict", () => [...listed(samples.flatMap((sample) => sample.runs.flatMap(tagsOf))),
    ...(runs.length > 1 ? [[disagree, disagree]] : [])],
    (sample, want) => want === disagree
      ? new Set(sample.runs.map((told) => told.word)).size > 1
      : runsChosen().some((place) => tagsOf(sample.runs[place]).includes(want))],
];

function listed(values, title = String) {
  return [...new Set(values.filter((value) => value !== null && value !== undefined))].sort()
    .map((value) => [value, title(value)]);
}

function buildFilters() {
  for (const [name, all, options] of FILTERS) {
    const values = options();
    if (values.length < 2) continue;
    const select = make("select", { "aria-label": name, onchange: refresh }, make("option", { value: "" }, all),
      ...values.map(([value, title]) => make("option", { value }, title)));
    chosen[name] = select;
    by("choices").append(select);
  }
}

const haystack = new Map();
function textOf(number) {
  if (!haystack.has(number)) {
    const sample = samples[number];
    const parts = [sample.id, sample.output, sample.instruction, sample.rules, sample.effect];
    for (const told of sample.runs) {
      parts.push(told.thinking, told.failure, told.exact ? told.exact.reason : "", told.vlm ? told.vlm.failure : "");
    }
    haystack.set(number, parts.join("\n").toLowerCase());
  }
  return haystack.get(number);
}

function passes(number, words) {
  for (const [name, , , test] of FILTERS) {
    if (chosen[name] && chosen[name].value !== "" && !test(samples[number], chosen[name].value)) return false;
  }
  return words.every((word) => textOf(number).includes(word));
}

function refresh() {
  const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
  shown = samples.map((_, number) => number).filter((number) => passes(number, words));
  here = 0;
  watcher.disconnect();
  grid.style.removeProperty("--high");
  grid.replaceChildren(...shown.map(slot));
  for (const card of grid.children) watcher.observe(card);
  const all = samples.length;
  by("count").textContent = shown.length === all ? `${all} samples` : `${shown.length} of ${all}`;
  by("none").hidden = shown.length > 0;
  mark(false);
}

// Samples: empty slots, filled while they are near the screen -------------------------------------------------------------

const watcher = new IntersectionObserver((entries) => {
  for (const entry of entries) {
    if (entry.isIntersecting) fill(entry.target);
    else entry.target.replaceChildren();
  }
}, { rootMargin: "800px 0px" });

function slot(number, place) {
  return make("article", {
    class: "sample", tabindex: "0", "data-number": number, "aria-label": samples[number].output,
    onfocus: () => { here = place; mark(false); }, onclick: () => { here = place; mark(false); open(); },
  });
}

function fill(card) {
  if (card.firstChild) return;
  const number = Number(card.dataset.number), sample = samples[number], pictures = picturesOf(number);
  card.append(heading(sample), make("p", { class: "say", lang: sample.language }, sample.instruction),
    make("div", { class: "lanes" },
      make("div", { class: "given" }, ...given(sample, pictures)),
      make("div", {}, ...runsChosen().map((place) => lane(sample, place, pictures, brief)))));
  if (!grid.style.getPropertyValue("--high")) {  // samples are much alike, so the first tells how high an empty one is
    grid.style.setProperty("--high", `${Math.ceil(card.getBoundingClientRect().height)}px`);
  }
}

function heading(sample) {
  const level = sample.level ? make("span", { class: "pips", title: `level ${sample.level}`, "aria-label": `level ${sample.level}` },
    "●".repeat(sample.level), make("i", {}, "●".repeat(5 - sample.level))) : null;
  return make("div", { class: "head" }, make("b", {}, sample.output), level, make("span", { class: "end" }, sample.task || ""));
}

function picturesOf(number) {
  return JSON.parse(by(`p${number}`).textContent);
}

function figure(caption, sources, missing, alt) {
  const frame = make("div", { class: "picture" });
  sources.forEach((source, layer) => frame.append(make("img", {
    src: source, decoding: "async", onload: sharpen, alt: layer ? "" : alt,
    class: sources.length > 1 ? ["under", "over"][layer] : "",
  })));
  if (!sources.length) frame.append(make("span", { class: "none" }, missing || "none"));
  return make("figure", {}, frame, make("figcaption", {}, caption));
}

function given(sample, pictures) {
  const source = (place) => (place === null ? [] : [pictures.sources[place]]);
  return [figure("original", source(pictures.original), "none", `original of ${sample.output}`),
    figure("reference", source(pictures.reference), "none", `reference of ${sample.output}`)];
}

function lane(sample, place, pictures, text) {
  const run = runs[place], told = sample.runs[place], own = pictures.runs[place];
  const source = (number) => (number === null ? [] : [pictures.sources[number]]);
  const layers = own.difference === null ? [] : [...source(pictures.reference), ...source(own.difference)];
  const what = `${sample.output} by ${run.label}`;
  return make("div", { class: `lane ${run.style}` },
    figure("output", source(own.output), told.failure || own.output_note, `output for ${what}`),
    figure("what the reader saw", source(own.saw), own.saw_note, `what the reader saw in ${what}`),
    figure("difference to the reference", layers, own.difference_note || "none to show", `difference of ${what}`),
    make("div", { class: "told" }, make("h3", {}, make("i"), run.label), make("div", {}, ...badge(told)), ...text(told, own)));
}

function reasonOf(told) {
  return told.exact ? told.exact.reason : told.failure || (told.vlm ? told.vlm.failure : "");
}

function brief(told) {
  const reason = reasonOf(told);
  return reason ? [make("p", {}, reason)] : [];
}

// One sample, large ----------------------------------------------------------------------------------------------------

function full(told, own) {
  const share = (value) => `${(100 * value).toFixed(1)} %`;
  const parts = [...brief(told)];
  if (told.stale) parts.push(make("p", { class: "warn" }, "The picture came or went after it was judged: score again."));
  if (told.exact) {
    parts.push(facts([["preserved", share(told.exact.preserved)], ["quality", told.exact.quality.toFixed(3)],
      ["confidence", told.exact.confidence.toFixed(3)],
      ...Object.entries(told.exact.parts || {}).map(([name, value]) => [name, share(value)])]));
  }
  if (told.vlm) parts.push(scores(told.vlm));
  if (told.vlm && told.vlm.failure && told.vlm.failure !== reasonOf(told)) parts.push(make("p", { class: "warn" }, told.vlm.failure));
  if (told.thinking) parts.push(folded("Thinking", told.thinking, true));
  own.replies.forEach((replies, pass) => {
    const text = questions.filter((name) => replies[name]).map((name) => `${spaced(name)}\n${replies[name]}`).join("\n\n");
    if (text) parts.push(folded(own.replies.length > 1 ? `Replies of the model, pass ${pass + 1}` : "Replies of the model", text, false));
  });
  if (told.exact && told.exact.position) {
    parts.push(make("details", {}, make("summary", {}, "Position as read"), make("pre", {}, told.exact.position)));
  }
  return parts;
}

const spaced = (name) => name.replaceAll("_", " ");

function folded(title, text, opened) {
  const box = make("details", {}, make("summary", {}, title), make("p", {}, text));
  box.open = opened;
  return box;
}

function scores(vlm) {
  const head = make("tr", {}, make("th", {}, "pass"), ...questions.map((name) => make("th", { scope: "col" }, spaced(name))));
  const rows = vlm.passes.map((scores, pass) => make("tr", {}, make("th", { scope: "row" }, String(pass + 1)),
    ...scores.map((score) => make("td", {}, score === null ? "none" : String(score)))));
  return make("table", {}, make("tbody", {}, head, ...rows));
}

function sheet(number) {
  const sample = samples[number], pictures = picturesOf(number), text = { lang: sample.language };
  const move = (step) => () => go(step);
  const boards = make("div", { class: "boards" }, make("pre", {}, sample.before), make("pre", {}, sample.after));
  return make("div", { class: "sheet" },
    make("nav", {}, make("b", {}, sample.output), make("code", {}, sample.id),
      make("span", { class: "end" }, make("span", {}, `${here + 1} / ${shown.length}`),
        make("button", { type: "button", title: "previous (k)", "aria-label": "previous", onclick: move(-1) }, "←"),
        make("button", { type: "button", title: "next (j)", "aria-label": "next", onclick: move(1) }, "→"),
        make("button", { type: "button", title: "back (esc)", onclick: () => detail.close() }, "close"))),
    make("div", { class: "given" }, ...given(sample, pictures),
      make("div", {}, make("p", { class: "ask", ...text }, sample.instruction),
        sample.effect ? make("p", { class: "effect", ...text }, sample.effect) : null)),
    ...runs.map((_, place) => lane(sample, place, pictures, full)),
    make("div", { class: "text" },
      make("div", {},
        ...section("Rules", sample.rules && make("p", text, sample.rules)),
        ...section("Reasoning of the reference", sample.reasoning && make("p", text, sample.reasoning))),
      make("div", {},
        ...section("Position, before and after", sample.before && boards),
        ...section("Shown as", facts([["task", sample.task], ["level", sample.level], ["skin", sample.skin], ["language", sample.language]])))));
}

let large = 0;  // place in `shown` of the sample that is open

function open() {
  if (!shown.length) return;
  large = here;
  detail.replaceChildren(sheet(shown[here]));
  if (!detail.open) detail.showModal(), detail.focus();
  detail.scrollTop = 0;
  history.replaceState(null, "", PREFIX + encodeURIComponent(samples[shown[here]].output));
}

detail.addEventListener("close", () => {
  here = large;  // the browser gives the focus back to where it was
  history.replaceState(null, "", location.pathname + location.search);
  detail.replaceChildren();
  mark(true);
});

function openAddressed() {
  if (!location.hash.startsWith(PREFIX)) return;
  let wanted = "";
  try { wanted = decodeURIComponent(location.hash.slice(PREFIX.length)); } catch { return; }
  const number = samples.findIndex((sample) => sample.output === wanted || sample.id === wanted);
  if (number < 0) return;
  if (!shown.includes(number)) reset();
  here = shown.indexOf(number);
  mark(true);
  open();
}

