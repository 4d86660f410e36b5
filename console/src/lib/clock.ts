// The service's clock: what counts down here must reach zero when the service says so, whatever this machine thinks.

import { useEffect, useState } from "preact/hooks";
import { api } from "./api.ts";
import type { Health } from "./types.ts";

let ahead = 0;
let known: Health | null = null;
const listeners = new Set<() => void>();

export function serverNow(): number {
  return Date.now() + ahead;
}

export function lastHealth(): Health | null {
  return known;
}

/** Asks once; half of the way there and back lies before the answer was written. */
export async function setClock(): Promise<void> {
  const asked = Date.now();
  const health = await api.health();
  ahead = Date.parse(health.now) - (asked + Date.now()) / 2;
  known = health;
  for (const tell of listeners) tell();
}

const ticking = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;

/** The service's present, once a second, from one timer for the whole page. */
export function useNow(): number {
  const [now, setNow] = useState(serverNow);
  useEffect(() => {
    const tick = () => setNow(serverNow());
    ticking.add(tick);
    timer ??= setInterval(() => {
      for (const each of ticking) each();
    }, 1000);
    return () => {
      ticking.delete(tick);
      if (ticking.size === 0) {
        clearInterval(timer);
        timer = undefined;
      }
    };
  }, []);
  return now;
}

export function useHealth(): Health | null {
  const [health, setHealth] = useState(known);
  useEffect(() => {
    const told = () => setHealth(known);
    listeners.add(told);
    return () => void listeners.delete(told);
  }, []);
  return health;
}
