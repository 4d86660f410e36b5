// One job: what it is, what became of its occurrences, what comes, and how its definition came to be.

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { api, teamPath } from "../lib/api.ts";
import { serverNow, useNow } from "../lib/clock.ts";
import { asCommand, asCurl, asYaml } from "../lib/copying.ts";
import { moment } from "../lib/format.ts";
import { asProblem, usePoll } from "../lib/poll.ts";
import { href } from "../lib/route.ts";
import { useStage } from "../lib/stage.ts";
import type { Execution, Job, Page, Preview, Revision } from "../lib/types.ts";
import { actor, sentence, targetName } from "../lib/words.ts";
import { DeleteDialog, PauseDialog } from "../parts/acts.tsx";
import { History } from "../parts/history.tsx";
import { Nexts } from "../parts/nexts.tsx";
import { Fence } from "../parts/posts.tsx";
import { Records } from "../parts/records.tsx";
import { copy, say } from "../parts/toast.tsx";
import { Card, Countdown, Empty, JobBadge, Menu, Trouble } from "../parts/ui.tsx";

const POSTS = 60;

/** Records up to now: what is claimed ahead has yet to come. */
const due = (): string => new Date(serverNow()).toISOString();
const NEXT = 10;

export function JobPage({ name }: { name: string }): JSX.Element {
  const { team } = useStage();
  const now = useNow();
  const job = usePoll(() => api.get<Job>(teamPath(team, "jobs", name)), `${team} ${name}`, 5);
  const records = usePoll(
    () => api.get<Page<Execution>>(teamPath(team, "jobs", name, "executions"), { limit: POSTS, before: due() }),
    `${team} ${name} records`,
    3,
  );
  if (!job.data) return job.problem ? <Trouble problem={job.problem} /> : <p class="soft">Looking…</p>;
  const reload = async (): Promise<void> => {
    await Promise.all([job.reload(), records.reload()]);
  };
  return (
    <>
      <Head job={job.data} now={now} reload={reload} />
      {job.data.state === "PAUSED" || job.data.state === "ERROR" ? <Stopped job={job.data} now={now} /> : null}
      {job.data.warnings.length ? (
        <div class="hint">
          {job.data.warnings.map((warning) => (
            <p key={warning}>{warning}</p>
          ))}
        </div>
      ) : null}
      <div class="grid-2">
        <div class="stack">
          <Card title="Occurrences" aside={job.data.state === "ACTIVE" ? <NextIn job={job.data} /> : undefined}>
            {records.data?.items.length ? (
              <Fence team={team} records={records.data.items} now={now} />
            ) : (
              <Empty title="Nothing ran yet">The first occurrence appears here by itself.</Empty>
            )}
            <Legend />
          </Card>
          {records.data?.items.length ? (
            <Card title="Records" aside="What became of each occurrence" bare>
              <Records team={team} job={name} first={records.data} now={now} />
            </Card>
          ) : null}
          <HistoryCard team={team} job={job.data} />
        </div>
        <div class="stack">
          <ComingCard team={team} job={job.data} now={now} />
          <Definition job={job.data} now={now} />
        </div>
      </div>
    </>
  );
}

function Head({ job, now, reload }: { job: Job; now: number; reload: () => Promise<void> }): JSX.Element {
  const { team, session } = useStage();
  const [asking, setAsking] = useState<"pause" | "delete" | null>(null);
  const close = (): void => {
    setAsking(null);
    void reload();
  };
  const run = async (): Promise<void> => {
    try {
      const record = await api.post<Execution>(teamPath(team, "jobs", job.name, "run"));
      say(
        <>
          {job.name} runs now <a href={href(team, "executions", record.id)}>Watch it</a>
        </>,
      );
    } catch (error) {
      say(asProblem(error).message);
    }
    await reload();
  };
  const resume = async (): Promise<void> => {
    try {
      await api.post(teamPath(team, "jobs", job.name, "resume"));
      say(`${job.name} fires again`);
    } catch (error) {
      say(asProblem(error).message);
    }
    await reload();
  };
  const stopped = job.state === "PAUSED" || job.state === "ERROR";
  return (
    <div class="head">
      <div>
        <nav class="crumbs" aria-label="Where this is">
          <a href={href(team, "jobs")}>Jobs</a> /
        </nav>
        <h1 tabIndex={-1}>{job.name}</h1>
        <p class="words">
          <JobBadge state={job.state} /> {sentence(job.says)}
          {job.description ? <span class="under">{job.description}</span> : null}
        </p>
      </div>
      {job.state === "DELETED" ? null : (
        <div class="actions">
          <button class="button" type="button" onClick={run}>
            Run now
          </button>
          {stopped ? (
            <button class="button primary" type="button" onClick={resume}>
              Resume
            </button>
          ) : (
            <button class="button" type="button" onClick={() => setAsking("pause")}>
              Pause…
            </button>
          )}
          <a class="button" href={href(team, "jobs", job.name, "edit")}>
            Edit
          </a>
          <Menu
            label="More"
            items={[
              ["Copy as curl", () => void copy(asCurl(job, session), "a curl command")],
              ["Copy as command", () => void copy(asCommand(job, session), "a fencepost command")],
              ["Copy as YAML", () => void copy(asYaml(job), "a file of jobs")],
              ["Delete…", () => setAsking("delete")],
            ]}
          />
        </div>
      )}
      {asking === "pause" ? <PauseDialog job={job} close={close} /> : null}
      {asking === "delete" ? <DeleteDialog job={job} close={close} /> : null}
      <span class="unseen">As of {moment(now, now)}</span>
    </div>
  );
}

function Stopped({ job, now }: { job: Job; now: number }): JSX.Element {
  const by = job.paused_by ? ` by ${actor(job.paused_by)}` : "";
  const until = job.paused_until ? `, until ${moment(job.paused_until, now)} UTC` : "";
  return (
    <div class="hint" role="status">
      {job.state === "ERROR" ? "In error: it fires no more until somebody resumes it" : `Paused${by}${until}`}
      {job.state_reason ? `: “${job.state_reason}”` : "."}
    </div>
  );
}

function NextIn({ job }: { job: Job }): JSX.Element | null {
  const next = job.next[0];
  return next ? (
    <>
      Next in <Countdown at={next.at} />
    </>
  ) : null;
}

function Legend(): JSX.Element {
  const entries = [
    ["good", "on time"],
    ["late", "late or retrying"],
    ["bad", "dead"],
    ["busy", "under way"],
    ["quiet", "did not run"],
  ];
  return (
    <div class="legend">
      {entries.map(([tone, says]) => (
        <span key={tone} style={{ "--swatch": `var(--${tone}-post)` }}>
          {says}
        </span>
      ))}
    </div>
  );
}

function ComingCard({ team, job, now }: { team: string; job: Job; now: number }): JSX.Element {
  const key = JSON.stringify([team, job.schedule, job.state, job.paused_until]);
  const coming = usePoll(
    () =>
      api.post<Preview>(teamPath(team, "preview"), {
        schedule: job.schedule,
        count: NEXT,
        ...(job.paused_until ? { after: job.paused_until } : {}),
      }),
    key,
    30,
  );
  const fires = job.state === "ACTIVE" || job.paused_until !== null;
  return (
    <Card title={`The next ${NEXT}`} aside={String(job.schedule["timezone"] ?? "UTC")}>
      {fires && coming.data?.occurrences.length ? (
        <Nexts items={coming.data.occurrences} now={now} />
      ) : (
        <p class="soft">{job.state === "COMPLETED" || fires ? "Nothing follows." : "Nothing, until it is resumed."}</p>
      )}
    </Card>
  );
}

function Definition({ job, now }: { job: Job; now: number }): JSX.Element {
  const { kind, where } = targetName(job.target);
  const retry = job.retry as { max_attempts: number; initial_delay_seconds: number; max_delay_seconds: number };
  const rows: [string, JSX.Element | string][] = [
    ["Schedule", <code>{String(job.schedule["cron"] ?? job.schedule["every"] ?? job.schedule["at"])}</code>],
    ["Zone", String(job.schedule["timezone"] ?? "UTC")],
    ["Target", `${kind}: ${where}`],
    ["Tier", job.tier],
    ["Attempts", `${retry.max_attempts}, first pause ${retry.initial_delay_seconds} s, longest ${retry.max_delay_seconds} s`],
    ["Missed runs", String(job.misfire["policy"]).replaceAll("_", " ")],
    ["Overlap", job.overlap],
    ["Revision", `${job.revision}, ${moment(job.updated_at, now)}`],
  ];
  return (
    <Card title="Definition">
      <dl class="facts small">
        {rows.map(([name, value]) => (
          <>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </>
        ))}
      </dl>
      {job.payload === null ? null : (
        <pre class="code payload" aria-label="Payload">
          {JSON.stringify(job.payload, null, 2)}
        </pre>
      )}
    </Card>
  );
}

function HistoryCard({ team, job }: { team: string; job: Job }): JSX.Element {
  const history = usePoll(
    () => api.get<Page<Revision>>(teamPath(team, "jobs", `~${job.uid}`, "revisions"), { limit: 20 }),
    `${team} ${job.uid} ${job.revision}`,
    60,
  );
  return (
    <Card title="History of the definition">
      {history.data ? <History items={history.data.items} /> : <p class="soft">Looking…</p>}
    </Card>
  );
}
