// A job as others would write it: for curl, for the command line, for a file of jobs.

import type { Facts, Job, Json, Session } from "./types.ts";

export const DECLARED = [
  "schedule",
  "target",
  "payload",
  "tier",
  "retry",
  "misfire",
  "overlap",
  "lease_seconds",
  "max_run_seconds",
  "description",
  "labels",
  "notify_on",
  "pause_after_dead",
  "delete_after_completion",
  "keep_newest",
] as const;

const DEFAULTS: Facts = {
  payload: null,
  tier: "standard",
  retry: { max_attempts: 5, initial_delay_seconds: 10, multiplier: 2, max_delay_seconds: 3600 },
  misfire: { policy: "run_once_late", window_seconds: 86_400, max_runs: 1 },
  overlap: "allow",
  lease_seconds: 300,
  max_run_seconds: 3600,
  description: "",
  labels: {},
  notify_on: null,
  pause_after_dead: null,
  delete_after_completion: false,
  keep_newest: null,
};

/** What a PUT would say to get this job. */
export function declaration(job: Job): Facts {
  return Object.fromEntries(DECLARED.map((name) => [name, job[name] as Json]));
}

/** The same without what is so by default. */
export function brief(declared: Facts): Facts {
  const plain = (value: Json | undefined): string => JSON.stringify(value);
  const kept = Object.entries(declared).filter(([name, value]) => plain(value) !== plain(DEFAULTS[name]));
  return Object.fromEntries(kept.map(([name, value]) => [name, trimmed(value)]));
}

/** Without members that are null: they say nothing. */
function trimmed(value: Json): Json {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, each]) => each !== null)
      .map(([name, each]) => [name, trimmed(each)]),
  );
}

export function asCurl(job: Job, session: Session): string {
  const body = JSON.stringify(brief(declaration(job)), null, 2);
  const token = session.local ? [] : [`  -H "x-amz-security-token: $AWS_SESSION_TOKEN" \\`];
  return [
    `curl --aws-sigv4 aws:amz:${session.region ?? "$AWS_REGION"}:execute-api \\`,
    `  --user "$AWS_ACCESS_KEY_ID:$AWS_SECRET_ACCESS_KEY" \\`,
    ...token,
    `  -X PUT ${session.endpoint}/v1/teams/${job.team}/jobs/${job.name} \\`,
    `  -H 'content-type: application/json' \\`,
    `  -d ${quoted(body)}`,
  ].join("\n");
}

export function asCommand(job: Job, session: Session): string {
  return [
    `fencepost job put ${job.name} --team ${job.team} --endpoint ${session.endpoint} --file - <<'YAML'`,
    yaml(brief(declaration(job))).trimEnd(),
    "YAML",
  ].join("\n");
}

export function asYaml(job: Job): string {
  return yaml({ version: 1, team: job.team, jobs: { [job.name]: brief(declaration(job)) } });
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Block style; whatever is not a plain word is quoted as JSON, which YAML reads as well. */
export function yaml(value: Json, indent = ""): string {
  if (Array.isArray(value)) {
    if (value.length === 0) return "[]\n";
    return `\n${value.map((each) => `${indent}- ${item(each, `${indent}  `)}`).join("")}`;
  }
  if (typeof value === "object" && value !== null) {
    const names = Object.entries(value);
    if (names.length === 0) return "{}\n";
    const lines = names.map(([name, each]) => `${indent}${scalar(name)}:${member(each, `${indent}  `)}`).join("");
    return indent ? `\n${lines}` : lines;
  }
  return `${scalar(value)}\n`;
}

function member(value: Json, indent: string): string {
  const text = yaml(value, indent);
  return text.startsWith("\n") ? text : ` ${text}`;
}

function item(value: Json, indent: string): string {
  return yaml(value, indent).replace(/^\n\s*/, "");
}

const PLAIN = /^[A-Za-z_/][A-Za-z0-9_./-]*( [A-Za-z0-9_./-]+)*$/;
const WORDS = /^(true|false|null|yes|no|on|off|y|n|~)$/i;

function scalar(value: null | boolean | number | string): string {
  if (typeof value !== "string") return JSON.stringify(value);
  return PLAIN.test(value) && !WORDS.test(value) ? value : JSON.stringify(value);
}
