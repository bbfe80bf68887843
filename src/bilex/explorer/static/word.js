// One word: its translations and the evidence for them; the figures behind them are one click away.

import { get } from "./api.js";
import { decisionCell, decisionKeys, onDecision, updateCells } from "./decisions.js";
import { count, h, number, percent, roving, word, wordLink } from "./dom.js";
import { examples } from "./evidence.js";
import { figures } from "./figures.js";
import { settle } from "./keys.js";
import { store, stored } from "./session.js";

const OTHER = { source: "target", target: "source" };
const EVIDENCE = 5;

// The key of the figures.
export const WORD_ACTIONS = { f: () => document.querySelector("#figures > summary")?.click() };

export async function wordView(main, { side, text }, names, signal) {
  const about = h("p", { class: "soft" });
  const translations = h("section", { "aria-labelledby": "translations" }, h("h2", { id: "translations" }, `Translations into ${names[OTHER[side]]}`));
  const evidence = h("section", { "aria-labelledby": "examples" }, h("h2", { id: "examples" }, "Examples"));
  const more = h("details", { id: "figures", class: "more" }, h("summary", {}, "Figures: why these, what is near, the map ", h("kbd", {}, "f")));
  main.replaceChildren(h("h1", { tabindex: -1 }, word(text)), about, translations, evidence, more);
  onDecision((event) => updateCells(main, event), signal);

  const fast = await get("translate", { word: text, side, n: 10 }, signal);
  about.textContent = [names[side], fast.through === "table" ? `word ${count(fast.rank)} by frequency` : "not in the table: its vector is made of its subwords", fast.part, fast.lemma && `lemma ${fast.lemma}`].filter(Boolean).join(", ");
  const given = new Set(fast.given.map((candidate) => candidate.word));
  const listed = rightFirst(fast, given);
  translations.append(h("div", { class: "frame", tabindex: -1 }, table(listed, text, side)));
  settle();
  listenForFigures(more, () => figures({ side, text, inTable: fast.through === "table", given }, names, signal), signal);
  evidence.append(await examples(text, side, listed.slice(0, EVIDENCE).map((candidate) => candidate.word), signal));
}

// The figures are computed when they are looked at; whoever has opened them sees them with the next word too.
function listenForFigures(more, compute, signal) {
  let asked = false;
  more.addEventListener("toggle", async () => {
    store("figures", more.open ? "open" : "");
    if (!more.open || asked) return;
    asked = true;
    more.setAttribute("aria-busy", "true");
    try {
      more.append(...await compute());
    } catch (error) {
      asked = false;
      if (error.name !== "AbortError") more.append(h("p", { class: "problem", role: "alert" }, error.message));
    }
    if (!signal.aborted) more.removeAttribute("aria-busy");
  });
  more.open = stored("figures") === "open";
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

function table(candidates, text, side) {
  const confident = candidates.some((candidate) => (candidate.confidence ?? null) !== null);
  const heads = [["#", "Rank among what was found"], ["translation", null], confident ? ["confidence", "Probability that it is right"] : ["score", "CSLS"],
    ["mutual", "Whether the best translation of the candidate is this word"], ["", null]];
  const body = h("tbody", { role: "rowgroup" }, candidates.map((candidate) => row(candidate, text, side, confident)));
  roving(body, "tr");
  // Roles are written out because on a narrow screen the rows are shown as cards, which takes those of a table away.
  return h("table", { role: "table", class: "candidates" },
    h("thead", { role: "rowgroup" }, h("tr", { role: "row" }, heads.map(([name, title], i) => h("th", { role: "columnheader", scope: "col", title, class: i > 1 && i < 4 ? "number" : null }, name)))), body);
}

function row(candidate, text, side, confident) {
  const pair = side === "source" ? { source: text, suggestion: candidate.word } : { source: candidate.word, suggestion: text };
  const name = [candidate.score === null ? word(candidate.word) : wordLink(candidate.word, OTHER[side]), candidate.given ? h("span", { class: "tag given", title: "By the dictionary of this run" }, "given") : ""];
  const figure = (label, value) => h("td", { role: "cell", class: "number", "data-label": value && label }, value);
  const cell = (...content) => h("td", { role: "cell" }, content);
  const made = h("tr", { role: "row", tabindex: -1, "data-entry": true, "data-verdict": candidate.decision?.verdict ?? "open" },
    cell(String(candidate.place)), cell(name), confident ? figure("confidence", percent(candidate.confidence)) : figure("score", number(candidate.score)),
    figure("mutual", candidate.mutual === null ? "" : candidate.mutual ? "yes" : "no"), cell(decisionCell(pair, candidate.decision)));
  decisionKeys(made);
  return made;
}
