// Which team? The stage lists none: who belongs to one knows its name.

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { api, type Problem, teamPath } from "../lib/api.ts";
import { asProblem } from "../lib/poll.ts";
import { href } from "../lib/route.ts";
import { knownTeams } from "../lib/stage.ts";
import type { Session, Team } from "../lib/types.ts";
import { Logo } from "../parts/shell.tsx";
import { TextField, Trouble } from "../parts/ui.tsx";

export function Welcome({ session }: { session: Session }): JSX.Element {
  const known = knownTeams(session.endpoint);
  const [team, setTeam] = useState(known[0] ?? "");
  const [problem, setProblem] = useState<Problem | null>(null);
  const open = async (make: boolean): Promise<void> => {
    try {
      if (make) await api.put(teamPath(team), {});
      else await api.get<Team>(teamPath(team));
      location.hash = href(team);
    } catch (error) {
      setProblem(asProblem(error));
    }
  };
  return (
    <main class="welcome">
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault();
          void open(false);
        }}
      >
        <span class="brand">
          <Logo />
          Fencepost
        </span>
        <div>
          <h1 tabIndex={-1}>Which team?</h1>
          <p class="soft">On {session.endpoint.replace(/^https?:\/\//, "")}</p>
        </div>
        <TextField
          label="Team"
          value={team}
          change={(value) => {
            setTeam(value.trim());
            setProblem(null);
          }}
          placeholder="payments"
          help={known.length > 1 ? `Seen before: ${known.join(", ")}` : undefined}
        />
        {problem ? <Trouble problem={problem} /> : null}
        <div class="actions">
          <button class="button primary" type="submit" disabled={!team}>
            Open
          </button>
          {problem?.status === 404 ? (
            <button class="button" type="button" onClick={() => void open(true)}>
              Create team {team}
            </button>
          ) : null}
        </div>
      </form>
    </main>
  );
}
