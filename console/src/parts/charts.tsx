// How late firings were, and what the coming day holds.

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { clock, MINUTE, moment, number, plural, shortClock } from "../lib/format.ts";
import { crowded, darkest, EDGES, histogram, shade } from "../lib/load.ts";
import { LATE_MS } from "../lib/words.ts";

const NAMES = ["5 ms", "10", "25", "50", "100", "250", "500", "1 s", "2 s", "5 s", "15 s", "1 min", "more"];

export function Lateness({ values }: { values: number[] }): JSX.Element {
  const counts = histogram(values);
  const peak = Math.max(1, ...counts);
  const says = counts
    .map((count, place) => `${place < EDGES.length ? `up to ${NAMES[place]}` : "beyond"}: ${count}`)
    .join("; ");
  return (
    <div role="img" aria-label={`Lateness of ${plural(values.length, "firing")}. ${says}`}>
      <div class="bars">
        {counts.map((count, place) => {
          const beyond = place >= EDGES.indexOf(LATE_MS) + 1;
          const kind = count === 0 ? "zero" : beyond ? "beyond" : "";
          return (
            <div key={NAMES[place]}>
              {count > 0 ? <b>{number(count)}</b> : null}
              <div class={`bar ${kind}`} style={{ height: `${(count / peak) * 82}%` }} />
            </div>
          );
        })}
      </div>
      <div class="edges">
        {NAMES.map((name) => (
          <span key={name}>{name}</span>
        ))}
      </div>
    </div>
  );
}

const LEFT = 46;
const CELL_WIDTH = 17;
const CELL_HEIGHT = 12;
const TOP = 18;
const WIDE = LEFT + 60 * CELL_WIDTH;
const HIGH = TOP + 25 * CELL_HEIGHT;
const STEPS = 5;

/** A row for each hour, a column for each minute of it: a column that stands out is a minute that everybody chose. */
export function Heat({ start, minutes, now }: { start: string; minutes: number[]; now: number }): JSX.Element {
  const [pointed, setPointed] = useState<number | null>(null);
  const from = Date.parse(start) - (Date.parse(start) % (60 * MINUTE));
  const ahead = Math.round((Date.parse(start) - from) / MINUTE);
  const peak = darkest(minutes);
  const low = Math.min(...minutes);
  const cells = new Array<string>(STEPS + 1).fill("");
  minutes.forEach((count, minute) => {
    const step = shade(count, low, peak, STEPS);
    cells[step] += box(minute + ahead);
  });
  const full = crowded(minutes);
  const at = (minute: number): number => Date.parse(start) + minute * MINUTE;
  const aim = (event: PointerEvent): void => {
    const area = (event.currentTarget as SVGElement).getBoundingClientRect();
    const x = Math.floor((((event.clientX - area.left) / area.width) * WIDE - LEFT) / CELL_WIDTH);
    const y = Math.floor((((event.clientY - area.top) / area.height) * HIGH - TOP) / CELL_HEIGHT);
    const minute = y * 60 + x - ahead;
    setPointed(x >= 0 && x < 60 && minute >= 0 && minute < minutes.length ? minute : null);
  };
  const total = minutes.reduce((sum, count) => sum + count, 0);
  const words = full.map((each) => `${clock(at(each.minute)).slice(0, 5)} with ${number(each.count)}`).join(", ");
  const says = `Firings by minute of the next 24 hours, ${number(total)} in all. ${
    full.length ? `Crowded: ${words}.` : "No minute is crowded."
  }`;
  return (
    <div class="heat">
      <svg
        viewBox={`0 0 ${WIDE} ${HIGH}`}
        role="img"
        aria-label={says}
        onPointerMove={aim}
        onPointerLeave={() => setPointed(null)}
      >
        {[0, 10, 20, 30, 40, 50].map((minute) => (
          <text key={minute} x={LEFT + minute * CELL_WIDTH + 1} y={10}>
            :{String(minute).padStart(2, "0")}
          </text>
        ))}
        {Array.from({ length: 9 }, (_, place) => place * 3).map((row) => (
          <text key={row} x={0} y={TOP + row * CELL_HEIGHT + 9.5}>
            {shortClock(from + row * 60 * MINUTE)}
          </text>
        ))}
        {cells.map((path, step) => (path ? <path key={step} class={`cell-${step}`} d={path} /> : null))}
        {full.map((each) => (
          <path key={each.minute} class="crowd" d={box(each.minute + ahead, -1)} />
        ))}
        {pointed === null ? null : <path class="pointed" d={box(pointed + ahead, -1)} />}
      </svg>
      <div class="heat-foot">
        {full.length ? (
          <ul aria-label="Crowded minutes">
            {full.map((each) => (
              <li key={each.minute}>
                {moment(at(each.minute), now)} holds <strong>{number(each.count)}</strong>
              </li>
            ))}
          </ul>
        ) : (
          <span>No minute is crowded.</span>
        )}
        <span class="soft number">
          {pointed === null
            ? `${number(Math.round((total / minutes.length) * 10) / 10)} a minute if spread evenly`
            : `${moment(at(pointed), now)}: ${plural(minutes[pointed] ?? 0, "firing")}`}
        </span>
      </div>
    </div>
  );
}

function box(cell: number, margin = 0): string {
  const x = LEFT + (cell % 60) * CELL_WIDTH + 1 + margin;
  const y = TOP + Math.floor(cell / 60) * CELL_HEIGHT + 1 + margin;
  const width = CELL_WIDTH - 2 - 2 * margin;
  return `M${x} ${y}h${width}v${CELL_HEIGHT - 2 - 2 * margin}h${-width}z`;
}
