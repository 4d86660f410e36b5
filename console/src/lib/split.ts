// Where the time of an execution went, from due to its end: ours, the team's quota, the target, and waits for retries.

import type { Execution } from "./types.ts";

export type Share = "ours" | "quota" | "target" | "retry";

export interface Stretch {
  share: Share;
  from: number;
  to: number;
  attempt?: number;
}

/** Consecutive stretches without gaps from due to the end (or to `now`). Milliseconds since the epoch. */
export function stretches(record: Execution, now: number): Stretch[] {
  const due = Date.parse(record.due);
  const end = record.ended_at ? Date.parse(record.ended_at) : now;
  const found: Stretch[] = [];
  let at = due;
  const go = (share: Share, to: number, attempt?: number): void => {
    const until = Math.min(Math.max(to, at), Math.max(end, due));
    if (until > at) found.push({ share, from: at, to: until, ...(attempt === undefined ? {} : { attempt }) });
    at = Math.max(at, until);
  };
  const first = record.attempts[0];
  const started = first ? Date.parse(record.started_at ?? first.started_at) : end;
  if (record.waited_from !== null) {
    go("ours", Date.parse(record.waited_from));
    go("quota", started);
  } else {
    go("ours", started);
  }
  record.attempts.forEach((attempt, place) => {
    go(place === 0 && record.attempts_dropped === 0 ? "ours" : "retry", Date.parse(attempt.started_at));
    go("target", attempt.ended_at ? Date.parse(attempt.ended_at) : end, attempt.number);
  });
  go(first && !record.ended_at ? "retry" : "ours", end);
  return found;
}

export function totals(found: Stretch[]): Record<Share, number> {
  const sums: Record<Share, number> = { ours: 0, quota: 0, target: 0, retry: 0 };
  for (const each of found) sums[each.share] += each.to - each.from;
  return sums;
}
