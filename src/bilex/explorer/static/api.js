// Requests to the server that sent this page.

import { reviewer, saving } from "./session.js";

const token = document.querySelector('meta[name="bilex-token"]').content;

export class ApiError extends Error {
  constructor(message, status, preparing) {
    super(message);
    this.status = status;
    this.preparing = preparing;
  }
}

export async function get(path, parameters = {}, signal = undefined) {
  return answer(await send(address(path, parameters), { signal }));
}

// A file, and how many pairs its format could not hold.
export async function fetchFile(path, parameters) {
  const response = await send(address(path, parameters), {});
  if (!response.ok) return answer(response);
  return { content: await response.blob(), leftOut: Number(response.headers.get("x-left-out") ?? 0) };
}

function address(path, parameters) {
  const kept = Object.entries(parameters).flatMap(([name, value]) => [value].flat().map((one) => [name, one]))
    .filter(([, value]) => value !== "" && value !== null && value !== undefined);
  const query = new URLSearchParams(kept).toString();
  return `/api/${path}${query ? `?${query}` : ""}`;
}

let sent = Promise.resolve();

// One after the other, so that decisions made quickly are kept in the order in which they were made.
export function post(path, body = {}, parameters = {}) {
  const headers = { "content-type": "application/json", "x-bilex-token": token };
  const content = JSON.stringify({ ...body, reviewer: reviewer() || null });
  return queued(() => send(address(path, parameters), { method: "POST", headers, body: content }));
}

// A file, as it is.
export function upload(path, file, parameters) {
  const headers = { "content-type": "application/octet-stream", "x-bilex-token": token };
  return queued(() => send(address(path, parameters), { method: "POST", headers, body: file }));
}

function queued(request) {
  const answered = saving(sent.then(request).then(answer));
  sent = answered.catch(() => {});
  return answered;
}

async function send(url, options) {
  try {
    return await fetch(url, options);
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
