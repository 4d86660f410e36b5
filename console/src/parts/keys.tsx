// The keys that sign the team's calls. A secret is shown once, when it is made.

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { api, type Problem, teamPath } from "../lib/api.ts";
import { moment } from "../lib/format.ts";
import { asProblem, usePoll } from "../lib/poll.ts";
import type { MadeKey, SigningKeys } from "../lib/types.ts";
import { useNow } from "../lib/clock.ts";
import { copy, say } from "./toast.tsx";
import { Card, Dialog, Empty, Trouble } from "./ui.tsx";

export function Keys({ team }: { team: string }): JSX.Element {
  const now = useNow();
  const keys = usePoll(() => api.get<SigningKeys>(teamPath(team, "keys")), team, 30);
  const [made, setMade] = useState<MadeKey | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const attempt = async (act: () => Promise<void>): Promise<void> => {
    setProblem(null);
    try {
      await act();
    } catch (error) {
      setProblem(asProblem(error));
    }
    await keys.reload();
  };
  const make = (): Promise<void> =>
    attempt(async () => setMade(await api.post<MadeKey>(teamPath(team, "keys"), { scheme: "v1" })));
  const drop = (id: string): Promise<void> =>
    attempt(async () => {
      await api.remove(teamPath(team, "keys", id));
      say("The key signs no more");
    });
  const items = keys.data?.items ?? [];
  return (
    <Card title="Signing keys" aside="What receivers verify calls with">
      <div class="form">
        {problem ? <Trouble problem={problem} /> : null}
        {items.length === 0 ? <Empty title="No keys">Calls go out unsigned.</Empty> : null}
        <ul class="nexts">
          {items.map((key) => (
            <li key={key.id}>
              <span>
                <code>{key.id}</code> <span class="label">{key.scheme}</span>
                <span class="under">
                  since {moment(key.created_at, now)}
                  {key.public ? `; ${key.public}` : ""}
                </span>
              </span>
              <button class="button plain danger" type="button" onClick={() => void drop(key.id)} aria-label={`Drop key ${key.id}`}>
                Drop
              </button>
            </li>
          ))}
        </ul>
        <div class="actions">
          <button class="button" type="button" onClick={() => void make()}>
            Make a key
          </button>
        </div>
      </div>
      {made ? <MadeDialog made={made} close={() => setMade(null)} /> : null}
    </Card>
  );
}

function MadeDialog({ made, close }: { made: MadeKey; close: () => void }): JSX.Element {
  return (
    <Dialog title="A new key" close={close}>
      <p class="soft">Its secret is shown now and never again. It signs beside the others from now on.</p>
      <pre class="code">{made.secret ?? made.made.public}</pre>
      <div class="ends">
        <button class="button" type="button" onClick={() => void copy(made.secret ?? "", "the secret")}>
          Copy
        </button>
        <button class="button primary" type="button" onClick={close} data-focus>
          Done
        </button>
      </div>
    </Dialog>
  );
}
