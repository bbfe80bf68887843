// Requests to the server that sent this page.

const token = document.querySelector('meta[name="bilex-token"]').content;

export class ApiError extends Error {
  constructor(message, status, preparing) {
    super(message);
    this.status = status;
    this.preparing = preparing;
  }
}

export async function get(path, parameters = {}, signal = undefined) {
  const kept = Object.entries(parameters).filter(([, value]) => value !== "" && value !== null && value !== undefined);
  const query = new URLSearchParams(kept).toString();
  return answer(await send(`/api/${path}${query ? `?${query}` : ""}`, { signal }));
}

let sent = Promise.resolve();

// One after the other, so that decisions made quickly are kept in the order in which they were made.
export function post(path, body = {}) {
  const headers = { "content-type": "application/json", "x-bilex-token": token };
  const answered = sent.then(() => send(`/api/${path}`, { method: "POST", headers, body: JSON.stringify(body) })).then(answer);
  sent = answered.catch(() => {});
  return answered;
}

async function send(address, options) {
  try {
    return await fetch(address, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ApiError("The server does not answer; is bilex explore still running?", 0, false);
  }
}

async function answer(response) {
  const body = await response.json().catch(() => ({}));
  if (!response.ok) throw new ApiError(body.error ?? `error ${response.status}`, response.status, Boolean(body.preparing));
  return body;
}
