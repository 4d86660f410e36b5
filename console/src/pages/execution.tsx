// One firing: where its time went, every attempt with what was sent and what came back, and who held it.

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { api, teamPath } from "../lib/api.ts";
import { useNow } from "../lib/clock.ts";
import { clock, exact, lateness, moment, plural } from "../lib/format.ts";
import { usePoll } from "../lib/poll.ts";
import { href } from "../lib/route.ts";
import { type Share, stretches, totals } from "../lib/split.ts";
import { useStage } from "../lib/stage.ts";
import type { Attempt, Execution, Sent } from "../lib/types.ts";
import { actor, because, isFinal, ORIGINS, OUTCOMES, STATES, sentence, targetName } from "../lib/words.ts";
import { FailDialog, RedriveDialog } from "../parts/acts.tsx";
import { Badge, Card, Empty, StateBadge, Trouble, When } from "../parts/ui.tsx";

const SHARES: [Share, string, string][] = [
  ["ours", "Fencepost", "The service's own part: waking up, handing over, writing down"],
  ["quota", "Quota wait", "Waiting for a slot of the team, for its turn, or for a switch"],
  ["target", "Target", "The target's own time, all attempts together"],
  ["retry", "Retry waits", "Pauses between attempts, by the job's retry policy"],
];

export function ExecutionPage({ id }: { id: string }): JSX.Element {
  const { team } = useStage();
  const record = usePoll(() => api.get<Execution>(teamPath(team, "executions", id)), `${team} ${id}`, 3);
  const sent = usePoll(() => api.get<Sent>(teamPath(team, "executions", id, "request")), `${team} ${id} sent`, 60);
  const [asking, setAsking] = useState<"redrive" | "fail" | null>(null);
  const now = useNow();
  if (!record.data) return record.problem ? <Trouble problem={record.problem} /> : <p class="soft">Looking…</p>;
  const found = record.data;
  const close = (): void => {
    setAsking(null);
    void record.reload();
  };
  return (
    <>
      <div class="head">
        <div>
          <nav class="crumbs" aria-label="Where this is">
            <a href={href(team, "jobs")}>Jobs</a> /{" "}
            <a href={href(team, "jobs", found.job)}>{found.job}</a> /
          </nav>
          <h1 tabIndex={-1}>
            {found.job} <span class="soft">due {moment(found.due, now)}</span>
          </h1>
          <p class="words">
            <StateBadge state={found.state} lateness={found.lateness_ms} /> {summary(found)}
          </p>
        </div>
        <div class="actions">
          {found.state === "DEAD" ? (
            <button class="button primary" type="button" onClick={() => setAsking("redrive")}>
              Redrive
            </button>
          ) : null}
          {found.state === "RUNNING" ? (
            <button class="button danger" type="button" onClick={() => setAsking("fail")}>
              Fail…
            </button>
          ) : null}
        </div>
      </div>
      {asking === "redrive" ? <RedriveDialog records={[found]} close={close} /> : null}
      {asking === "fail" ? <FailDialog record={found} close={close} /> : null}
      {found.coalesced && found.attempts.length === 0 ? <RangeCard record={found} now={now} /> : <TimeCard record={found} now={now} />}
      <div class="grid-2">
        <Card title="Attempts" aside={found.attempts_dropped ? `${found.attempts_dropped} earlier ones are no longer kept` : undefined}>
          {found.attempts.length === 0 ? (
            <Empty title="No attempt was made">{because(found.reason) || STATES[found.state].says}</Empty>
          ) : (
            <ol>
              {found.attempts.map((attempt) => (
                <AttemptItem key={attempt.fence} attempt={attempt} now={now} />
              ))}
            </ol>
          )}
        </Card>
        <div class="stack">
          {sent.data ? <RequestCard record={found} sent={sent.data} /> : null}
          <FenceCard record={found} now={now} />
          <FactsCard record={found} now={now} />
        </div>
      </div>
    </>
  );
}

function summary(record: Execution): string {
  const why = because(record.reason);
  const says = why ? `${sentence(why)}.` : STATES[record.state].says;
  const late = record.lateness_ms === null ? "" : ` It began ${lateness(record.lateness_ms)} after due.`;
  return `${says}${late}${record.note ? ` “${record.note}”` : ""}`;
}

function TimeCard({ record, now }: { record: Execution; now: number }): JSX.Element | null {
  const found = stretches(record, now);
  const sums = totals(found);
  const whole = Math.max(1, found.reduce((sum, each) => sum + each.to - each.from, 0));
  if (found.length === 0) return null;
  return (
    <Card title="Where the time went" aside={`${lateness(whole)} from due to ${isFinal(record.state) ? "the end" : "now"}`}>
      <div class="split" aria-hidden="true">
        {found.map((each) => (
          <div
            key={each.from}
            class={`share-${each.share}`}
            title={`${SHARES.find(([share]) => share === each.share)?.[1]}: ${lateness(each.to - each.from)}`}
            style={{ flexGrow: String(Math.max(each.to - each.from, whole / 400)) }}
          />
        ))}
      </div>
      <dl class="shares">
        {SHARES.map(([share, name, says]) => (
          <div key={share} class={`share-${share}`} title={says}>
            <dt>{name}</dt>
            <dd>{lateness(sums[share])}</dd>
          </div>
        ))}
      </dl>
    </Card>
  );
}

function RangeCard({ record, now }: { record: Execution; now: number }): JSX.Element {
  const range = record.coalesced;
  return (
    <Card title="A range of occurrences">
      {range ? (
        <p>
          This record explains {range.at_least ? "at least " : ""}
          {plural(range.count, "occurrence")}, from <When at={record.due} now={now} /> to{" "}
          <When at={range.until} now={now} />: {because(record.reason)}.
        </p>
      ) : null}
    </Card>
  );
}

function AttemptItem({ attempt, now }: { attempt: Attempt; now: number }): JSX.Element {
  const outcome = attempt.outcome ? OUTCOMES[attempt.outcome] : undefined;
  const began = Date.parse(attempt.started_at);
  const took = (attempt.ended_at ? Date.parse(attempt.ended_at) : now) - began;
  return (
    <li class="attempt">
      <span class="ordinal">
        <span class="unseen">Attempt </span>
        {attempt.number}
      </span>
      <div class="line">
        <Badge tone={outcome?.tone ?? "busy"}>{outcome?.word ?? "running"}</Badge>
        {attempt.status === null ? null : <strong class="number">{attempt.status}</strong>}
        <span class="soft number" title={exact(attempt.started_at)}>
          {clock(attempt.started_at, true)}, {attempt.ended_at ? "took" : "for"} {lateness(Math.max(0, took))}
        </span>
      </div>
      <div class="what">
        {attempt.error || attempt.outcome === "delivered" ? null : (
          <span class="soft small">{outcome?.says ?? "The target has not answered yet."}</span>
        )}
        {attempt.error ? <p class="tone-bad">{attempt.error}</p> : null}
        {attempt.excerpt ? (
          <pre class="code" aria-label={`Response to attempt ${attempt.number}`}>
            {attempt.excerpt}
          </pre>
        ) : null}
      </div>
    </li>
  );
}

function RequestCard({ record, sent }: { record: Execution; sent: Sent }): JSX.Element {
  const { kind, where } = targetName(sent.target);
  const webhook = sent.target["webhook"] as { method?: string; headers?: Record<string, string> } | undefined;
  const headers: [string, string][] = [
    ...Object.entries(webhook?.headers ?? {}),
    ["Fencepost-Execution", record.id],
    ["Fencepost-Due", record.due],
    ["Fencepost-Fence", String(record.fence)],
    ["Idempotency-Key", record.id],
  ];
  const body = sent.payload === null ? "" : `\n\n${JSON.stringify(sent.payload, null, 2)}`;
  const text = webhook
    ? `${webhook.method ?? "POST"} ${where}\n${headers.map(([name, value]) => `${name}: ${value}`).join("\n")}${body}`
    : `${kind} ${where}${body}`;
  return (
    <Card title="Request" aside={sent.pinned ? "The same bytes on every attempt" : "As the job stands now"}>
      <pre class="code">{text}</pre>
    </Card>
  );
}

function FenceCard({ record, now }: { record: Execution; now: number }): JSX.Element {
  return (
    <Card title="Fence history" aside="Each later holder has a larger one">
      {record.attempts.length === 0 ? (
        <p class="soft">Nobody has held it.</p>
      ) : (
        <ol class="nexts">
          {record.attempts.map((attempt) => (
            <li key={attempt.fence}>
              <span class="mono">{attempt.fence}</span>
              <span class="soft">
                {attempt.fence === record.fence && record.lease_until && !isFinal(record.state)
                  ? `held until ${moment(record.lease_until, now)}`
                  : `attempt ${attempt.number}`}
              </span>
            </li>
          ))}
        </ol>
      )}
    </Card>
  );
}

function FactsCard({ record, now }: { record: Execution; now: number }): JSX.Element {
  const times: [string, string | null][] = [
    ["Due", record.due],
    ["Claimed", record.claimed_at],
    ["Waited from", record.waited_from],
    ["Began", record.started_at],
    ["Retries at", record.retry_at],
    ["Ended", record.ended_at],
  ];
  return (
    <Card title="Record">
      <dl class="facts small">
        {times.map(([name, at]) =>
          at ? (
            <>
              <dt>{name}</dt>
              <dd>
                <time dateTime={at} title={moment(at, now)}>
                  {exact(at)}
                </time>
              </dd>
            </>
          ) : null,
        )}
        <dt>Why</dt>
        <dd>
          {ORIGINS[record.origin]}
          {record.actor ? `, asked for by ${actor(record.actor)}` : ""}
        </dd>
        <dt>Tier</dt>
        <dd>{record.tier}</dd>
        <dt>Generation</dt>
        <dd>{record.generation}</dd>
        <dt>Id</dt>
        <dd class="mono">{record.id}</dd>
      </dl>
    </Card>
  );
}
