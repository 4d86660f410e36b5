// A job as a form holds it: the fields that people change often by themselves, everything else as it is.

import { declaration } from "./copying.ts";
import type { Facts, Job, Json } from "./types.ts";

export type Kind = "cron" | "every" | "at";

export interface Draft {
  name: string;
  kind: Kind;
  cron: string;
  timezone: string;
  every: string;
  at: string;
  url: string;
  target: string;
  payload: string;
  tier: string;
  overlap: string;
  misfire: string;
  attempts: string;
  description: string;
  labels: string;
  /** What the form does not show, and what a PUT must say again. */
  rest: Facts;
}

export interface Read {
  body: Facts | null;
  faults: Record<string, string>;
}

export function emptyDraft(): Draft {
  return {
    name: "",
    kind: "cron",
    cron: "0 9 * * *",
    timezone: Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC",
    every: "PT15M",
    at: "",
    url: "",
    target: "",
    payload: "",
    tier: "standard",
    overlap: "allow",
    misfire: "run_once_late",
    attempts: "5",
    description: "",
    labels: "",
    rest: {},
  };
}

export function draftOf(job: Job): Draft {
  const webhook = job.target["webhook"] as Facts | undefined;
  const plain = webhook && Object.keys(webhook).every((name) => name === "url" || isDefault(name, webhook[name]));
  const kind = (["cron", "every", "at"] as const).find((each) => each in job.schedule) ?? "cron";
  return {
    ...emptyDraft(),
    name: job.name,
    kind,
    cron: String(job.schedule["cron"] ?? ""),
    timezone: String(job.schedule["timezone"] ?? "UTC"),
    every: String(job.schedule["every"] ?? ""),
    at: String(job.schedule["at"] ?? ""),
    url: plain ? String(webhook["url"]) : "",
    target: plain ? "" : JSON.stringify(job.target, null, 2),
    payload: job.payload === null ? "" : JSON.stringify(job.payload, null, 2),
    tier: job.tier,
    overlap: job.overlap,
    misfire: String(job.misfire["policy"]),
    attempts: String(job.retry["max_attempts"]),
    description: job.description,
    labels: Object.entries(job.labels)
      .map(([name, value]) => `${name}:${value}`)
      .join(" "),
    rest: declaration(job),
  };
}

function isDefault(name: string, value: Json | undefined): boolean {
  return (
    value === null ||
    (name === "method" && value === "POST") ||
    (name === "timeout_seconds" && value === 10) ||
    (name === "headers" && Object.keys(value as Facts).length === 0)
  );
}

/** What a PUT would say; faults are those of the form itself, the service tells its own. */
export function bodyOf(draft: Draft): Read {
  const faults: Record<string, string> = {};
  const json = (name: "target" | "payload"): Json => {
    const text = draft[name].trim();
    if (!text) return null;
    try {
      return JSON.parse(text) as Json;
    } catch {
      faults[name] = "must be JSON";
      return null;
    }
  };
  const payload = json("payload");
  const target = draft.url ? targetOf(draft) : json("target");
  if (target === null && !faults["target"]) faults["url"] = "say where to";
  const labels = labelsOf(draft.labels, faults);
  const retry = { ...(draft.rest["retry"] as Facts | undefined), max_attempts: Number(draft.attempts) };
  const before = (draft.rest["misfire"] ?? {}) as Facts;
  const misfire = before["policy"] === draft.misfire ? before : { policy: draft.misfire };
  const { tier, overlap, description } = draft;
  const body: Facts = {
    ...draft.rest,
    schedule: scheduleOf(draft),
    target,
    payload,
    tier,
    overlap,
    description,
    labels,
    retry,
    misfire,
  };
  return { body: Object.keys(faults).length ? null : body, faults };
}

export function scheduleOf(draft: Draft): Facts {
  const before = (draft.rest["schedule"] ?? {}) as Facts;
  const same = draft.kind in before;
  const kept = same ? before : bounds(before);
  switch (draft.kind) {
    case "cron":
      return { ...kept, cron: draft.cron, timezone: draft.timezone };
    case "every": {
      const { anchor, ...others } = kept;
      return before["every"] === draft.every && anchor ? { ...kept } : { ...others, every: draft.every };
    }
    case "at":
      return { ...kept, at: draft.at };
  }
}

function bounds(schedule: Facts): Facts {
  const { start_at, end_at, max_firings, jitter_seconds, exclude } = schedule;
  const found = { start_at, end_at, max_firings, jitter_seconds, exclude };
  return Object.fromEntries(Object.entries(found).filter(([, value]) => value !== undefined)) as Facts;
}

function targetOf(draft: Draft): Facts {
  const webhook = (draft.rest["target"] as Facts | undefined)?.["webhook"] as Facts | undefined;
  return { webhook: { ...webhook, url: draft.url } };
}

function labelsOf(text: string, faults: Record<string, string>): Facts {
  const found: Facts = {};
  for (const word of text.split(/[\s,]+/).filter(Boolean)) {
    const [name, ...value] = word.split(":");
    if (!name || value.length === 0) faults["labels"] = `${word} is not name:value`;
    else found[name] = value.join(":");
  }
  return found;
}
