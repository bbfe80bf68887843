// The figures behind the translations of a word: scores, ranks, what is near, the personal offset, and the map.

import { get } from "./api.js";
import { chart } from "./chart.js";
import { h, number, word, wordLink } from "./dom.js";

const OTHER = { source: "target", target: "source" };

export async function figures({ side, text, inTable, given }, names, signal) {
  const full = await get("explain", { word: text, side, n: 10 }, signal);
  const chosen = full.candidates.filter((candidate) => candidate.score_rank <= 10 || given.has(candidate.word));
  const lost = full.candidates.filter((candidate) => candidate.score_rank > 10 && !given.has(candidate.word));
  const parts = [h("div", { class: "frame" }, table(full.r, chosen, side)), why(chosen.filter((candidate) => candidate.score_rank <= 10), given.size), neighbours(full, side, names)];
  if (lost.length) {
    parts.push(h("section", { "aria-labelledby": "lost" }, h("h3", { id: "lost" }, "Near, but held back"),
      h("p", { class: "soft" }, "Among the ten nearest by cosine, but not among the ten best: they are near to many words (a large r)."),
      h("div", { class: "frame" }, table(full.r, lost, side))));
  }
  if (full.personal) parts.push(personal(full.personal, side));
  if (inTable) parts.push(h("section", { "aria-labelledby": "map" }, h("h3", { id: "map" }, "Map"), await chart(text, side, names, signal)));
  return parts;
}

function table(own, candidates, side) {
  const [rQuery, rCandidate] = side === "source" ? ["r_T", "r_S"] : ["r_S", "r_T"];
  const heads = [
    ["#", "Rank by CSLS"], ["translation", null], ["CSLS", "2 · cosine − r_S − r_T"], ["cosine", null],
    [rQuery, "Mean cosine of the word with its nearest in the other language; the same for all candidates"],
    [rCandidate, "Mean cosine of the candidate with its nearest in the other language; large for hubs"],
    ["by cosine", "Rank by cosine alone"], ["back", "Whether the best translation of the candidate is this word"],
  ];
  return h("table", { class: "figure-table" },
    h("thead", {}, h("tr", {}, heads.map(([name, title], i) => h("th", { scope: "col", title, class: i === 1 ? null : "number" }, symbol(name))))),
    h("tbody", {}, candidates.map((candidate) => row(candidate, own, side))));
}

// Ranks by cosine are bold where they differ from those by CSLS.
function row(candidate, own, side) {
  const figure = (value) => h("td", { class: "number" }, value);
  const differs = candidate.cosine_rank !== candidate.score_rank;
  return h("tr", {}, figure(String(candidate.score_rank)), h("td", {}, wordLink(candidate.word, OTHER[side])), figure(number(candidate.score)), figure(number(candidate.cosine)),
    figure(number(own)), figure(number(candidate.r)), figure(differs ? h("strong", {}, String(candidate.cosine_rank)) : String(candidate.cosine_rank)),
    figure(candidate.mutual === null ? "" : candidate.mutual ? "yes" : "no"));
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
  return h("section", { "aria-labelledby": "near" }, h("h3", { id: "near" }, "Nearest words"), h("div", { class: "columns" }, lists.map(([name, words, of]) =>
    h("div", {}, h("h4", {}, name), h("ol", { class: "near" }, words.map((near) => h("li", {}, wordLink(near.word, of), h("span", { class: "soft" }, ` ${number(near.cosine)}`))))))));
}

function personal(data, side) {
  const list = (words) => words.flatMap((near, i) => [i ? ", " : "", wordLink(near.word, side), h("span", { class: "soft" }, ` ${number(near.cosine, 2)}`)]);
  const context = data.context.flatMap((text, i) => [i ? ", " : "", wordLink(text, side)]);
  const left = data.context_size - data.context.length;
  return h("section", { "aria-labelledby": "personal" }, h("h3", { id: "personal" }, "Personal offset"),
    h("p", {}, `RAPO moves this word by a vector of length ${number(data.size)}, which turns it by ${number(data.turned, 1)}°; its cosine with the word is ${number(data.along)}.`),
    h("dl", {}, h("dt", {}, "towards"), h("dd", {}, list(data.towards)), h("dt", {}, "away from"), h("dd", {}, list(data.away)),
      h("dt", {}, `context (${data.context_size})`), h("dd", {}, context.length ? context : "the word alone", left > 0 ? ` and ${left} more` : "")));
}
