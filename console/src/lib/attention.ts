// What somebody should look at, the worst first.

import { lateness, number, plural } from "./format.ts";
import type { Outlook } from "./forecast.ts";
import { href } from "./route.ts";
import type { Sample } from "./sample.ts";
import type { Execution, Health, Limits, Line, Page, Team } from "./types.ts";
import { LATE_MS, type Tone } from "./words.ts";

export interface Matter {
  tone: Tone;
  what: string;
  more: string;
  link?: { says: string; href: string };
}

export interface Standing {
  team: Team | null;
  health: Health | null;
  dead: Page<Execution> | null;
  limits: Limits | null;
  backlog: { items: Line[] } | null;
  sample: Sample | null;
  outlook: Outlook | null;
}

const NAMED = 5;

export function matters(name: string, known: Standing): Matter[] {
  return [...service(known), ...switches(name, known), ...failures(name, known), ...crowds(name, known)];
}

function* service({ health }: Standing): Generator<Matter> {
  if (health?.status === "failing") {
    yield { tone: "bad", what: "The service cannot write", more: `Nothing fires: ${health.trouble ?? "no reason is known"}` };
  }
  if (health?.status === "late") {
    const age = health.watermark_age_seconds ?? 0;
    yield { tone: "bad", what: "The service is behind", more: `A minute ${number(age)} s ago is not yet proven empty.` };
  }
}

function* switches(name: string, { team }: Standing): Generator<Matter> {
  if (!team || team.pauses.length === 0) return;
  const tiers = team.pauses.map((pause) => pause.tier).join(", ");
  const first = team.pauses[0];
  yield {
    tone: "late",
    what: team.paused ? "The team is paused" : `Paused: ${tiers}`,
    more: first?.note ? `“${first.note}”, by ${first.by}` : "What comes due waits.",
    link: { says: "Switches", href: href(name, "team") },
  };
}

function* failures(name: string, { dead, outlook, sample }: Standing): Generator<Matter> {
  if (dead && dead.items.length > 0) {
    const jobs = [...new Set(dead.items.map((each) => each.job))];
    const more = jobs.length > NAMED ? ` and ${jobs.length - NAMED} more` : "";
    yield {
      tone: "bad",
      what: dead.next ? `More than ${dead.items.length} dead letters` : plural(dead.items.length, "dead letter"),
      more: `Of ${jobs.slice(0, NAMED).join(", ")}${more}.`,
      link: { says: "Redrive", href: href(name, "dead-letters") },
    };
  }
  for (const job of outlook?.troubled.slice(0, NAMED) ?? []) {
    yield {
      tone: job.state === "ERROR" ? "bad" : "late",
      what: `${job.name} ${job.state === "ERROR" ? "is in error" : "was paused by the service"}`,
      more: job.state_reason ?? "It fires no more until somebody resumes it.",
      link: { says: "Look", href: href(name, "jobs", job.name) },
    };
  }
  const late = sample?.firings.filter((each) => (each.lateness_ms ?? 0) > LATE_MS) ?? [];
  if (late.length > 0) {
    const worst = late.reduce((one, other) => ((one.lateness_ms ?? 0) >= (other.lateness_ms ?? 0) ? one : other));
    yield {
      tone: "late",
      what: `${plural(late.length, "firing")} began more than 5 s after due`,
      more: `The worst: ${worst.job}, ${lateness(worst.lateness_ms ?? 0)}.`,
      link: { says: "See why", href: href(name, "executions", worst.id) },
    };
  }
}

function* crowds(name: string, { limits, backlog }: Standing): Generator<Matter> {
  const waiting = backlog?.items.filter((line) => !line.held && line.tier !== null) ?? [];
  const count = waiting.reduce((sum, line) => sum + line.count, 0);
  if (count > 0) {
    const slots = limits?.max_concurrency;
    yield {
      tone: "late",
      what: `${plural(count, "execution")} ${count === 1 ? "waits" : "wait"} for a slot`,
      more: slots ? `${number(slots.used ?? 0)} of ${number(slots.limit)} slots are in use.` : "",
      link: { says: "Slots", href: href(name, "team") },
    };
  }
}
