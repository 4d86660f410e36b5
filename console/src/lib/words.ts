// The service's words, and what they mean.

import type { ExecutionState, JobState } from "./types.ts";

export type Tone = "good" | "late" | "bad" | "busy" | "quiet";

export const STATES: Record<ExecutionState, { word: string; tone: Tone; says: string }> = {
  QUEUED: { word: "queued", tone: "busy", says: "It is claimed and on its way." },
  WAITING: { word: "waiting", tone: "busy", says: "It waits for a slot of the team, its turn, or a switch." },
  RUNNING: { word: "running", tone: "busy", says: "A worker holds it." },
  RETRY_WAIT: { word: "retrying", tone: "late", says: "An attempt failed, and the next one waits." },
  SUCCEEDED: { word: "succeeded", tone: "good", says: "The target took it." },
  DEAD: { word: "dead", tone: "bad", says: "It will not be tried again by itself." },
  SKIPPED: { word: "skipped", tone: "quiet", says: "It did not run." },
  CANCELLED: { word: "cancelled", tone: "quiet", says: "It was called off before it began." },
};

export const JOB_STATES: Record<JobState, { word: string; tone: Tone }> = {
  ACTIVE: { word: "active", tone: "good" },
  PAUSED: { word: "paused", tone: "late" },
  COMPLETED: { word: "completed", tone: "quiet" },
  ERROR: { word: "error", tone: "bad" },
  DELETED: { word: "deleted", tone: "quiet" },
};

export const REASONS: Record<string, string> = {
  misfire: "nobody claimed it in time, and the job's misfire policy leaves it out",
  paused: "the job was paused",
  excluded: "a calendar of the team excludes it",
  overlap: "the run before was still under way, and the job does not overlap",
  restored: "it was due before the store was restored",
  superseded: "the job was changed before it began",
  deleted: "the job was deleted before it began",
  backfill_cancelled: "its backfill was cancelled",
  budget_spent: "every attempt that the job allows was made",
  refused: "the target asked never to be called for it again",
  undeliverable: "it could not be handed to a worker",
};

export const OUTCOMES: Record<string, { word: string; tone: Tone; says: string }> = {
  delivered: { word: "delivered", tone: "good", says: "The target took it." },
  accepted: { word: "accepted", tone: "busy", says: "The target works on, and reports its end." },
  failed: { word: "failed", tone: "bad", says: "Not delivered, or the target said no for now." },
  refused: { word: "refused", tone: "bad", says: "The target said never." },
  timed_out: { word: "timed out", tone: "late", says: "Unknown: it may have been delivered." },
  blocked: { word: "blocked", tone: "bad", says: "The address is forbidden; nothing was sent." },
  circuit_open: { word: "circuit open", tone: "late", says: "The host was given a rest; nothing was sent." },
  worker_lost: { word: "worker lost", tone: "late", says: "Unknown: the worker went away, its lease lapsed." },
};

export const ORIGINS = { schedule: "by its schedule", run_now: "run by hand", backfill: "by a backfill" };

export const LATE_MS = 5000;
/** What the service promises: a firing begins within five seconds of due. */

export function toneOf(state: ExecutionState, lateness: number | null): Tone {
  return state === "SUCCEEDED" && lateness !== null && lateness > LATE_MS ? "late" : STATES[state].tone;
}

export function isFinal(state: ExecutionState): boolean {
  return ["SUCCEEDED", "DEAD", "SKIPPED", "CANCELLED"].includes(state);
}

export function because(reason: string | null): string {
  return reason === null ? "" : (REASONS[reason] ?? reason.replaceAll("_", " "));
}

/** Who did something, without the account that is the same for all: role/payments-deploy. */
export function actor(arn: string): string {
  return arn.startsWith("arn:") ? (arn.split(":").pop() ?? arn) : arn;
}

export function sentence(says: string): string {
  return `${says[0]?.toUpperCase() ?? ""}${says.slice(1)}`;
}

/** A schedule's words without what goes without saying in a list; the job's own page has them all. */
export function inShort(says: string): string {
  return says.replace(/ \([^)]*\)/g, "").replace(/ of real time, counted from [^,]* UTC/, "");
}

export function targetName(target: { [name: string]: unknown }): { kind: string; where: string } {
  const kind = Object.keys(target)[0] ?? "";
  const facts = (target[kind] ?? {}) as Record<string, unknown>;
  const where = Object.entries(facts).find(([name]) => /^(url|queue_url|.*_arn)$/.test(name))?.[1];
  return { kind: kind.replace("_", " "), where: String(where ?? "") };
}
