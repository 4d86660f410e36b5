// Who changed what, when, and why.

import type { JSX } from "preact";
import { useNow } from "../lib/clock.ts";
import { differences, type Difference, shown } from "../lib/diff.ts";
import type { Revision } from "../lib/types.ts";
import { actor } from "../lib/words.ts";
import { When } from "./ui.tsx";

export function History({ items }: { items: Revision[] }): JSX.Element {
  const now = useNow();
  return (
    <ol class="history">
      {items.map((each) => (
        <li key={each.revision}>
          <div class="line">
            <strong>{each.what.replaceAll("_", " ")}</strong>
            <span class="soft">
              by {actor(each.actor)}, <When at={each.at} now={now} />, revision {each.revision}
            </span>
          </div>
          {each.note ? <q>{each.note}</q> : null}
          {each.before ? <Diff found={differences(each.before, each.after)} /> : null}
        </li>
      ))}
    </ol>
  );
}

export function Diff({ found }: { found: Difference[] }): JSX.Element {
  if (found.length === 0) return <p class="soft small">Nothing of the definition changed.</p>;
  return (
    <dl class="diff">
      {found.map((each) => (
        <div key={each.field}>
          <dt>{each.field}</dt>
          <dd>
            {each.before === undefined || each.before === null ? null : <del>{shown(each.before)}</del>}
            {each.after === undefined || each.after === null ? null : <ins>{shown(each.after)}</ins>}
          </dd>
        </div>
      ))}
    </dl>
  );
}
