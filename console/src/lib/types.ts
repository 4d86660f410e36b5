// What the API answers, as far as the console reads it (docs/openapi.json has it all).

export type JobState = "ACTIVE" | "PAUSED" | "COMPLETED" | "ERROR" | "DELETED";
export type Tier = "critical" | "standard" | "bulk" | "recovery";
export type ExecutionState =
  | "QUEUED"
  | "WAITING"
  | "RUNNING"
  | "RETRY_WAIT"
  | "SUCCEEDED"
  | "DEAD"
  | "SKIPPED"
  | "CANCELLED";

export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };
export type Facts = { [name: string]: Json };

/** A job that is there and that nobody can read. */
export interface UnreadableJob {
  name: string;
  uid: string;
  why: string;
}

export interface Page<T> {
  items: T[];
  unreadable?: UnreadableJob[];
  next: string | null;
  stopped_early?: boolean;
}

export interface Occurrence {
  at: string;
  local: string;
  moved: "gap" | "overlap" | null;
  excluded: string | null;
}

export interface JobSummary {
  team: string;
  name: string;
  uid: string;
  revision: number;
  generation: number;
  state: JobState;
  state_reason: string | null;
  paused_by: string | null;
  paused_until: string | null;
  created_at: string;
  updated_at: string;
  schedule: Facts;
  says: string;
  tier: Tier;
  retry: Facts;
  misfire: Facts;
  overlap: "allow" | "skip" | "queue";
  lease_seconds: number;
  max_run_seconds: number;
  labels: { [name: string]: string };
  notify_on: string[] | null;
  pause_after_dead: number | null;
  delete_after_completion: boolean;
  keep_newest: number | null;
  next: Occurrence[];
}

export interface Job extends JobSummary {
  target: Facts;
  payload: Json;
  description: string;
  warnings: string[];
}

export interface JobChange {
  before: Facts | null;
  after: Facts;
  next_before: Occurrence[];
  next_after: Occurrence[];
  cancels: string[];
}

export interface Attempt {
  number: number;
  fence: number;
  started_at: string;
  ended_at: string | null;
  outcome: string | null;
  status: number | null;
  error: string | null;
  excerpt: string | null;
}

export interface Execution {
  id: string;
  team: string;
  job: string;
  due: string;
  state: ExecutionState;
  reason: string | null;
  note: string | null;
  origin: "schedule" | "run_now" | "backfill";
  tier: Tier;
  generation: number;
  claimed_at: string;
  waited_from: string | null;
  started_at: string | null;
  ended_at: string | null;
  retry_at: string | null;
  lease_until: string | null;
  lateness_ms: number | null;
  fence: number;
  coalesced: { until: string; count: number; at_least: boolean } | null;
  attempts: Attempt[];
  attempts_dropped: number;
  actor: string | null;
}

export interface Outcome {
  id: string;
  due: string;
  state: ExecutionState;
  reason: string | null;
  lateness_ms: number | null;
  attempts: number;
}

export interface JobOutcomes {
  uid: string;
  outcomes: Outcome[];
}

export interface Forecast {
  start: string;
  minutes: number[];
  states: { [state in JobState]?: number };
  troubled: { name: string; uid: string; state: JobState; state_reason: string | null; paused_by: string | null }[];
  next: string | null;
}

export interface Line {
  tier: Tier | null;
  held: boolean;
  count: number;
  at_least: boolean;
  oldest_due: string;
}

export interface Limit {
  limit: number;
  used: number | null;
}

export interface Limits {
  max_jobs: Limit;
  max_daily_firings: Limit;
  max_concurrency: Limit;
  payload_bytes: Limit;
  tiers: Tier[];
}

export interface Pause {
  tier: Tier;
  since: string;
  until: string | null;
  by: string;
  note: string | null;
}

export interface Team {
  name: string;
  revision: number;
  max_concurrency: number;
  tiers: Tier[];
  notify: { sns?: string | null; webhook?: string | null; event_bus?: string | null };
  notify_on: string[];
  principals: string[];
  retention_days: number;
  max_records: number | null;
  allowed_hosts: string[] | null;
  paused: boolean;
  paused_note: string | null;
  pauses: Pause[];
  created_at: string | null;
}

export interface Revision {
  revision: number;
  what: string;
  actor: string;
  source: string;
  at: string;
  note: string | null;
  before: Facts | null;
  after: Facts | null;
}

export interface SigningKey {
  id: string;
  scheme: "v1" | "v1a";
  created_at: string;
  public: string | null;
}

export interface SigningKeys {
  items: SigningKey[];
  overlap_until: string | null;
}

export interface MadeKey extends SigningKeys {
  made: SigningKey;
  secret: string | null;
}

export interface Preview {
  schedule: Facts;
  says: string;
  warnings: string[];
  occurrences: Occurrence[];
}

export interface Sent {
  pinned: boolean;
  target: Facts;
  payload: Json;
}

export interface Health {
  status: "ok" | "starting" | "late" | "failing";
  trouble: string | null;
  tzdata: string;
  shards: number;
  watermark_age_seconds: number | null;
  now: string;
}

export interface Session {
  endpoint: string;
  team: string | null;
  region: string | null;
  local: boolean;
}
