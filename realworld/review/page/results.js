// Results: how far, why, who, and how far people agree -----------------------------------------------------------------

const resultsPart = by("results");
const NEXT = { 1: "gamegen real review RUN --stage 2", 2: "gamegen real export RUN" };
const percent = (share) => `${(100 * share).toFixed(share === 1 || share === 0 ? 0 : 1)} %`;
const kappa = (value) => value === null ? "not defined" : value.toFixed(3);

async function showResults() {
  const found = await insist("/api/results");
  const { counts } = found;
  const open = counts.items - counts.keep - counts.drop;
  resultsPart.replaceChildren(...[
    make("h1", {}, open ? "So far" : "All done"),
    make("p", { class: "lead" }, `${counts.keep + counts.drop} of ${plural(counts.items, "sample")} decided: ${counts.keep} kept, ${counts.drop} dropped.`),
    open || !counts.items ? null : make("p", {}, "Next: ", make("code", {}, NEXT[about.stage])),
    make("p", { class: "row" },
      open ? make("button", { type: "button", onclick: leaveResults }, "Back to work")
        : work.last ? make("button", { type: "button", onclick: undo }, "Undo my last decision") : null,
      make("a", { href: "/decisions.json", download: "" }, "decisions.json"),
      make("a", { href: "/decisions.csv", download: "" }, "decisions.csv")),
    ...part("By category", table(["category", "kept", "dropped", "open"], found.categories.map((row) => [row.category, row.keep, row.drop, row.open]))),
    ...part("Why dropped", bars(found.reasons)),
    ...part("Corrected", about.stage === 2 && bars(found.corrected)),
    ...part("People", table(["name", "decisions", "kept", "seconds each", ...(about.stage === 2 ? ["corrected"] : [])],
      found.people.map((row) => [row.annotator, row.votes, percent(row.keep / row.votes), row.seconds.toFixed(1), ...(about.stage === 2 ? [row.corrected] : [])]))),
    ...agreementPart(found),
  ].filter((part) => part));
  show("results");
}

function leaveResults() {
  item = null;
  take(work);
  if (!by("idle").hidden || !by("desk").hidden) return;
  show("idle");
}

const part = (title, content) => content ? [make("section", {}, make("h2", {}, title), content)] : [];

function agreementPart({ asked, agreement }) {
  const { items, observed, fleiss, pairs } = agreement;
  const lines = [];
  if (asked < 2) lines.push(make("p", {}, "One vote for each sample was asked for; with --votes 2 or more people can be compared."));
  else if (!items) lines.push(make("p", {}, `No sample has ${asked} votes yet.`));
  else lines.push(facts([["samples", items], ["votes that agree", percent(observed)], ["Fleiss’ kappa", kappa(fleiss)]]));
  if (pairs.length) lines.push(table(["", "", "samples", "agree", "Cohen’s kappa"],
    pairs.map((pair) => [pair.first, pair.second, pair.items, percent(pair.observed), kappa(pair.kappa)])));
  return [make("section", { id: "agreement" }, make("h2", {}, "Agreement"), ...lines)];
}

function table(heads, rows) {
  if (!rows.length) return null;
  return make("div", { class: "scroll" }, make("table", {},
    make("thead", {}, make("tr", {}, ...heads.map((text) => make("th", {}, text)))),
    make("tbody", {}, ...rows.map((row) => make("tr", {}, ...row.map((value, place) => make(place ? "td" : "th", {}, String(value))))))));
}

function bars(counted) {
  const rows = Object.entries(counted).sort((one, other) => other[1] - one[1]);
  if (!rows.length) return null;
  const most = rows[0][1];
  const label = Object.fromEntries(about.reasons.map((reason) => [reason.name, reason.label]));
  return make("dl", { class: "bars" }, ...rows.flatMap(([title, count]) => {
    const bar = make("i");
    bar.style.width = `${100 * count / most}%`;
    return [make("dt", {}, label[title] || TITLES[title] || title), make("dd", {}, bar, ` ${count}`)];
  }));
}
