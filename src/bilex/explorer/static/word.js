// One word: its translations, why they came out so, its neighbours, and its place on the map.

import { get } from "./api.js";
import { chart } from "./chart.js";
import { decisionCell, decisionKeys, onDecision, updateCells } from "./decisions.js";
import { h, number, roving, word, wordLink } from "./dom.js";
import { settle } from "./keys.js";

const OTHER = { source: "target", target: "source" };

export async function wordView(main, { side, text }, names, signal) {
  const title = h("h1", { tabindex: -1 }, word(text));
  const about = h("p", { class: "soft" });
  const translations = h("section", { "aria-labelledby": "translations" }, h("h2", { id: "translations" }, `Translations into ${names[OTHER[side]]}`));
  const more = h("div", {});
  main.replaceChildren(title, about, translations, more);
  onDecision((event) => updateCells(main, event), signal);

  const fast = await get("translate", { word: text, side, n: 10 }, signal);
  about.textContent = fast.through === "table"
    ? `${names[side]}, word ${fast.rank.toLocaleString("en")} by frequency`
    : `${names[side]}, not in the table: its vector is made of its subwords`;
  const given = new Set(fast.given.map((candidate) => candidate.word));
  translations.append(h("div", { class: "frame", tabindex: -1 }, table(fast.r, rightFirst(fast, given), text, side)));
  settle();

  const full = await get("explain", { word: text, side, n: 10 }, signal);
  const chosen = full.candidates.filter((candidate) => candidate.score_rank <= 10);
  const lost = full.candidates.filter((candidate) => candidate.score_rank > 10 && !given.has(candidate.word));
  const ranks = new Map(full.candidates.map((candidate) => [candidate.word, candidate]));
  translations.querySelectorAll("tr[data-entry]").forEach((row) => row.showRank(ranks));
  more.append(why(chosen, given.size), neighbours(full, side, names));
  if (lost.length) {
    more.append(h("section", { "aria-labelledby": "lost" }, h("h2", { id: "lost" }, "Near, but held back"),
      h("p", { class: "soft" }, "Among the ten nearest by cosine, but not among the ten best: they are near to many words (a large r)."),
      h("div", { class: "frame" }, table(full.r, lost, text, side))));
  }
  if (full.personal) more.append(personal(full.personal, side));
  if (fast.through === "table") {
    const section = h("section", { "aria-labelledby": "map" }, h("h2", { id: "map" }, "Map"));
    more.append(section);
    section.append(await chart(text, side, names, signal));
  }
}

// What was accepted, what the dictionary gives, then what was found; each with its rank among what was found, if it is there.
function rightFirst(data, given) {
  const found = data.candidates.map((candidate, i) => ({ ...candidate, place: i + 1 }));
  const places = new Map(found.map((candidate) => [candidate.word, candidate.place]));
  const first = data.given.map((candidate) => ({ ...candidate, given: true, place: places.get(candidate.word) ?? "" }));
  const listed = [...first, ...found.filter((candidate) => !given.has(candidate.word))];
  const accepted = (candidate) => candidate.decision?.verdict === "accepted";
  return [...listed.filter(accepted), ...listed.filter((candidate) => !accepted(candidate))];
}

function table(own, candidates, text, side) {
  const [rQuery, rCandidate] = side === "source" ? ["r_T", "r_S"] : ["r_S", "r_T"];
  const heads = [
    ["#", "Rank by CSLS"], ["translation", null], ["CSLS", "2 · cosine − r_S − r_T"], ["cosine", null],
    [rQuery, "Mean cosine of the word with its nearest in the other language; the same for all candidates"],
    [rCandidate, "Mean cosine of the candidate with its nearest in the other language; large for hubs"],
    ["by cosine", "Rank by cosine alone"], ["back", "Whether the best translation of the candidate is this word"], ["", null],
  ];
  const body = h("tbody", { role: "rowgroup" }, candidates.map((candidate) => row(candidate, own, text, side)));
  roving(body, "tr");
  // Roles are written out because on a narrow screen the rows are shown as cards, which takes those of a table away.
  return h("table", { role: "table", class: "candidates" },
    h("thead", { role: "rowgroup" }, h("tr", { role: "row" }, heads.map(([name, title], i) => h("th", { role: "columnheader", scope: "col", title, class: i > 1 && i < heads.length - 1 ? "number" : null }, symbol(name))))), body);
}

function row(candidate, own, text, side) {
  const pair = side === "source" ? { source: text, suggestion: candidate.word } : { source: candidate.word, suggestion: text };
  const rank = candidate.score_rank ?? candidate.place;
  const name = [candidate.score === null ? word(candidate.word) : wordLink(candidate.word, OTHER[side]), candidate.given ? h("span", { class: "tag given", title: "By the dictionary of this run" }, "given") : ""];
  const figure = (label, value) => h("td", { role: "cell", class: "number", "data-label": label }, value);
  const byCosine = figure("by cosine", "");
  const byScore = h("td", { role: "cell" }, String(rank));
  const cell = (...content) => h("td", { role: "cell" }, content);
  const made = h("tr", { role: "row", tabindex: -1, "data-entry": true, "data-verdict": candidate.decision?.verdict ?? "open" },
    byScore, cell(name), figure("CSLS", number(candidate.score)), figure("cosine", number(candidate.cosine)),
    figure(side === "source" ? "r_T" : "r_S", candidate.score === null ? "" : number(own)), figure(side === "source" ? "r_S" : "r_T", number(candidate.r)),
    byCosine, figure("back", candidate.mutual === null ? "" : candidate.mutual ? "yes" : "no"), cell(decisionCell(pair, candidate.decision)));
  // Ranks by cosine come later than the rest; they are bold where they differ from those by CSLS, which for what is given may
  // come as late.
  made.showRank = (ranks) => {
    const explained = ranks.get(candidate.word);
    if (!explained) return;
    const own = rank || explained.score_rank;
    byScore.textContent = String(own);
    byCosine.replaceChildren(explained.cosine_rank === own ? String(own) : h("strong", {}, String(explained.cosine_rank)));
  };
  if (candidate.cosine_rank) made.showRank(new Map([[candidate.word, candidate]]));
  decisionKeys(made);
  return made;
}

// r_S with its letter below the line.
function symbol(name) {
  const [letter, index] = name.split("_");
  return index ? [letter, h("sub", {}, index)] : name;
}

function why([first, second], given) {
  if (!second) return "";
  const cosine = first.cosine - second.cosine;
  const penalty = second.r - first.r;
  const parts = [word(first.word), ` is ahead of `, word(second.word), ` by ${number(first.score - second.score)}: `,
    `${number(2 * cosine)} from the cosine (doubled) and ${number(penalty)} from the r of the candidates. `];
  if (cosine < 0) parts.push(word(second.word), " is nearer, but near to many other words too, and CSLS holds it back.");
  else if (first.cosine_rank > 1) parts.push(`By cosine alone it would have been rank ${first.cosine_rank}.`);
  if (given) parts.push(" What the dictionary gives comes before both in the lexicon, whatever the vectors say.");
  return h("p", { class: "why" }, parts);
}

function neighbours(data, side, names) {
  const near = [...data.candidates].sort((a, b) => b.cosine - a.cosine).slice(0, 10);
  const lists = [[names[side], data.neighbours, side], [names[OTHER[side]], near, OTHER[side]]];
  return h("section", { "aria-labelledby": "near" }, h("h2", { id: "near" }, "Nearest words"), h("div", { class: "columns" }, lists.map(([name, words, of]) =>
    h("div", {}, h("h3", {}, name), h("ol", { class: "near" }, words.map((near) => h("li", {}, wordLink(near.word, of), h("span", { class: "soft" }, ` ${number(near.cosine)}`))))))));
}

function personal(data, side) {
  const list = (words) => words.flatMap((near, i) => [i ? ", " : "", wordLink(near.word, side), h("span", { class: "soft" }, ` ${number(near.cosine, 2)}`)]);
  const context = data.context.flatMap((text, i) => [i ? ", " : "", wordLink(text, side)]);
  const left = data.context_size - data.context.length;
  return h("section", { "aria-labelledby": "personal" }, h("h2", { id: "personal" }, "Personal offset"),
    h("p", {}, `RAPO moves this word by a vector of length ${number(data.size)}, which turns it by ${number(data.turned, 1)}°; its cosine with the word is ${number(data.along)}.`),
    h("dl", {}, h("dt", {}, "towards"), h("dd", {}, list(data.towards)), h("dt", {}, "away from"), h("dd", {}, list(data.away)),
      h("dt", {}, `context (${data.context_size})`), h("dd", {}, context.length ? context : "the word alone", left > 0 ? ` and ${left} more` : "")));
}
