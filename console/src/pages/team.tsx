// The team: what it may use and uses, who waits, what is switched off, which keys sign for it, who changed it.

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { api, type Problem, teamPath } from "../lib/api.ts";
import { useNow } from "../lib/clock.ts";
import { ago, moment, number, plural } from "../lib/format.ts";
import { asProblem, usePoll } from "../lib/poll.ts";
import { useStage } from "../lib/stage.ts";
import type { Limits, Line, Page, Revision, Team } from "../lib/types.ts";
import { actor } from "../lib/words.ts";
import { Gauge } from "../parts/gauge.tsx";
import { History } from "../parts/history.tsx";
import { Keys } from "../parts/keys.tsx";
import { say } from "../parts/toast.tsx";
import { Card, Dialog, Empty, TextField, Trouble } from "../parts/ui.tsx";

const DRAWN = 200;

export function TeamPage(): JSX.Element {
  const { team } = useStage();
  const now = useNow();
  const facts = usePoll(() => api.get<Team>(teamPath(team)), team, 15);
  const limits = usePoll(() => api.get<Limits>(teamPath(team, "limits")), team, 3);
  const backlog = usePoll(() => api.get<{ items: Line[] }>(teamPath(team, "backlog")), team, 3);
  const history = usePoll(() => api.get<Page<Revision>>(teamPath(team, "revisions"), { limit: 10 }), team, 30);
  if (!facts.data) return facts.problem ? <Trouble problem={facts.problem} /> : <p class="soft">Looking…</p>;
  return (
    <>
      <Head team={facts.data} reload={facts.reload} />
      {limits.problem ? <Trouble problem={limits.problem} /> : null}
      <div class="grid-2">
        <div class="stack">
          {limits.data ? <Slots limits={limits.data} /> : null}
          <Card title="Backlog" aside="Who waits, and for what">
            <Backlog lines={backlog.data?.items ?? []} now={now} />
          </Card>
          <Keys team={team} />
          {history.data ? (
            <Card title="History of the team">
              <History items={history.data.items} />
            </Card>
          ) : null}
        </div>
        <div class="stack">
          {limits.data ? <LimitsCard limits={limits.data} /> : null}
          <FactsCard team={facts.data} now={now} />
        </div>
      </div>
    </>
  );
}

function Head({ team, reload }: { team: Team; reload: () => Promise<void> }): JSX.Element {
  const now = useNow();
  const [asking, setAsking] = useState(false);
  const resume = async (): Promise<void> => {
    try {
      await api.post(teamPath(team.name, "resume"));
      say("The team's jobs start again");
    } catch (error) {
      say(asProblem(error).message);
    }
    await reload();
  };
  return (
    <>
      <div class="head">
        <h1 tabIndex={-1}>{team.name}</h1>
        <div class="actions">
          {team.pauses.length ? (
            <button class="button primary" type="button" onClick={resume}>
              Resume the team
            </button>
          ) : (
            <button class="button" type="button" onClick={() => setAsking(true)}>
              Pause the team…
            </button>
          )}
        </div>
      </div>
      {team.pauses.map((pause) => (
        <div class="hint" key={pause.tier}>
          {pause.tier} is paused by {actor(pause.by)}
          {pause.until ? `, until ${moment(pause.until, now)} UTC` : ""}
          {pause.note ? `: “${pause.note}”` : "."}
        </div>
      ))}
      {asking ? (
        <PauseTeam
          team={team}
          close={() => {
            setAsking(false);
            void reload();
          }}
        />
      ) : null}
    </>
  );
}

function PauseTeam({ team, close }: { team: Team; close: () => void }): JSX.Element {
  const [note, setNote] = useState("");
  const [problem, setProblem] = useState<Problem | null>(null);
  const act = async (event: Event): Promise<void> => {
    event.preventDefault();
    try {
      await api.post(teamPath(team.name, "pause"), { note: note || null });
      say("Nothing of the team starts any more");
      close();
    } catch (error) {
      setProblem(asProblem(error));
    }
  };
  return (
    <Dialog title={`Pause ${team.name}`} close={close}>
      <form class="form" onSubmit={act}>
        <p class="soft">Nothing of any of its jobs starts; what comes due waits. What runs, finishes.</p>
        <TextField label="Reason" value={note} change={setNote} max={120} autoFocus />
        {problem ? <Trouble problem={problem} /> : null}
        <div class="ends">
          <button class="button" type="button" onClick={close}>
            Cancel
          </button>
          <button class="button danger" type="submit">
            Pause the team
          </button>
        </div>
      </form>
    </Dialog>
  );
}

function Slots({ limits }: { limits: Limits }): JSX.Element {
  const { limit, used } = limits.max_concurrency;
  const taken = used ?? 0;
  return (
    <Card title="Slots" aside={`${number(taken)} of ${number(limit)} in use`}>
      <div class="slots" role="img" aria-label={`${plural(taken, "slot")} of ${number(limit)} in use`}>
        {Array.from({ length: Math.min(limit, DRAWN) }, (_, place) => (
          <span key={place} class={place < (taken * Math.min(limit, DRAWN)) / limit ? "taken" : ""} />
        ))}
      </div>
      <p class="soft small slots-says">
        A slot is one firing at a time. Whatever finds none waits in the backlog, the oldest due of its tier first.
      </p>
    </Card>
  );
}

function Backlog({ lines, now }: { lines: Line[]; now: number }): JSX.Element {
  if (lines.length === 0) return <Empty title="Nobody waits">Every firing found a slot.</Empty>;
  return (
    <dl class="facts">
      {lines.map((line) => (
        <>
          <dt>{line.tier ?? "own turn"}</dt>
          <dd>
            <strong class="number">
              {line.at_least ? "at least " : ""}
              {number(line.count)}
            </strong>{" "}
            {line.tier === null ? "behind an earlier firing of their job" : line.held ? "held by a switch" : "for a slot"}
            <span class="under">The oldest was due {ago(line.oldest_due, now)}.</span>
          </dd>
        </>
      ))}
    </dl>
  );
}

function LimitsCard({ limits }: { limits: Limits }): JSX.Element {
  return (
    <Card title="Limits">
      <dl class="form gauges">
        <Gauge name="Jobs" limit={limits.max_jobs} />
        <Gauge name="Firings a day" limit={limits.max_daily_firings} />
        <Gauge name="At once" limit={limits.max_concurrency} />
      </dl>
    </Card>
  );
}

function FactsCard({ team, now }: { team: Team; now: number }): JSX.Element {
  const notify = Object.entries(team.notify).filter(([, where]) => where);
  return (
    <Card title="About">
      <dl class="facts small">
        <dt>Tiers</dt>
        <dd>{team.tiers.join(", ")}</dd>
        <dt>Told of</dt>
        <dd>{team.notify_on.join(", ") || "nothing"}</dd>
        {notify.map(([kind, where]) => (
          <>
            <dt>{kind.replace("_", " ")}</dt>
            <dd>{where}</dd>
          </>
        ))}
        <dt>Principals</dt>
        <dd>{team.principals.map(actor).join(", ") || "administrators only"}</dd>
        <dt>Allowed hosts</dt>
        <dd>{team.allowed_hosts?.join(", ") ?? "all public ones"}</dd>
        <dt>Records kept</dt>
        <dd>
          {plural(team.retention_days, "day")}
          {team.max_records === null ? "" : `, about ${team.max_records.toLocaleString("en")} records`}
        </dd>
        <dt>Since</dt>
        <dd>{team.created_at ? moment(team.created_at, now) : "–"}</dd>
      </dl>
    </Card>
  );
}
