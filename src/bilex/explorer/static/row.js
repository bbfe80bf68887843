// A row of the review: a source word with its candidates, of which one or several are chosen by a key.

import { post } from "./api.js";
import { announce, unknownNotes } from "./decisions.js";
import { translationDialog } from "./dialog.js";
import { button, byLine, count, h, number, percent, say, word, wordAddress, wordLink } from "./dom.js";
import { inField, keyOf } from "./keys.js";

export const DOUBTS = { low_margin: "low margin", one_sided: "one-sided", hub: "hub" };
const DOUBT_TITLES = {
  low_margin: "The second best translation is nearly as good", one_sided: "The best translation of the target is another word",
  hub: "The target is the best translation of many words",
};
const MARK_LABELS = { skipped: "skipped", multiword: "multi-word", name: "name" };
const OPEN = { verdict: "open", targets: [], mark: "", note: "" };

export function entryRow(entry, { confidence, atEnd = () => {} }) {
  const row = h("tr", { role: "row", tabindex: -1, "data-entry": true, "data-source": entry.source });
  row.entry = { ...entry, decision: entry.decision ?? OPEN };
  row.changing = 0;
  row.addEventListener("keydown", (event) => onKey(row, event, atEnd));
  row.redraw = () => draw(row, confidence);
  row.redraw();
  return row;
}

export function entryTable(entries, options) {
  const body = h("tbody", { role: "rowgroup" }, entries.map((entry) => entryRow(entry, options)));
  return h("table", { role: "table", class: options.confidence ? "entries rated" : "entries", "aria-label": options.label }, options.head ?? head(options), body);
}

export const COLUMNS = [
  ["frequency", "#", "Rank by frequency", "number"], ["word", "word", "Source word"], [null, "translations", "The best candidates; a digit key chooses one"],
  ["confidence", "conf.", "Probability that the first translation is right", "number"], ["score", "score", "CSLS of the first translation", "number"],
  ["margin", "margin", "Distance of the best score to the second", "number"], ["doubts", "remarks", "Whether your dictionary gives it, and what speaks against it"], [null, "", null],
];

export function columns(confidence) {
  return COLUMNS.filter(([name]) => confidence || name !== "confidence");
}

function head({ confidence }) {
  return h("thead", { role: "rowgroup" }, h("tr", { role: "row" }, columns(confidence).map(([name, label, title, kind]) =>
    h("th", { role: "columnheader", scope: "col", title, class: kind, "data-name": name }, label))));
}

// The entry whose decision has changed, whoever changed it.
export function updateRows(root, { source, state }) {
  for (const row of root.querySelectorAll("tr[data-source]")) {
    if (row.dataset.source !== source || row.changing) continue; // a later change of it is on its way
    row.entry.decision = state ?? OPEN;
    row.redraw();
  }
}

function draw(row, confidence) {
  const { entry } = row;
  const { verdict, targets, mark } = entry.decision;
  row.dataset.verdict = verdict;
  row.dataset.mark = mark;
  row.setAttribute("aria-label", spoken(entry));
  const shown = [...entry.candidates, ...targets.filter((text) => entry.candidates.every((one) => one.word !== text)).map((text) => ({ word: text, added: true }))];
  row.shown = shown;
  const cell = (content, more = {}) => h("td", { role: "cell", ...more }, content);
  const figure = (name, value, label = name) => cell(value, { class: "number", "data-name": name, "data-label": value && label });
  row.replaceChildren(
    cell(count(entry.rank), { class: "number soft", "data-name": "rank" }),
    cell([wordLink(entry.source, "source", { tabindex: -1 }), tagged(entry)], { class: "headword" }),
    cell(h("span", { class: "choices" }, shown.map((candidate, i) => choice(row, candidate, i, targets))), { class: "translations" }),
    ...(confidence ? [figure("confidence", percent(entry.confidence))] : []),
    figure("score", number(entry.score)), figure("margin", number(entry.margin)),
    cell(tags(entry), { class: "tags" }), cell([actions(row), told(entry.decision)], { class: "acts" }));
}

function tagged({ lemma, part }) {
  const known = [lemma && word(lemma), part].filter(Boolean);
  return known.length ? h("small", { class: "tagged", title: "Lemma, part of speech" }, known.flatMap((one, i) => [i ? ", " : " ", one])) : "";
}

function choice(row, candidate, i, targets) {
  const chosen = targets.includes(candidate.word);
  const figure = candidate.confidence ?? null;
  return button([i < 9 ? h("sup", { "aria-hidden": "true" }, String(i + 1)) : "", word(candidate.word), figure === null ? "" : h("small", {}, ` ${percent(figure)}`)],
    () => toggle(row, i), {
      class: "choice", tabindex: -1, "aria-pressed": String(chosen), "data-given": candidate.given, "data-unknown": candidate.vector === false,
      title: [candidate.given && "by your dictionary", candidate.vector === false && "no vector is known of it", number(candidate.score) && `score ${number(candidate.score)}`].filter(Boolean).join("; "),
    });
}

function tags(entry) {
  return [entry.origin === "given" && h("span", { class: "tag given", title: "By the dictionary of this run" }, "given"),
    entry.doubts.map((doubt) => h("span", { class: "tag", title: DOUBT_TITLES[doubt] }, DOUBTS[doubt]))];
}

function actions(row) {
  const { verdict } = row.entry.decision;
  const act = (name, sign, label, key, pressed) => button(sign, () => perform(row, name), { class: `act ${name}`, tabindex: -1, "aria-label": `${label} ${row.entry.source}`, title: `${label} (${key})`, "aria-pressed": pressed });
  return h("span", { class: "actions-of" }, act("accept", "✓", "Accept", "a", String(verdict === "accepted")),
    act("reject", "✗", "Reject", "r", String(verdict === "rejected")), act("other", "✎", "Other translation, note", "c"));
}

function told({ verdict, mark, note, reviewer, made }) {
  const parts = [verdict === "rejected" && h("span", { class: "tag rejected" }, "rejected"), mark && h("span", { class: "tag mark" }, MARK_LABELS[mark]),
    note && h("q", { dir: "auto", class: "note" }, note), reviewer && h("span", { class: "soft by", dir: "auto" }, reviewer)];
  return h("span", { class: "told", title: byLine({ reviewer, made }) }, parts);
}

function spoken({ source, candidates, decision }) {
  const state = decision.targets.length ? `right: ${decision.targets.join(", ")}` : decision.verdict;
  return `${source}: ${candidates.map((one, i) => `${i + 1} ${one.word}`).join(", ")}; ${[state, MARK_LABELS[decision.mark]].filter(Boolean).join(", ")}`;
}

function onKey(row, event, atEnd) {
  const key = keyOf(event);
  if (key === null || inField(event)) return;
  const name = { a: "accept", r: "reject", s: "skipped", m: "multiword", p: "name", c: "other", n: "note" }[key];
  if (key === "Enter" && event.target === row) location.hash = wordAddress(row.entry.source, "source");
  else if (/^[1-9]$/.test(key)) { if (!event.repeat) toggle(row, Number(key) - 1); }
  else if (name) { if (!event.repeat) perform(row, name, atEnd, true); }
  else return;
  event.preventDefault();
  event.stopPropagation();
}

// A digit chooses a candidate, or takes it out again; the focus stays, since several may be right.
function toggle(row, i) {
  const chosen = row.shown[i]?.word;
  if (!chosen) return say(`There is no candidate ${i + 1}.`);
  const { targets } = row.entry.decision;
  const right = targets.includes(chosen) ? targets.filter((text) => text !== chosen) : row.shown.map((one) => one.word).filter((text) => text === chosen || targets.includes(text));
  return change(row, { targets: right }, { verdict: right.length ? (right.length === 1 && right[0] === row.entry.target ? "accepted" : "corrected") : "open", targets: right });
}

async function perform(row, name, atEnd = () => {}, onward = false) {
  const { decision, target } = row.entry;
  const is = (verdict) => decision.verdict === verdict;
  if (name === "other" || name === "note") return typed(row, name === "note", onward ? () => goOn(row, atEnd) : () => {});
  if (onward) goOn(row, atEnd);
  if (name === "accept") {
    if (is("corrected")) return undefined;
    const right = is("accepted") ? [] : [target];
    return change(row, { targets: right }, { verdict: right.length ? "accepted" : "open", targets: right });
  }
  if (name === "reject") return change(row, { rejected: !is("rejected"), targets: [] }, { verdict: is("rejected") ? "open" : "rejected", targets: [] });
  const mark = decision.mark === name ? "" : name;
  return change(row, { mark }, { mark });
}

// To the next row at once; after the last one to the next page.
function goOn(row, atEnd) {
  if (row.nextElementSibling) row.nextElementSibling.focus();
  else atEnd();
}

function typed(row, onNote, afterwards) {
  const { source, target, decision } = row.entry;
  return translationDialog({ source, suggestion: target, ...decision }, async ({ typed: text, ...more }) => change(row, text === undefined ? more : { typed: text, ...more }, {}), { onNote })
    .then((saved) => { if (saved && !onNote) afterwards(); });
}

// Shown at once, and as it was before if it could not be stored; the answer brings the state that is on disk.
async function change(row, request, expected) {
  const before = row.entry.decision;
  row.entry.decision = { ...before, ...expected };
  row.redraw();
  row.changing += 1;
  try {
    const answer = await post("review", { source: row.entry.source, ...request }).finally(() => { row.changing -= 1; });
    const { verdict, targets, mark } = answer.state ?? OPEN;
    const result = targets.length ? targets.join(", ") : mark ? MARK_LABELS[mark] : verdict === "open" ? "open again" : verdict;
    say([`${row.entry.source}: ${result}`, ...unknownNotes(answer.unknown)].join("; "));
    announce({ source: row.entry.source }, answer);
    return true;
  } catch (error) {
    say(error.message);
    if (!row.changing) row.entry.decision = before;
    row.redraw();
    row.focus();
    return false;
  }
}
