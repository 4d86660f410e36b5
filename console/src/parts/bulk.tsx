// Many executions sent again, a few at a time, with the progress shown and a way to stop.

import type { JSX } from "preact";
import { useRef, useState } from "preact/hooks";
import { api, teamPath } from "../lib/api.ts";
import { number, plural } from "../lib/format.ts";
import { asProblem } from "../lib/poll.ts";
import { useStage } from "../lib/stage.ts";
import type { Execution } from "../lib/types.ts";
import { say } from "./toast.tsx";
import { Dialog, TextField } from "./ui.tsx";

const AT_ONCE = 4;
const TOLD = 5;

type Step = "asking" | "sending" | "done";

export function BulkDialog({ records, close }: { records: Execution[]; close: () => void }): JSX.Element {
  const { team } = useStage();
  const [note, setNote] = useState("");
  const [step, setStep] = useState<Step>("asking");
  const [done, setDone] = useState(0);
  const [left, setLeft] = useState<string[]>([]);
  const stopped = useRef(false);

  const send = async (event: Event): Promise<void> => {
    event.preventDefault();
    setStep("sending");
    const line = [...records];
    const lane = async (): Promise<void> => {
      for (let record = line.shift(); record && !stopped.current; record = line.shift()) {
        const { id, job } = record;
        try {
          await api.post(teamPath(team, "executions", id, "redrive"), { note: note || null });
        } catch (error) {
          setLeft((before) => [...before, `${job}: ${asProblem(error).message}`]);
        }
        setDone((before) => before + 1);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, lane));
    setStep("done");
  };
  const end = (): void => {
    stopped.current = true;
    const sent = done - left.length;
    if (sent > 0) say(`${plural(sent, "execution")} on the way again`);
    close();
  };
  return (
    <Dialog title={`Redrive ${plural(records.length, "execution")}`} close={end}>
      <form class="form" onSubmit={send}>
        {step === "asking" ? (
          <>
            <p class="soft">Each is sent again with its budget anew and a larger fence, the bytes as before.</p>
            <TextField label="Note" value={note} change={setNote} max={120} placeholder="The target is repaired" autoFocus />
          </>
        ) : (
          <>
            <progress value={done} max={records.length} aria-label="Sent again" />
            <p role="status">
              {number(done - left.length)} of {number(records.length)} on the way again
              {left.length ? `, ${number(left.length)} stayed` : ""}
            </p>
          </>
        )}
        {left.length ? (
          <ul class="tone-bad small">
            {left.slice(0, TOLD).map((each) => (
              <li key={each}>{each}</li>
            ))}
          </ul>
        ) : null}
        <div class="ends">
          <button class="button" type="button" onClick={end}>
            {step === "sending" ? "Stop" : step === "done" ? "Close" : "Cancel"}
          </button>
          {step === "asking" ? (
            <button class="button primary" type="submit">
              Redrive
            </button>
          ) : null}
        </div>
      </form>
    </Dialog>
  );
}
