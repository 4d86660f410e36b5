// A job's records: every occurrence is explained by one, whether it ran or not.

import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { api, teamPath } from "../lib/api.ts";
import { lateness, moment, plural } from "../lib/format.ts";
import { usePoll } from "../lib/poll.ts";
import { href } from "../lib/route.ts";
import type { Execution, Page } from "../lib/types.ts";
import { because } from "../lib/words.ts";
import { Segments, StateBadge, When } from "./ui.tsx";

const ROWS = 15;
const SHOWN = [
  ["", "All"],
  ["SUCCEEDED", "Succeeded"],
  ["DEAD", "Dead"],
  ["SKIPPED", "Skipped"],
  ["CANCELLED", "Cancelled"],
] as const;

export function Records(props: { team: string; job: string; first: Page<Execution>; now: number }): JSX.Element {
  const { team, job, now } = props;
  const [state, setState] = useState<(typeof SHOWN)[number][0]>("");
  const [cursors, setCursors] = useState<string[]>([]);
  useEffect(() => setCursors([]), [state]);
  const cursor = cursors.at(-1) ?? null;
  // A cursor belongs to its filters, so pages behind the first keep the instant that the first was asked with.
  const asked = useRef("");
  if (cursor === null) asked.current = new Date(now).toISOString();
  const before = asked.current;
  const page = usePoll(
    () => api.get<Page<Execution>>(teamPath(team, "jobs", job, "executions"), { limit: ROWS, state, cursor, before }),
    `${team} ${job} ${state} ${cursor}`,
    5,
  );
  const items = page.data?.items ?? (state || cursor ? [] : props.first.items.slice(0, ROWS));
  const next = page.data?.next ?? null;
  return (
    <>
      <div class="body">
        <Segments label="State" value={state} options={SHOWN} change={setState} />
      </div>
      <div class="table">
        <table>
          <thead>
            <tr>
              <th scope="col">Due</th>
              <th scope="col">State</th>
              <th scope="col">Why</th>
              <th scope="col" class="right">
                Late
              </th>
              <th scope="col" class="right">
                Attempts
              </th>
            </tr>
          </thead>
          <tbody>
            {items.map((record) => (
              <Row key={record.id} team={team} record={record} now={now} />
            ))}
          </tbody>
        </table>
      </div>
      {cursors.length > 0 || next ? (
        <nav class="pager" aria-label="Pages of records">
          <button class="button plain" type="button" disabled={cursors.length === 0} onClick={() => setCursors(cursors.slice(0, -1))}>
            Newer
          </button>
          <button class="button plain" type="button" disabled={!next} onClick={() => next && setCursors([...cursors, next])}>
            Older
          </button>
        </nav>
      ) : null}
    </>
  );
}

function Row({ team, record, now }: { team: string; record: Execution; now: number }): JSX.Element {
  const range = record.coalesced;
  const by = { schedule: "", run_now: "run by hand", backfill: "backfill" }[record.origin];
  return (
    <tr>
      <td class="nowrap">
        <a class="name" href={href(team, "executions", record.id)}>
          <When at={record.due} now={now} />
        </a>
        {range ? (
          <span class="under">
            to {moment(range.until, now)}: {range.at_least ? "at least " : ""}
            {plural(range.count, "occurrence")}
          </span>
        ) : null}
      </td>
      <td>
        <StateBadge state={record.state} lateness={record.lateness_ms} />
      </td>
      <td class="small">
        {because(record.reason) || by}
        {record.reason ? null : <span class="soft">{lastError(record)}</span>}
      </td>
      <td class="right">{record.lateness_ms === null ? "–" : lateness(record.lateness_ms)}</td>
      <td class="right">{record.attempts.length + record.attempts_dropped || "–"}</td>
    </tr>
  );
}

function lastError(record: Execution): string {
  const last = record.attempts.at(-1);
  if (record.state === "SUCCEEDED") return "";
  return last?.error ?? "";
}
