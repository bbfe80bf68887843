// Several people: who has decided what, how far they agree, where they differ, and files to hand on.

import { get, upload } from "./api.js";
import { announce, decide, onDecision } from "./decisions.js";
import { button, byLine, count, h, listed, number, roving, say, word, wordLink } from "./dom.js";

export async function peopleView(main, signal) {
  onDecision(draw, signal);
  await draw();

  async function draw() {
    const data = await get("people", {}, signal);
    main.replaceChildren(h("h1", { tabindex: -1 }, "People"), reviewers(data), agreements(data), conflicts(data), files());
    const list = main.querySelector(".conflicts");
    if (list) roving(list, "[data-entry]");
  }
}

function reviewers({ reviewers: people }) {
  const verdicts = ["accepted", "corrected", "rejected"];
  return h("section", { "aria-labelledby": "who" }, h("h2", { id: "who" }, "Who has decided"),
    people.length ? table(["name", ...verdicts, "last decision"], people.map((person) => [named(person.name), ...verdicts.map((verdict) => count(person.counts[verdict] ?? 0)), byLine({ made: person.last })])) : h("p", {}, "Nobody has decided anything yet."));
}

function agreements({ agreements: pairs }) {
  if (!pairs.length) return "";
  return h("section", { "aria-labelledby": "agreement" }, h("h2", { id: "agreement" }, "Agreement"),
    h("p", { class: "soft" }, "Over the words that both have judged. Same: the same verdict and the same translations. κ (Cohen): agreement of the verdicts beyond chance, 1 at most."),
    table(["reviewers", "words", "same", "κ"], pairs.map(({ reviewers: [a, b], words: total, same, kappa }) => [[named(a), " and ", named(b)], count(total), `${count(same)} (${number(100 * same / total, 0)} %)`, number(kappa, 2)])));
}

function conflicts({ conflicts: found, conflict_count: total }) {
  if (!total) return "";
  return h("section", { "aria-labelledby": "differ" }, h("h2", { id: "differ" }, `They differ on ${count(total)}`),
    h("p", { class: "soft" }, "What was decided here counts until you take another. Your choice settles it."),
    h("ol", { class: "conflicts plain" }, found.map(conflict)));
}

function conflict({ source, suggestion, decisions }) {
  return h("li", { tabindex: -1, "data-entry": true, "data-conflict": source }, h("p", { class: "pair" }, wordLink(source, "source"), h("span", { class: "arrow" }, " → "), word(suggestion)),
    h("ul", { class: "plain" }, decisions.map((decision) => h("li", {}, named(decision.reviewer), ": ", verdict(decision), decision.note && [" ", h("q", { dir: "auto", class: "note" }, decision.note)],
      h("span", { class: "soft" }, ` ${byLine({ made: decision.made })}${decision.merged ? "" : ", here"} `),
      button("Take this", () => take({ source, suggestion }, decision))))));
}

function verdict(decision) {
  return decision.verdict === "corrected" ? ["right: ", listed(decision.targets)] : decision.verdict;
}

function take(pair, { verdict: chosen, targets, note }) {
  return decide(pair, chosen, { note, ...(chosen === "corrected" ? { targets } : {}) });
}

function files() {
  const file = h("input", { type: "file", id: "merge", accept: ".sqlite" });
  file.addEventListener("change", async () => {
    const [chosen] = file.files;
    if (!chosen) return;
    try {
      const answer = await upload("merge", chosen, { name: chosen.name.replace(/\.[^.]*$/, "").slice(0, 100) || "merged" });
      say(`${count(answer.added)} decisions added, ${count(answer.known)} were here already`);
      announce({ many: true }, answer);
    } catch (error) {
      say(error.message);
    }
    file.value = "";
  });
  return h("section", { "aria-labelledby": "files" }, h("h2", { id: "files" }, "Work together"),
    h("p", {}, h("a", { class: "button", href: "/api/export?what=decisions", download: "decisions.sqlite", "data-file": "decisions" }, "Download your decisions"), " and hand the file to the others: it has each decision with its time and name."),
    h("p", {}, h("label", { for: "merge" }, "Add the decisions of another person: "), file),
    h("p", { class: "soft" }, "Nothing that was decided here changes. Undo takes the whole file out again."));
}

function named(name) {
  return name ? h("bdi", { dir: "auto" }, name) : h("i", {}, "no name");
}

function table(heads, rows) {
  return h("div", { class: "frame" }, h("table", {}, h("thead", {}, h("tr", {}, heads.map((name, i) => h("th", { scope: "col", class: i ? "number" : null }, name)))),
    h("tbody", {}, rows.map((cells) => h("tr", {}, cells.map((cell, i) => h("td", { class: i ? "number" : null }, cell)))))));
}
