// The coming day of a whole team, however many jobs it has: pages of a thousand, added up as they come.

import { useEffect, useState } from "preact/hooks";
import { api, type Problem, teamPath } from "./api.ts";
import { asProblem } from "./poll.ts";
import type { Forecast, JobState } from "./types.ts";

const AGAIN = 300_000;

export interface Outlook {
  start: string;
  minutes: number[];
  states: { [state in JobState]?: number };
  troubled: Forecast["troubled"];
  jobs: number;
  complete: boolean;
}

export function useForecast(team: string): { outlook: Outlook | null; problem: Problem | null } {
  const [outlook, setOutlook] = useState<Outlook | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  useEffect(() => {
    let wanted = true;
    const count = async (): Promise<void> => {
      let sum: Outlook | null = null;
      let cursor: string | null = null;
      do {
        const page: Forecast = await api.get<Forecast>(teamPath(team, "forecast"), { cursor });
        if (!wanted) return;
        sum = added(sum, page);
        cursor = page.next;
        const whole = sum;
        setOutlook((before) => (before?.complete && !whole.complete ? before : whole));
      } while (cursor !== null);
    };
    const run = (): void => void count().catch((error) => wanted && setProblem(asProblem(error)));
    run();
    const again = setInterval(run, AGAIN);
    return () => {
      wanted = false;
      clearInterval(again);
    };
  }, [team]);
  return { outlook, problem };
}

function added(sum: Outlook | null, page: Forecast): Outlook {
  const states = { ...sum?.states };
  let jobs = sum?.jobs ?? 0;
  for (const [state, count] of Object.entries(page.states) as [JobState, number][]) {
    states[state] = (states[state] ?? 0) + count;
    jobs += count;
  }
  return {
    start: sum?.start ?? page.start,
    minutes: sum ? sum.minutes.map((count, minute) => count + (page.minutes[minute] ?? 0)) : page.minutes,
    states,
    troubled: [...(sum?.troubled ?? []), ...page.troubled],
    jobs,
    complete: page.next === null,
  };
}
