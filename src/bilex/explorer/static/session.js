// What belongs to this person and this browser: the name, the place in the list, and whether everything is saved.

const KEY = "bilex-";
let pending = 0;
let fallback = "";
let run = "";

export function stored(name) {
  try {
    return localStorage.getItem(KEY + name);
  } catch {
    return null;
  }
}

export function store(name, value) {
  try {
    localStorage.setItem(KEY + name, value);
  } catch {
    // A browser that keeps nothing: the page works all the same.
  }
}

// The run that the page shows, and the name that the program was started with: another name given here is for the same start.
export function setSession(shown, name) {
  [run, fallback] = [shown, name];
}

export function reviewer() {
  return stored(`reviewer:${fallback}`) ?? fallback;
}

export function storeReviewer(name) {
  store(`reviewer:${fallback}`, name);
}

// The address of the list as it was left.
export function lastList() {
  const last = stored(`list:${run}`);
  return last?.startsWith("#/lexicon") ? last : null;
}

export function storeList(address) {
  store(`list:${run}`, address);
}

// The page says while something is not yet on disk.
export async function saving(promise) {
  show((pending += 1));
  try {
    return await promise;
  } finally {
    show((pending -= 1));
  }
}

function show(count) {
  document.body.dataset.pending = String(count);
  document.getElementById("saved").textContent = count ? "saving …" : "";
}

window.addEventListener("beforeunload", (event) => { if (pending) event.preventDefault(); });
