// The frame: which view is shown, the search field, the keys, and how far the preparation is.

import { get } from "./api.js";
import { checksView } from "./checks.js";
import { completion } from "./completion.js";
import { refreshCounts, undo } from "./decisions.js";
import { open } from "./dialog.js";
import { h, say, wordAddress } from "./dom.js";
import { downloads } from "./download.js";
import { homeView } from "./home.js";
import { listen, settle } from "./keys.js";
import { LIST_ACTIONS, lexiconView } from "./lexicon.js";
import { peopleView } from "./people.js";
import { lastList, setSession } from "./session.js";
import { WORD_ACTIONS, wordView } from "./word.js";

const main = document.getElementById("main");
const input = document.getElementById("word");
const VIEWS = { home: "Home", lexicon: "Review", checks: "Checks", people: "People" };
const ACTIONS = {
  "/": () => search(), ">": () => search("source"), "<": () => search("target"), u: undo, d: () => downloads(names), "?": help,
  h: () => go("#/"), l: () => go(lastList() ?? "#/lexicon"), x: () => go("#/checks"), w: () => go("#/people"), ...LIST_ACTIONS, ...WORD_ACTIONS,
};
let names = { source: "source", target: "target" };
let leaving = new AbortController();

function side() {
  return document.querySelector('input[name="side"]:checked').value;
}

function route() {
  const [path, query = ""] = location.hash.replace(/^#\/?/, "").split("?");
  const [view, of, text] = path.split("/");
  if (view === "word" && ["source", "target"].includes(of) && text) return { view, side: of, text: decode(text) };
  return { view: view in VIEWS ? view : "home", query: new URLSearchParams(query) };
}

function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

async function show() {
  leaving.abort();
  leaving = new AbortController();
  const { signal } = leaving;
  const place = route();
  document.querySelectorAll("[data-view]").forEach((link) => link.toggleAttribute("aria-current", link.dataset.view === place.view));
  if (place.text) {
    input.value = place.text;
    choose(place.side);
  }
  document.title = `${place.text ?? VIEWS[place.view]} – bilex explore`;
  window.scrollTo(0, 0);
  main.setAttribute("aria-busy", "true");
  try {
    if (place.text) await wordView(main, place, names, signal);
    else if (place.view === "lexicon") await lexiconView(main, place.query, signal);
    else if (place.view === "checks") await checksView(main, names, signal);
    else if (place.view === "people") await peopleView(main, signal);
    else await homeView(main, signal);
  } catch (error) {
    if (error.name === "AbortError") return;
    if (error.preparing) later(error, signal);
    else main.append(h("p", { class: "problem", role: "alert" }, error.message));
  }
  if (signal.aborted) return;
  main.removeAttribute("aria-busy");
  settle();
}

function later(error, signal) {
  main.replaceChildren(h("h1", { tabindex: -1 }, "In a moment"), h("p", {}, `${error.message}; this page goes on by itself.`));
  const timer = setTimeout(show, 1000);
  signal.addEventListener("abort", () => clearTimeout(timer));
}

// In three groups: an entry, a list, the page.
function shortcuts() {
  const groups = {
    "An entry": { "1 … 9": "choose a candidate, or take it out again; several may be right", a: "accept the first, and go on", r: "reject, and go on", c: "other translation, with note", n: "note", s: "skip", m: "mark as multi-word", p: "mark as a name", Enter: "open the word" },
    "A list": { "↑ ↓ j k": "go through it", e: "examples of the word and of each candidate", b: "accept many, above a threshold", u: "take back the last step" },
    "The page": { "/": "search a word", "> <": `search a word of ${names.source}, of ${names.target}`, f: "figures of a word", "h l x w": "home, review, checks, people", d: "download", Esc: "leave a field", "?": "this list" },
  };
  return h("div", { class: "keys" }, Object.entries(groups).map(([title, meanings]) => h("section", {}, h("h3", {}, title), h("dl", {}, Object.entries(meanings).flatMap(([key, text]) =>
    [h("dt", {}, key.split(" ").flatMap((one) => [h("kbd", {}, one), " "])), h("dd", {}, text)])))));
}

function help() {
  open("Keyboard shortcuts", shortcuts());
}

function go(address) {
  location.hash = address;
}

// To the search field; with a language, for words of that one.
function search(language) {
  if (language) {
    choose(language);
    say(`${names[language]} to ${names[language === "source" ? "target" : "source"]}`);
  }
  input.focus();
  input.select();
}

function choose(language) {
  document.querySelector(`input[name="side"][value="${language}"]`).checked = true;
}

async function prepare() {
  const bar = document.getElementById("progress");
  try {
    const { preparation } = await refreshCounts();
    document.getElementById("step").textContent = preparation.error ? `Preparation failed: ${preparation.error}` : `Preparing the lexicon: ${preparation.step}`;
    document.getElementById("share").value = preparation.share;
    bar.hidden = preparation.done;
    if (!preparation.done && !preparation.error) setTimeout(prepare, 1000);
  } catch {
    setTimeout(prepare, 5000);
  }
}

async function start() {
  const status = await get("status");
  names = status.names;
  setSession(status.run, status.reviewer);
  document.getElementById("run").textContent = [status.run, status.method].filter(Boolean).join(" · ");
  document.getElementById("forward").textContent = `${names.source} → ${names.target}`;
  document.getElementById("backward").textContent = `${names.target} → ${names.source}`;
  window.addEventListener("hashchange", show);
  prepare();
  await show();
}

// The heading of a list stays below the header, whose height depends on the width.
new ResizeObserver(([{ target }]) => document.documentElement.style.setProperty("--header", `${target.offsetHeight}px`)).observe(document.querySelector("header"));
// What a person does first need not wait for the server.
listen(ACTIONS);
completion(input, side, (text) => {
  const address = wordAddress(text, side());
  if (location.hash === address) show();
  else location.hash = address;
  input.blur();
});
document.getElementById("search").addEventListener("submit", (event) => event.preventDefault());
document.getElementById("undo").addEventListener("click", undo);
document.getElementById("download").addEventListener("click", () => downloads(names));
document.getElementById("help").addEventListener("click", help);
document.getElementById("skip").addEventListener("click", (event) => { event.preventDefault(); main.focus(); });
start().catch((error) => main.append(h("p", { class: "problem", role: "alert" }, error.message)));
