// The review list: filter, sort, and go through it with the keyboard.

import { get } from "./api.js";
import { acceptMany } from "./bulk.js";
import { onDecision } from "./decisions.js";
import { button, count, h, roving } from "./dom.js";
import { evidencePane } from "./evidence.js";
import { filterAddress, filterForm, readFilter, wanted } from "./filters.js";
import { settle } from "./keys.js";
import { columns, entryTable, updateRows } from "./row.js";
import { store, stored, storeList } from "./session.js";

const PAGE = 50;
const DESCENDING = ["score", "margin", "confidence", "doubts"];
let current = null;

// The keys of the list that are not about one row: b and e.
export const LIST_ACTIONS = { b: () => current?.bulk(), e: () => current?.evidence() };

export async function lexiconView(main, query, signal) {
  const filter = readFilter(query);
  const about = await get("about", {}, signal);
  const total = h("p", { class: "soft total", role: "status" });
  const frame = h("div", { class: "list" });
  const pages = h("div", { class: "pages" });
  const pane = evidencePane(signal);
  const tools = h("div", { class: "list-tools" }, total, button("Accept many …", () => acceptMany(filter, about), { id: "bulk", title: "Accept all above a threshold (b)" }),
    button("Examples", () => show(), { id: "evidence", title: "Examples in context (e)", "aria-pressed": "false" }), pages);
  let offset = 0;
  main.replaceChildren(h("h1", { tabindex: -1, class: "hidden" }, "Review"), filterForm(filter, about, () => { remember(); return load({}); }), tools, frame, pane.element);
  onDecision((event) => (event.many ? load({ offset }) : updateRows(frame, event)), signal);
  frame.addEventListener("focusin", (event) => pane.follow(event.target.closest("tr[data-entry]")));
  current = { bulk: () => acceptMany(filter, about), evidence: show };
  signal.addEventListener("abort", () => { current = null; });
  remember();
  await load({});
  if (stored("examples") === "on") show(true);
  settle();

  async function load(place, focus = false) {
    const page = await get("lexicon", { ...wanted(filter), ...place, limit: PAGE }, signal);
    const last = Math.min(page.offset + page.entries.length, page.total);
    offset = page.offset;
    total.textContent = page.entries.length ? `${count(page.offset + 1)} to ${count(last)} of ${count(page.total)}` : page.total ? "the end of the list" : "no entry fits";
    const table = entryTable(page.entries, { ...about, label: "Entries", head: heads(), atEnd: forward });
    roving(table, "tr[data-entry]");
    const behind = page.entries.at(-1)?.rank;
    const had = frame.contains(document.activeElement);
    frame.replaceChildren(table);
    pages.replaceChildren(button("Back", () => load({ offset: Math.max(0, offset - PAGE) }, true), { disabled: page.offset === 0 }), button("Next", forward, { disabled: last >= page.total }));
    if (focus || had) frame.querySelector("tr[data-entry]")?.focus();

    // What was decided may have left the list, so the next page begins behind the last entry, not at a number.
    function forward() {
      return behind && last < page.total ? load({ after: behind }, true) : undefined;
    }
  }

  function heads() {
    return h("thead", { role: "rowgroup" }, h("tr", { role: "row" }, columns(about.confidence).map(([order, label, title, kind]) => {
      const sorted = filter.order === order ? (filter.ascending === "true" ? "ascending" : "descending") : null;
      return h("th", { role: "columnheader", scope: "col", title, class: kind, "data-name": order, "aria-sort": sorted },
        order ? button([label, sorted ? h("span", { "aria-hidden": "true" }, sorted === "ascending" ? " ▲" : " ▼") : ""], () => sort(order), { class: "sort", "data-order": order }) : label);
    })));
  }

  async function sort(order) {
    const first = !DESCENDING.includes(order);
    filter.ascending = String(filter.order === order ? filter.ascending !== "true" : first);
    filter.order = order;
    remember();
    await load({});
    frame.querySelector(`[data-order=${order}]`)?.focus();
  }

  // The address follows the filter, so that a reload shows the same, and so does the way back from the first page.
  function remember() {
    const address = filterAddress(filter);
    history.replaceState(null, "", address);
    storeList(address);
  }

  function show(on = pane.element.hidden) {
    pane.toggle(frame.querySelector('tr[data-entry][tabindex="0"]'), on);
    document.getElementById("evidence").setAttribute("aria-pressed", String(on));
    store("examples", on ? "on" : "off");
  }
}
