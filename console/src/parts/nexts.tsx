// What comes: each instant in UTC and on the schedule's own wall clock, with what a change of that clock does to it.

import type { JSX } from "preact";
import { moment, wall } from "../lib/format.ts";
import type { Occurrence } from "../lib/types.ts";
import { Badge } from "./ui.tsx";

const MOVED = {
  gap: { word: "clock skips", says: "The zone's clock skips the scheduled time on this day" },
  overlap: { word: "clock repeats", says: "The zone's clock shows this time twice on this day" },
};

export function Nexts({ items, now }: { items: Occurrence[]; now: number }): JSX.Element {
  return (
    <ol class="nexts">
      {items.map((each) => (
        <li key={each.at}>
          <span>
            {wall(each.local)}
            {each.local.endsWith("Z") || each.local.endsWith("+00:00") ? null : (
              <span class="under">{moment(each.at, now)} UTC</span>
            )}
          </span>
          <span>
            {each.moved ? (
              <span title={MOVED[each.moved].says}>
                <Badge tone="late">{MOVED[each.moved].word}</Badge>
              </span>
            ) : null}
            {each.excluded ? <Badge tone="quiet">left out: {each.excluded}</Badge> : null}
          </span>
        </li>
      ))}
    </ol>
  );
}
