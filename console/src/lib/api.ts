// Calls to the stage, through the server that signs them. Refusals are Problems: what the API says, with every fault.

import type { Health, Session } from "./types.ts";

export interface Fault {
  field: string;
  value: unknown;
  rule: string;
  suggestion: string | null;
}

export class Problem extends Error {
  constructor(
    readonly status: number,
    readonly kind: string,
    detail: string,
    readonly faults: Fault[] = [],
  ) {
    super(detail);
  }
}

export type Query = Record<string, string | number | boolean | string[] | null | undefined>;

/** What a write was decided on: it happens to this revision of this job, or not at all. */
export interface Seen {
  revision: number;
  uid: string;
}

interface Sending {
  query?: Query;
  body?: unknown;
  seen?: Seen;
  once?: boolean;
}

const BASE = "/console";

async function call<T>(method: string, path: string, how: Sending = {}): Promise<T> {
  const headers: Record<string, string> = { Accept: "application/json", "Fencepost-Console": "1" };
  if (how.body !== undefined) headers["Content-Type"] = "application/json";
  if (how.seen) headers["If-Match"] = `"${how.seen.revision}.${how.seen.uid}"`;
  if (how.once) headers["Idempotency-Key"] = crypto.randomUUID();
  let answer: Response;
  try {
    answer = await fetch(BASE + path + asked(how.query), {
      method,
      headers,
      body: how.body === undefined ? null : JSON.stringify(how.body),
      credentials: "same-origin",
    });
  } catch {
    throw new Problem(0, "gone", "The console's own server does not answer: was it stopped?");
  }
  const text = await answer.text();
  if (!answer.ok) throw refusal(answer, text);
  return (text ? JSON.parse(text) : null) as T;
}

function refusal(answer: Response, text: string): Problem {
  try {
    const told = JSON.parse(text) as { type?: string; detail?: string; faults?: Fault[] };
    const kind = told.type?.startsWith("urn:") ? told.type.split(":").pop() : answer.headers.get("x-amzn-ErrorType");
    return new Problem(answer.status, kind ?? "", told.detail ?? `Answered ${answer.status}.`, told.faults ?? []);
  } catch {
    return new Problem(answer.status, "", `Answered ${answer.status}.`);
  }
}

function asked(query: Query | undefined): string {
  const pairs = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value === null || value === undefined || value === "") continue;
    for (const each of Array.isArray(value) ? value : [value]) pairs.append(name, String(each));
  }
  const text = pairs.toString();
  return text ? `?${text}` : "";
}

export function teamPath(team: string, ...parts: string[]): string {
  return `/api/v1/teams/${[team, ...parts].map(encodeURIComponent).join("/").replaceAll("%7E", "~")}`;
}

export const api = {
  get: <T>(path: string, query?: Query): Promise<T> => call<T>("GET", path, query ? { query } : {}),
  /** A write that is one however often the browser sends it. */
  post: <T>(path: string, body: unknown = {}): Promise<T> => call<T>("POST", path, { body, once: true }),
  put: <T>(path: string, body: unknown, how: { query?: Query; seen?: Seen } = {}): Promise<T> =>
    call<T>("PUT", path, { ...how, body }),
  remove: <T>(path: string, query?: Query): Promise<T> => call<T>("DELETE", path, query ? { query } : {}),
  session: (): Promise<Session> => call<Session>("GET", "/session"),
  health: (): Promise<Health> => call<Health>("GET", "/api/v1/health"),
};
