// What may be wrong: hubs, and entries that something speaks against.

import { get } from "./api.js";
import { onDecision } from "./decisions.js";
import { h, number, roving, wordLink } from "./dom.js";
import { settle } from "./keys.js";
import { DOUBTS, entryTable, updateRows } from "./row.js";

const MEANING = {
  low_margin: "the second best translation is nearly as good (the lowest tenth of all margins)",
  one_sided: "the best translation of the target is another source word",
  hub: "the target is the best translation of five source words or more",
};

export async function checksView(main, names, signal) {
  const [about, hubs, doubtful] = await Promise.all([
    get("about", {}, signal), get("hubs", { n: 25 }, signal),
    get("lexicon", { doubt: "any", status: "open", order: "doubts", ascending: false, limit: 25 }, signal),
  ]);
  const counts = h("ul", { class: "plain" }, Object.entries(DOUBTS).map(([name, label]) =>
    h("li", {}, h("a", { href: `#/lexicon?doubt=${name}&status=open` }, `${hubs.doubts[name].toLocaleString("en")} ${label}`), h("span", { class: "soft" }, `: ${MEANING[name]}`))));
  const list = entryTable(doubtful.entries, { ...about, label: "Suspicious entries" });
  main.replaceChildren(h("h1", { tabindex: -1 }, "Checks"),
    h("section", { "aria-labelledby": "doubtful" }, h("h2", { id: "doubtful" }, `Suspicious entries, of ${hubs.entries.toLocaleString("en")}`), counts, h("div", { class: "list" }, list)),
    h("section", { "aria-labelledby": "hubs" }, h("h2", { id: "hubs" }, "Hubs"),
      h("p", { class: "soft" }, `Words of ${names.target} that are most often among the ${hubs.k} best translations. Skewness ${number(hubs.skewness, 2)}; ${number(hubs.never, 1)} % of the words are never among them.`),
      h("div", { class: "frame" }, hubTable(hubs))));
  roving(list, "tr[data-entry]");
  onDecision((event) => updateRows(list, event), signal);
  settle();
}

function hubTable({ hubs, k }) {
  const heads = ["word", `among the ${k} best of`, "best of", "for example"];
  return h("table", {}, h("thead", {}, h("tr", {}, heads.map((name, i) => h("th", { scope: "col", class: i === 1 || i === 2 ? "number" : null }, name)))),
    h("tbody", {}, hubs.map((hub) => h("tr", {}, h("td", {}, wordLink(hub.word, "target")), h("td", { class: "number" }, String(hub.among_best)),
      h("td", { class: "number" }, String(hub.best_of)), h("td", {}, hub.examples.flatMap((text, i) => [i ? ", " : "", wordLink(text, "source")]))))));
}
