// How much of a limit is used.

import type { JSX } from "preact";
import { number, percent } from "../lib/format.ts";
import type { Limit } from "../lib/types.ts";

export function Gauge({ name, limit }: { name: string; limit: Limit }): JSX.Element {
  const used = limit.used ?? 0;
  const share = limit.limit === 0 ? 1 : used / limit.limit;
  const kind = share >= 1 ? "over" : share >= 0.8 ? "near" : "";
  return (
    <div>
      <dt>
        {name}
        <span class="soft number">
          {number(used)} of {number(limit.limit)}
          {share >= 0.01 ? `, ${percent(used, limit.limit)}` : ""}
        </span>
      </dt>
      <dd class="gauge" aria-hidden="true">
        <div class={kind} style={{ width: `${Math.min(100, share * 100)}%` }} />
      </dd>
    </div>
  );
}
