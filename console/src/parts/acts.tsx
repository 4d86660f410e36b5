// What can be done to jobs and executions: each asks first, says what it will do, and tells how it went.

import type { ComponentChildren, JSX } from "preact";
import { useState } from "preact/hooks";
import { api, type Problem, teamPath } from "../lib/api.ts";
import { serverNow } from "../lib/clock.ts";
import { moment, plural } from "../lib/format.ts";
import { asProblem } from "../lib/poll.ts";
import { href } from "../lib/route.ts";
import { useStage } from "../lib/stage.ts";
import type { Execution, Job } from "../lib/types.ts";
import { say } from "./toast.tsx";
import { Dialog, SelectField, TextField, Trouble } from "./ui.tsx";

/** A dialog with one deed: it closes when the deed is done, and shows the problem when it is refused. */
function Deed(props: {
  title: string;
  says: string;
  act: () => Promise<void>;
  close: () => void;
  danger?: boolean;
  ready?: boolean;
  children?: ComponentChildren;
}): JSX.Element {
  const [problem, setProblem] = useState<Problem | null>(null);
  const [busy, setBusy] = useState(false);
  const act = async (event: Event): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    try {
      await props.act();
      props.close();
    } catch (error) {
      setProblem(asProblem(error));
      setBusy(false);
    }
  };
  return (
    <Dialog title={props.title} close={props.close}>
      <form class="form" onSubmit={act}>
        {props.children}
        {problem ? <Trouble problem={problem} /> : null}
        <div class="ends">
          <button class="button" type="button" onClick={props.close}>
            Cancel
          </button>
          <button class={`button ${props.danger ? "danger" : "primary"}`} type="submit" disabled={busy || props.ready === false}>
            {props.says}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

const LENGTHS = [
  ["", "until somebody resumes it"],
  ["900", "for 15 minutes"],
  ["3600", "for an hour"],
  ["14400", "for 4 hours"],
  ["86400", "for a day"],
  ["604800", "for a week"],
] as const;

export function PauseDialog({ job, close }: { job: Job; close: () => void }): JSX.Element {
  const { team } = useStage();
  const [note, setNote] = useState("");
  const [length, setLength] = useState<(typeof LENGTHS)[number][0]>("");
  const [started, setStarted] = useState(false);
  const until = length === "" ? null : new Date(Math.ceil(serverNow() / 60_000) * 60_000 + Number(length) * 1000);
  const act = async (): Promise<void> => {
    await api.post(teamPath(team, "jobs", job.name, "pause"), {
      note: note || null,
      until: until?.toISOString() ?? null,
      cancel_started: started,
    });
    say(until ? `${job.name} is paused until ${moment(until.toISOString(), serverNow())} UTC` : `${job.name} is paused`);
  };
  return (
    <Deed title={`Pause ${job.name}`} says="Pause" act={act} close={close}>
      <p class="soft">Nothing of its schedule starts any more, not even what is on its way. What runs, finishes.</p>
      <TextField
        label="Reason"
        value={note}
        change={setNote}
        max={120}
        placeholder="The ledger is being repaired"
        help="Kept in the history, and shown to whoever asks why it did not run."
        autoFocus
      />
      <SelectField
        label="How long"
        value={length}
        options={LENGTHS}
        change={setLength}
        help={until ? `It resumes by itself at ${moment(until.toISOString(), serverNow())} UTC.` : undefined}
      />
      <label class="check">
        <input type="checkbox" checked={started} onChange={() => setStarted(!started)} />
        <span>Also call off firings that wait for a retry</span>
      </label>
    </Deed>
  );
}

export function DeleteDialog({ job, close }: { job: Job; close: () => void }): JSX.Element {
  const { team } = useStage();
  const [typed, setTyped] = useState("");
  const act = async (): Promise<void> => {
    await api.remove(teamPath(team, "jobs", job.name));
    location.hash = href(team, "jobs");
    say(`${job.name} is deleted; its records stay readable`);
  };
  return (
    <Deed title={`Delete ${job.name}`} says="Delete" act={act} close={close} ready={typed === job.name} danger>
      <p class="soft">The name becomes free, and whatever is not running is called off. Its records stay.</p>
      <TextField label={`Type ${job.name} to go on`} value={typed} change={setTyped} autoFocus />
    </Deed>
  );
}

export function FailDialog({ record, close }: { record: Execution; close: () => void }): JSX.Element {
  const { team } = useStage();
  const [error, setError] = useState("");
  const [permanent, setPermanent] = useState(false);
  const act = async (): Promise<void> => {
    await api.post(teamPath(team, "executions", record.id, "fail"), { fence: record.fence, error, permanent });
    say("The attempt has failed");
  };
  return (
    <Deed title="Fail this execution" says="Fail it" act={act} close={close} danger>
      <p class="soft">As its worker would: under fence {record.fence}. The worker's own report comes too late then.</p>
      <TextField label="What went wrong" value={error} change={setError} max={4096} autoFocus />
      <label class="check">
        <input type="checkbox" checked={permanent} onChange={() => setPermanent(!permanent)} />
        <span>For good: no further attempt is worth making</span>
      </label>
    </Deed>
  );
}

export function RedriveDialog({ records, close }: { records: Execution[]; close: () => void }): JSX.Element {
  const { team } = useStage();
  const [note, setNote] = useState("");
  const act = async (): Promise<void> => {
    for (const record of records) {
      await api.post(teamPath(team, "executions", record.id, "redrive"), { note: note || null });
    }
    say(`${plural(records.length, "execution")} on the way again`);
  };
  return (
    <Deed title="Redrive" says="Redrive" act={act} close={close}>
      <p class="soft">It is sent again with its budget anew and a larger fence, the bytes as before.</p>
      <TextField label="Note" value={note} change={setNote} max={120} placeholder="The target is repaired" autoFocus />
    </Deed>
  );
}
