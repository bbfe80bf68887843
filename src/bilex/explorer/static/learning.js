// Learning from the decisions: the lexicon is ranked anew by what they teach, and that can be taken back.

import { get, post } from "./api.js";
import { button, count, h, say } from "./dom.js";

const PAUSE = 500;

// `done` is called when the lexicon is another one.
export function learningPart(status, done, signal) {
  if (!status.possible) return "";
  const part = h("div", { class: "learning", id: "learning" });
  show(status);
  if (status.running) follow();
  return part;

  function show({ words, decided, running, step, share, error }) {
    const told = words ? `Ranked with what ${entries(words)} taught.` : "Candidates and confidences can follow what you decide, within seconds and without a new alignment.";
    const buttons = [button(words ? "Learn again" : "Learn from my decisions", () => begin(false), { id: "learn", disabled: running || !decided }),
      words > 0 && button("Take back", () => begin(true), { id: "forget", disabled: running })];
    part.replaceChildren(h("p", {}, told), h("p", {}, buttons, running && [" ", h("label", { for: "learning-share" }, step), " ", h("progress", { id: "learning-share", max: 1, value: share })]),
      error ? h("p", { class: "problem", role: "alert" }, error) : "");
  }

  async function begin(back) {
    try {
      show({ ...status, running: true, step: "", share: 0, error: null });
      await post("learn", { back });
      await follow();
    } catch (error) {
      show(status);
      say(error.message);
    }
  }

  async function follow() {
    try {
      let { learning } = await get("status", {}, signal);
      while (learning.running) {
        show({ ...status, ...learning });
        await new Promise((resolve) => setTimeout(resolve, PAUSE));
        ({ learning } = await get("status", {}, signal));
      }
      if (learning.error) return show({ ...status, ...learning });
      say(learning.words ? `Ranked anew, with what ${entries(learning.words)} taught.` : "Ranked anew, by your dictionary alone.");
      await done();
    } catch (error) {
      if (error.name !== "AbortError") say(error.message);
    }
  }
}

function entries(words) {
  return words === 1 ? "1 decided entry" : `${count(words)} decided entries`;
}
