// A new job, or a changed one: a form with what it would do beside it, and a look at the change before it is made.

import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { api, type Problem, teamPath } from "../lib/api.ts";
import { useNow } from "../lib/clock.ts";
import { differences } from "../lib/diff.ts";
import { bodyOf, type Draft, draftOf, emptyDraft, scheduleOf } from "../lib/draft.ts";
import { plural } from "../lib/format.ts";
import { asProblem, usePoll } from "../lib/poll.ts";
import { href } from "../lib/route.ts";
import { useStage } from "../lib/stage.ts";
import type { Facts, Job, JobChange, Preview } from "../lib/types.ts";
import { sentence } from "../lib/words.ts";
import { Diff } from "../parts/history.tsx";
import { JobForm } from "../parts/job_form.tsx";
import { Nexts } from "../parts/nexts.tsx";
import { say } from "../parts/toast.tsx";
import { Card, Dialog, Trouble } from "../parts/ui.tsx";

export function NewJob(): JSX.Element {
  return <Editor title="New job" draft={emptyDraft()} before={null} />;
}

export function EditJob({ name }: { name: string }): JSX.Element {
  const { team } = useStage();
  const [job, setJob] = useState<Job | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  useEffect(() => {
    api.get<Job>(teamPath(team, "jobs", name)).then(setJob, (error) => setProblem(asProblem(error)));
  }, [team, name]);
  if (problem) return <Trouble problem={problem} />;
  if (!job) return <p class="soft">Looking…</p>;
  return <Editor title={`Edit ${name}`} draft={draftOf(job)} before={job} />;
}

function Editor(props: { title: string; draft: Draft; before: Job | null }): JSX.Element {
  const { team } = useStage();
  const [draft, setDraft] = useState(props.draft);
  const [faults, setFaults] = useState<Record<string, string>>({});
  const [problem, setProblem] = useState<Problem | null>(null);
  const [change, setChange] = useState<JobChange | null>(null);
  const path = teamPath(team, "jobs", draft.name);
  const how = props.before ? { seen: props.before } : {};
  const read = bodyOf(draft);

  const review = async (event: Event): Promise<void> => {
    event.preventDefault();
    setFaults(draft.name ? read.faults : { ...read.faults, name: "give it a name" });
    setProblem(null);
    if (!read.body || !draft.name) return;
    try {
      setChange(await api.put<JobChange>(path, read.body, { query: { dry_run: true }, ...how }));
    } catch (error) {
      const told = asProblem(error);
      setProblem(told);
      setFaults(Object.fromEntries(told.faults.map((fault) => [fault.field, fault.rule])));
    }
  };
  const save = async (): Promise<void> => {
    await api.put<Job>(path, read.body, how);
    location.hash = href(team, "jobs", draft.name);
    say(props.before ? `${draft.name} is changed` : `${draft.name} is declared`);
  };
  return (
    <>
      <div class="head">
        <div>
          <nav class="crumbs" aria-label="Where this is">
            <a href={href(team, "jobs")}>Jobs</a> /{" "}
            {props.before ? (
              <>
                <a href={href(team, "jobs", props.before.name)}>{props.before.name}</a> /
              </>
            ) : null}
          </nav>
          <h1 tabIndex={-1}>{props.title}</h1>
        </div>
      </div>
      <form class="grid-2" onSubmit={review} aria-label={props.title}>
        <div class="stack">
          <JobForm draft={draft} change={(some) => setDraft({ ...draft, ...some })} faults={faults} named={props.before !== null} />
          {problem ? <Trouble problem={problem} /> : null}
          <div class="actions">
            <button class="button primary" type="submit">
              {props.before ? "Review the change" : "Review the job"}
            </button>
            <a class="button" href={props.before ? href(team, "jobs", props.before.name) : href(team, "jobs")}>
              Cancel
            </a>
          </div>
        </div>
        <WhatItDoes schedule={scheduleOf(draft)} />
      </form>
      {change ? <Review change={change} made={props.before === null} save={save} close={() => setChange(null)} /> : null}
    </>
  );
}

/** What the schedule would do, while it is typed. */
function WhatItDoes({ schedule }: { schedule: Facts }): JSX.Element {
  const { team } = useStage();
  const now = useNow();
  const [settled, setSettled] = useState(schedule);
  const key = JSON.stringify(schedule);
  useEffect(() => {
    const typed = setTimeout(() => setSettled(schedule), 300);
    return () => clearTimeout(typed);
  }, [key]);
  const found = usePoll(
    () => api.post<Preview>(teamPath(team, "preview"), { schedule: settled, count: 8 }),
    JSON.stringify([team, settled]),
    60,
  );
  return (
    <div class="beside" aria-live="polite">
      <Card title="What it will do">
        {found.problem ? <Trouble problem={found.problem} /> : null}
        {found.data ? (
          <div class="form">
            <p>
              <strong>{sentence(found.data.says)}</strong>
            </p>
            {found.data.warnings.map((warning) => (
              <p key={warning} class="hint small">
                {warning}
              </p>
            ))}
            <Nexts items={found.data.occurrences} now={now} />
          </div>
        ) : null}
      </Card>
    </div>
  );
}

function Review(props: {
  change: JobChange;
  made: boolean;
  save: () => Promise<void>;
  close: () => void;
}): JSX.Element {
  const { change, made } = props;
  const now = useNow();
  const [problem, setProblem] = useState<Problem | null>(null);
  const [busy, setBusy] = useState(false);
  const save = async (): Promise<void> => {
    setBusy(true);
    try {
      await props.save();
    } catch (error) {
      setProblem(asProblem(error));
      setBusy(false);
    }
  };
  const found = differences(change.before, change.after).filter((each) => each.field !== "state");
  return (
    <Dialog title={made ? "This will be declared" : "This will change"} close={props.close} wide>
      {made ? null : <Diff found={found} />}
      {made || change.cancels.length === 0 ? null : (
        <p class="hint">
          {plural(change.cancels.length, "queued firing")} of the old schedule will be called off.
        </p>
      )}
      <div>
        <h3>Next from then on</h3>
        <Nexts items={change.next_after.slice(0, 5)} now={now} />
      </div>
      {problem ? <Trouble problem={problem} /> : null}
      <div class="ends">
        <button class="button" type="button" onClick={props.close}>
          Back
        </button>
        <button class="button primary" type="button" onClick={save} disabled={busy || (!made && found.length === 0)} data-focus>
          {made ? "Declare it" : found.length === 0 ? "Nothing to change" : "Make the change"}
        </button>
      </div>
    </Dialog>
  );
}
