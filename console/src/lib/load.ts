// The coming day by minute: shades, and which minutes are crowded.

export interface Crowded {
  minute: number;
  count: number;
}

/** The fullest minutes that hold more than three times what an even spread would, and more than one. */
export function crowded(minutes: number[], most = 5): Crowded[] {
  const total = minutes.reduce((sum, count) => sum + count, 0);
  const limit = Math.max(1, (3 * total) / minutes.length);
  return minutes
    .map((count, minute) => ({ minute, count }))
    .filter((each) => each.count > limit)
    .sort((one, other) => other.count - one.count || one.minute - other.minute)
    .slice(0, most);
}

/** What gets the darkest shade: the fullest minute, or three times an even spread, so that an even day is not dark. */
export function darkest(minutes: number[]): number {
  const total = minutes.reduce((sum, count) => sum + count, 0);
  return Math.max((3 * total) / Math.max(1, minutes.length), ...minutes);
}

/** 0 for nothing, then 1..steps from what every minute holds up to `peak`, by the root: one peak does not hide the rest. */
export function shade(count: number, low: number, peak: number, steps: number): number {
  if (count === 0) return 0;
  const share = peak > low ? (count - low) / (peak - low) : 0;
  return Math.min(steps, 1 + Math.floor(Math.sqrt(share) * (steps - 0.001)));
}

export const EDGES = [5, 10, 25, 50, 100, 250, 500, 1000, 2000, 5000, 15_000, 60_000];

/** How many of `values` lie at or below each of EDGES and above the one before; the last counts those beyond all. */
export function histogram(values: number[]): number[] {
  const counts = new Array<number>(EDGES.length + 1).fill(0);
  for (const value of values) {
    const place = EDGES.findIndex((edge) => value <= edge);
    const at = place < 0 ? EDGES.length : place;
    counts[at] = (counts[at] ?? 0) + 1;
  }
  return counts;
}
