// Occurrences as posts of a fence: a strip for lists, a fence of links for the page of a job.

import type { JSX } from "preact";
import { exact, lateness, moment, plural } from "../lib/format.ts";
import { href } from "../lib/route.ts";
import type { Execution, Outcome } from "../lib/types.ts";
import { because, STATES, type Tone, toneOf } from "../lib/words.ts";

const WIDTH = 8;
const HEIGHT = 24;
const POST = 5;
const TONES: Tone[] = ["quiet", "good", "late", "bad", "busy"];

/** The newest occurrence at the right. One path for each tone: a page of jobs stays light. Heights differ as well as
 * colours: what ran is tall, what was left out is short, what is dead has lost its head. */
export function Strip({ outcomes, most }: { outcomes: Outcome[]; most: number }): JSX.Element {
  const shown = outcomes.slice(0, most).reverse();
  const paths: Record<Tone, string> = { good: "", late: "", bad: "", busy: "", quiet: "" };
  shown.forEach((outcome, place) => {
    const tone = toneOf(outcome.state, outcome.lateness_ms);
    paths[tone] += post((most - shown.length + place) * WIDTH + 1, tone);
  });
  return (
    <svg class="posts" role="img" aria-label={summary(shown)} width={most * WIDTH} height={HEIGHT}>
      <path class="rail" d={`M0 ${HEIGHT - 8.5}H${most * WIDTH}`} />
      {TONES.map((tone) => (paths[tone] ? <path key={tone} class={`post-${tone}`} d={paths[tone]} /> : null))}
    </svg>
  );
}

function post(x: number, tone: Tone): string {
  if (tone === "quiet") return `M${x} ${HEIGHT}v-11h${POST}v11z`;
  if (tone === "bad") return `M${x} ${HEIGHT}V9h${POST}v${HEIGHT - 9}zM${x} 6V2h${POST}v4z`;
  const base = tone === "busy" ? 0.7 : 0;
  return `M${x + base} ${HEIGHT - base}V5l${POST / 2 - base} -3l${POST / 2 - base} 3V${HEIGHT - base}z`;
}

function summary(outcomes: Outcome[]): string {
  if (outcomes.length === 0) return "Nothing ran yet";
  const counts = new Map<string, number>();
  for (const each of outcomes) {
    const word = toneOf(each.state, each.lateness_ms) === "late" ? "late or retrying" : STATES[each.state].word;
    counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  const parts = [...counts].map(([word, count]) => `${count} ${word}`);
  return `Last ${plural(outcomes.length, "occurrence")}: ${parts.join(", ")}`;
}

/** A link for each record, the newest at the right; ranges that did not run are wide and hatched. */
export function Fence(props: { team: string; records: Execution[]; now: number }): JSX.Element {
  return (
    <ul class="fence" aria-label="The newest occurrences, the oldest first">
      {[...props.records].reverse().map((record) => (
        <Post key={record.id} team={props.team} record={record} now={props.now} />
      ))}
    </ul>
  );
}

function Post({ team, record, now }: { team: string; record: Execution; now: number }): JSX.Element {
  const tone = toneOf(record.state, record.lateness_ms);
  const range = record.coalesced !== null && record.attempts.length === 0;
  const kind = range ? "range" : { busy: "hollow", bad: "dead", quiet: "flat", good: "", late: "" }[tone];
  const height = range ? 26 : tone === "quiet" ? 24 : 40 + Math.min(14, (record.lateness_ms ?? 0) / 400);
  const says = told(record, now);
  return (
    <li class={range ? "range-item" : ""}>
      <a
        class={kind}
        href={href(team, "executions", record.id)}
        title={says}
        aria-label={says}
        style={{ "--post": `var(--${tone}-post)` }}
      >
        <span style={{ height: `${height}px` }} />
      </a>
    </li>
  );
}

function told(record: Execution, now: number): string {
  const word = STATES[record.state].word;
  if (record.coalesced && record.attempts.length === 0) {
    const { count, until, at_least: more } = record.coalesced;
    const number = `${more ? "at least " : ""}${plural(count, "occurrence")}`;
    return `${moment(record.due, now)} to ${moment(until, now)}: ${number} ${word}, ${because(record.reason)}`;
  }
  const late = record.lateness_ms === null ? "" : `, ${lateness(record.lateness_ms)} after due`;
  const why = record.reason ? `, ${because(record.reason)}` : "";
  return `${exact(record.due)}: ${word}${late}${why}`;
}
