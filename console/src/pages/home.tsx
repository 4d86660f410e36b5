// How the team is: a sentence, four figures, how late, what comes, what needs somebody, what just happened.

import type { JSX } from "preact";
import { api, teamPath } from "../lib/api.ts";
import { type Matter, matters } from "../lib/attention.ts";
import { useHealth, useNow } from "../lib/clock.ts";
import { lateness, number, percent, percentile, plural, rough } from "../lib/format.ts";
import { type Outlook, useForecast } from "../lib/forecast.ts";
import { usePoll } from "../lib/poll.ts";
import { href } from "../lib/route.ts";
import { type Fired, type Sample, sample } from "../lib/sample.ts";
import { useStage } from "../lib/stage.ts";
import type { Execution, Limits, Line, Page, Team } from "../lib/types.ts";
import { LATE_MS } from "../lib/words.ts";
import { Heat, Lateness } from "../parts/charts.tsx";
import { Card, Empty, StateBadge, Trouble, When } from "../parts/ui.tsx";

const RECENT = 8;

export function Home(): JSX.Element {
  const { team } = useStage();
  const now = useNow();
  const health = useHealth();
  const taken = usePoll(() => sample(team), `sample ${team}`, 5);
  const { outlook, problem } = useForecast(team);
  const standing = usePoll(() => standingOf(team), `standing ${team}`, 15);
  if (taken.problem && !taken.data) return <Trouble problem={taken.problem} />;
  const found = matters(team, {
    ...(standing.data ?? { team: null, dead: null, limits: null, backlog: null }),
    health,
    sample: taken.data,
    outlook,
  });
  return (
    <>
      <div class="head">
        <div>
          <p class="crumbs">{team}</p>
          <h1 tabIndex={-1} class="lead">
            {sentence(taken.data, found)}
          </h1>
        </div>
        <div class="actions">
          <a class="button primary" href={href(team, "new")}>
            New job
          </a>
        </div>
      </div>
      <Figures taken={taken.data} outlook={outlook} />
      {problem ? <Trouble problem={problem} /> : null}
      {taken.data && outlook && outlook.jobs === 0 ? <First team={team} /> : null}
      <div class="grid-2 even">
        <Card title="How late firings began" aside={scope(taken.data)}>
          <Lateness values={begun(taken.data).map((each) => each.lateness_ms ?? 0)} />
        </Card>
        <Card title="Needs attention" aside={found.length ? number(found.length) : undefined}>
          <Attention found={found} />
        </Card>
      </div>
      {outlook ? (
        <Card title="The next 24 hours, by minute" aside={counted(outlook)}>
          <Heat start={outlook.start} minutes={outlook.minutes} now={now} />
        </Card>
      ) : null}
      <Card title="Just now" aside="The newest firings, as they happen" bare>
        <Recent team={team} firings={(taken.data?.firings ?? []).slice(0, RECENT)} now={now} />
      </Card>
    </>
  );
}

async function standingOf(team: string) {
  const [facts, dead, limits, backlog] = await Promise.all([
    api.get<Team>(teamPath(team)),
    api.get<Page<Execution>>(teamPath(team, "dead-letters"), { limit: 100 }),
    api.get<Limits>(teamPath(team, "limits")),
    api.get<{ items: Line[] }>(teamPath(team, "backlog")),
  ]);
  return { team: facts, dead, limits, backlog };
}

/** Firings that have begun: only they have a lateness. */
function begun(taken: Sample | null): Fired[] {
  return taken?.firings.filter((each) => each.lateness_ms !== null) ?? [];
}

function sentence(taken: Sample | null, found: Matter[]): string {
  if (!taken) return "Looking…";
  const firings = begun(taken);
  if (firings.length === 0) return "Nothing has fired yet.";
  const bad = found.filter((each) => each.tone === "bad").length;
  const good = firings.filter((each) => (each.lateness_ms ?? 0) <= LATE_MS).length;
  const all = good === firings.length ? `All of the last ${number(firings.length)} firings` : `${percent(good, firings.length)} of the last ${number(firings.length)} firings`;
  const rest = bad ? ` ${bad === 1 ? "One thing needs" : `${bad} things need`} somebody.` : " Nothing needs you.";
  return `${all} began within 5\u00a0s of due.${rest}`;
}

function scope(taken: Sample | null): string {
  if (!taken) return "";
  const jobs = plural(taken.jobs, "job");
  return taken.partial ? `Newest records of the first ${jobs}` : `Newest records of ${jobs}`;
}

function counted(outlook: Outlook): string {
  return outlook.complete ? `${plural(outlook.jobs, "job")}, UTC` : `Counting: ${number(outlook.jobs)} jobs so far`;
}

function Figures({ taken, outlook }: { taken: Sample | null; outlook: Outlook | null }): JSX.Element {
  const late = begun(taken)
    .map((each) => each.lateness_ms ?? 0)
    .sort((one, other) => one - other);
  const good = late.filter((each) => each <= LATE_MS).length;
  const total = outlook?.minutes.reduce((sum, count) => sum + count, 0) ?? 0;
  const states = outlook?.states ?? {};
  const others = [
    states.PAUSED ? `${number(states.PAUSED)} paused` : "",
    states.ERROR ? `${number(states.ERROR)} in error` : "",
    states.COMPLETED ? `${number(states.COMPLETED)} completed` : "",
  ].filter(Boolean);
  return (
    <dl class="figures">
      <div>
        <dt>On time</dt>
        <dd>
          {percent(good, late.length)} <small>began within 5 s of due</small>
        </dd>
      </div>
      <div>
        <dt>Lateness</dt>
        <dd>
          {late.length ? lateness(percentile(late, 50)) : "–"}{" "}
          <small>{late.length ? `median; ${lateness(percentile(late, 99))} at the 99th percentile` : "median"}</small>
        </dd>
      </div>
      <div>
        <dt>Next 24 hours</dt>
        <dd>
          {outlook ? rough(total) : "–"} <small>firings{outlook?.complete === false ? ", and counting" : ""}</small>
        </dd>
      </div>
      <div>
        <dt>Jobs</dt>
        <dd>
          {outlook ? rough(outlook.jobs) : "–"} <small>{others.join(", ") || "all active"}</small>
        </dd>
      </div>
    </dl>
  );
}

function Attention({ found }: { found: Matter[] }): JSX.Element {
  if (found.length === 0) return <Empty title="All quiet">No dead letters, no stopped jobs, nothing late.</Empty>;
  return (
    <ul class="attention">
      {found.map((each) => (
        <li key={each.what} class={`tone-${each.tone}`}>
          <span class="mark" />
          <div>
            <strong>{each.what}</strong>
            <span class="under">{each.more}</span>
          </div>
          {each.link ? (
            <a class="button plain" href={each.link.href}>
              {each.link.says}
            </a>
          ) : null}
        </li>
      ))}
    </ul>
  );
}

function Recent({ team, firings, now }: { team: string; firings: Fired[]; now: number }): JSX.Element {
  if (firings.length === 0) return <Empty title="Nothing has fired yet">The first firing appears here by itself.</Empty>;
  return (
    <div class="table">
      <table>
        <thead>
          <tr>
            <th scope="col">Due</th>
            <th scope="col">Job</th>
            <th scope="col">State</th>
            <th scope="col" class="right">
              Began after due
            </th>
            <th scope="col" class="right">
              Attempts
            </th>
          </tr>
        </thead>
        <tbody>
          {firings.map((each) => (
            <tr key={each.id} class={now - Date.parse(each.due) < 5000 ? "fresh" : ""}>
              <td>
                <a class="name" href={href(team, "executions", each.id)}>
                  <When at={each.due} now={now} />
                </a>
              </td>
              <td>
                <a href={href(team, "jobs", each.job)}>{each.job}</a>
              </td>
              <td>
                <StateBadge state={each.state} lateness={each.lateness_ms} />
              </td>
              <td class="right">{each.lateness_ms === null ? "–" : lateness(each.lateness_ms)}</td>
              <td class="right">{each.attempts}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function First({ team }: { team: string }): JSX.Element {
  return (
    <section class="card">
      <Empty title="This team has no jobs yet">
        Declare the first one <a href={href(team, "new")}>here</a>, with{" "}
        <code>fencepost job put</code>, or from a file with <code>fencepost apply -f jobs.yaml</code>.
      </Empty>
    </section>
  );
}
