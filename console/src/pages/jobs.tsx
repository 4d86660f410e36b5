// A team's jobs by name: one question for the page, and one for the outcomes of the rows that are in sight.

import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { api, teamPath } from "../lib/api.ts";
import { useNow } from "../lib/clock.ts";
import { exact, moment } from "../lib/format.ts";
import { usePoll } from "../lib/poll.ts";
import { href, setQuery } from "../lib/route.ts";
import { useStage } from "../lib/stage.ts";
import type { JobOutcomes, JobSummary, Outcome, Page } from "../lib/types.ts";
import { inShort } from "../lib/words.ts";
import { Strip } from "../parts/posts.tsx";
import { Countdown, Empty, JobBadge, Segments, Trouble } from "../parts/ui.tsx";

const ROWS = 50;
const POSTS = 20;
const STATES = [
  ["", "All"],
  ["ACTIVE", "Active"],
  ["PAUSED", "Paused"],
  ["ERROR", "In error"],
  ["COMPLETED", "Completed"],
] as const;
const TIERS = ["critical", "standard", "bulk"];

export function Jobs({ query }: { query: URLSearchParams }): JSX.Element {
  const { team } = useStage();
  const wanted = Object.fromEntries(["state", "tier", "prefix", "label"].map((name) => [name, query.get(name) ?? ""]));
  const [cursors, setCursors] = useState<string[]>([]);
  const key = JSON.stringify([team, wanted]);
  useEffect(() => setCursors([]), [key]);
  const cursor = cursors.at(-1) ?? null;
  const jobs = usePoll(
    () => api.get<Page<JobSummary>>(teamPath(team, "jobs"), { ...wanted, limit: ROWS, cursor }),
    `${key} ${cursor}`,
    10,
  );
  const { outcomes, look } = useOutcomes(team, jobs.data?.items ?? []);
  const unreadable = jobs.data?.unreadable ?? [];
  const filtered = Object.values(wanted).some(Boolean);
  return (
    <>
      <div class="head">
        <h1 tabIndex={-1}>Jobs</h1>
        <div class="actions">
          <a class="button primary" href={href(team, "new")}>
            New job
          </a>
        </div>
      </div>
      <Filters wanted={wanted} />
      {jobs.problem ? <Trouble problem={jobs.problem} /> : null}
      {unreadable.map((job) => (
        <p key={job.uid} class="hint">
          Nobody can read <strong>{job.name}</strong>: {job.why}. <code>fencepost job put {job.name}</code> replaces it,{" "}
          <code>fencepost job delete {job.name}</code> removes it.
        </p>
      ))}
      <section class="card" aria-label="Jobs">
        {jobs.data && jobs.data.items.length === 0 && unreadable.length === 0 ? (
          <Nothing filtered={filtered} early={jobs.data.stopped_early ?? false} team={team} />
        ) : (
          <div class="table jobs">
            <table>
              <thead>
                <tr>
                  <th scope="col">Job</th>
                  <th scope="col">Schedule</th>
                  <th scope="col">Last {POSTS} occurrences</th>
                  <th scope="col">Next</th>
                  <th scope="col">Tier</th>
                </tr>
              </thead>
              <tbody ref={look}>
                {jobs.data?.items.map((job) => (
                  <Row key={job.uid} team={team} job={job} outcomes={outcomes[job.uid]} />
                ))}
              </tbody>
            </table>
          </div>
        )}
        <Pager page={jobs.data} cursors={cursors} go={setCursors} />
      </section>
    </>
  );
}

function Filters({ wanted }: { wanted: Record<string, string> }): JSX.Element {
  const [prefix, setPrefix] = useState(wanted["prefix"] ?? "");
  const [label, setLabel] = useState(wanted["label"] ?? "");
  useEffect(() => {
    const typed = setTimeout(() => {
      const fits = /^([a-z0-9][a-z0-9-]*)?$/.test(prefix);
      if (fits && prefix !== (wanted["prefix"] ?? "")) setQuery({ prefix });
      if (/^([^:]+:.*)?$/.test(label) && label !== (wanted["label"] ?? "")) setQuery({ label });
    }, 250);
    return () => clearTimeout(typed);
  }, [prefix, label]);
  return (
    <div class="filters" role="search" aria-label="Filter jobs">
      <input
        class="input"
        type="search"
        aria-label="Names that begin with"
        placeholder="Name begins with…"
        value={prefix}
        onInput={(event) => setPrefix((event.target as HTMLInputElement).value.toLowerCase())}
      />
      <Segments
        label="State"
        value={wanted["state"] as (typeof STATES)[number][0]}
        options={STATES}
        change={(state) => setQuery({ state })}
      />
      <select
        aria-label="Tier"
        value={wanted["tier"]}
        onChange={(event) => setQuery({ tier: (event.target as HTMLSelectElement).value })}
      >
        <option value="">Every tier</option>
        {TIERS.map((tier) => (
          <option key={tier}>{tier}</option>
        ))}
      </select>
      <input
        class="input"
        type="search"
        aria-label="Label, as name:value"
        placeholder="label:value"
        value={label}
        onInput={(event) => setLabel((event.target as HTMLInputElement).value)}
      />
    </div>
  );
}

function Row(props: { team: string; job: JobSummary; outcomes: Outcome[] | undefined }): JSX.Element {
  const { team, job, outcomes } = props;
  const cron = job.schedule["cron"] ?? job.schedule["every"] ?? job.schedule["at"];
  return (
    <tr data-uid={job.uid}>
      <td>
        <a class="name" href={href(team, "jobs", job.name)}>
          {job.name}
        </a>{" "}
        {job.state === "ACTIVE" ? null : <JobBadge state={job.state} />}
        <span class="under">
          {Object.entries(job.labels).map(([name, value]) => (
            <a key={name} class="label" href={`${href(team, "jobs")}?label=${encodeURIComponent(`${name}:${value}`)}`}>
              {name}:{value}
            </a>
          ))}
        </span>
      </td>
      <td>
        <span title={job.says}>{inShort(job.says)}</span>
        <span class="under">
          <code>{String(cron)}</code> {String(job.schedule["timezone"] ?? "")}
        </span>
      </td>
      <td class="strip">{outcomes ? <Strip outcomes={outcomes} most={POSTS} /> : null}</td>
      <td class="next number">
        <Next job={job} />
      </td>
      <td>{job.tier}</td>
    </tr>
  );
}

function Next({ job }: { job: JobSummary }): JSX.Element {
  const now = useNow();
  const next = job.next.find((each) => !each.excluded) ?? job.next[0];
  if (job.state === "PAUSED") {
    return <span class="soft">{job.paused_until ? `paused until ${moment(job.paused_until, now)}` : "paused"}</span>;
  }
  if (!next) return <span class="soft">never again</span>;
  return (
    <>
      <Countdown at={next.at} />
      <span class="under" title={exact(next.at)}>
        {moment(next.at, now)} UTC
      </span>
    </>
  );
}

function Nothing(props: { filtered: boolean; early: boolean; team: string }): JSX.Element {
  if (props.early) return <Empty title="None among those looked at so far">Go on with the next page.</Empty>;
  if (props.filtered) return <Empty title="No job fits">Take a filter away.</Empty>;
  return (
    <Empty title="This team has no jobs yet">
      Declare the first one <a href={href(props.team, "new")}>here</a>.
    </Empty>
  );
}

function Pager(props: {
  page: Page<JobSummary> | null;
  cursors: string[];
  go: (cursors: string[]) => void;
}): JSX.Element | null {
  const { page, cursors, go } = props;
  const next = page?.next ?? null;
  if (cursors.length === 0 && next === null) return null;
  return (
    <nav class="pager" aria-label="Pages of jobs">
      <button class="button plain" type="button" disabled={cursors.length === 0} onClick={() => go(cursors.slice(0, -1))}>
        Previous
      </button>
      <span>Page {cursors.length + 1}</span>
      <button class="button plain" type="button" disabled={next === null} onClick={() => next && go([...cursors, next])}>
        Next
      </button>
    </nav>
  );
}

/** The outcomes of rows in sight, asked for together, and again every few seconds. */
function useOutcomes(team: string, jobs: JobSummary[]) {
  const [outcomes, setOutcomes] = useState<Record<string, Outcome[]>>({});
  const body = useRef<HTMLTableSectionElement | null>(null);
  const sight = useRef(new Set<string>());
  const key = jobs.map((job) => job.uid).join();

  useEffect(() => {
    const rows = body.current?.querySelectorAll<HTMLElement>("tr[data-uid]") ?? [];
    sight.current = new Set();
    let asking: ReturnType<typeof setTimeout> | undefined;
    const ask = async (): Promise<void> => {
      const uid = [...sight.current].slice(0, ROWS);
      if (uid.length === 0 || document.visibilityState !== "visible") return;
      const found = await api.get<{ items: JobOutcomes[] }>(teamPath(team, "outcomes"), { uid, last: POSTS });
      setOutcomes((before) => ({ ...before, ...Object.fromEntries(found.items.map((each) => [each.uid, each.outcomes])) }));
    };
    const soon = (): void => {
      clearTimeout(asking);
      asking = setTimeout(() => void ask().catch(() => undefined), 60); // the list itself tells what is wrong
    };
    const watcher = new IntersectionObserver((changes) => {
      for (const change of changes) {
        const uid = (change.target as HTMLElement).dataset["uid"] ?? "";
        if (change.isIntersecting) sight.current.add(uid);
        else sight.current.delete(uid);
      }
      soon();
    });
    for (const row of rows) watcher.observe(row);
    const again = setInterval(soon, 5000);
    return () => {
      watcher.disconnect();
      clearInterval(again);
      clearTimeout(asking);
    };
  }, [team, key]);
  return { outcomes, look: body };
}
