// The first page: what this lexicon is, how far its review is, and what to review next.

import { get } from "./api.js";
import { onDecision } from "./decisions.js";
import { count, h, number, roving } from "./dom.js";
import { settle } from "./keys.js";
import { learningPart } from "./learning.js";
import { entryTable, updateRows } from "./row.js";
import { lastList, reviewer, storeReviewer } from "./session.js";

export async function homeView(main, signal) {
  let table = null;
  onDecision((event) => (event.many ? draw() : updateRows(table, event)), signal);
  await draw();

  async function draw() {
    const about = await get("home", {}, signal);
    const { names, review, useful } = about;
    table = entryTable(useful, { ...about, label: "Most useful entries" });
    roving(table, "tr[data-entry]");
    main.replaceChildren(h("h1", { tabindex: -1 }, `${names.source} → ${names.target}`),
      h("div", { class: "home" },
        h("section", { "aria-labelledby": "what" }, h("h2", { id: "what" }, "This lexicon"), facts(about)),
        h("section", { "aria-labelledby": "far" }, h("h2", { id: "far" }, "The review"), progress("found by the vectors", review.found), progress("of your dictionary", review.given), person(), learningPart(about.learning, draw, signal),
          h("p", {}, h("a", { class: "button primary", href: lastList() ?? "#/lexicon?status=open", id: "go-on" }, review.found.decided + review.given.decided ? "Go on reviewing" : "Begin the review")))),
      h("section", { "aria-labelledby": "next" }, h("h2", { id: "next" }, "Most useful next"),
        h("p", { class: "soft" }, "Open entries that are frequent and probably to be corrected: the first translation is doubtful, and another may be right."), useful.length ? h("div", { class: "list" }, table) : h("p", {}, "Nothing is open.")));
    settle();
  }
}

function facts({ names, words, method, dictionary, held_out: heldOut, expected }) {
  const list = [["Words", `${count(words.source)} of ${names.source}, ${count(words.target)} of ${names.target}`], ["Dictionary", `${count(dictionary)} pairs that you gave`]];
  if (method) list.push(["Method", method]);
  if (heldOut) list.push(["Precision", [h("strong", {}, `${number(heldOut.p_at_1, 1)} %`), ` of first translations are right, ${number(heldOut.p_at_5, 1)} % have a right one among five: measured on ${count(heldOut.words)} words of the dictionary that were held out`]]);
  if (expected !== null) list.push(["Expected", [h("strong", {}, `${number(expected, 1)} %`), " of the found entries are right, by their confidence"]]);
  return h("dl", { class: "facts" }, list.map(([name, value]) => [h("dt", {}, name), h("dd", { "data-fact": name }, value)]));
}

function progress(label, { total, decided, aside }) {
  if (!total) return "";
  const share = total ? decided / total : 0;
  const id = label.replaceAll(" ", "-");
  return h("div", { class: "far" }, h("label", { for: id }, `${count(decided)} of ${count(total)} entries ${label}`, aside ? h("span", { class: "soft" }, `, ${count(aside)} set aside`) : ""),
    h("progress", { id, max: 1, value: share }));
}

// The name is stored with each decision; without one they are nobody's.
function person() {
  const name = h("input", { id: "reviewer", dir: "auto", maxlength: 100, autocomplete: "name", placeholder: "not given" });
  name.value = reviewer();
  name.addEventListener("change", () => storeReviewer(name.value.trim()));
  return h("p", { class: "person" }, h("label", { for: "reviewer" }, "Your name "), name);
}
