// What a page shows is asked for again while it is looked at.

import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { Problem } from "./api.ts";

export interface Polled<T> {
  data: T | null;
  problem: Problem | null;
  reload: () => Promise<void>;
}

/** `load` at once, whenever `key` changes, and every `seconds` while the page is visible. Late answers to an earlier
 * question are dropped; what was known stays while the next answer is awaited. */
export function usePoll<T>(load: () => Promise<T>, key: string, seconds: number): Polled<T> {
  const [state, setState] = useState<{ key: string; data: T | null; problem: Problem | null }>({
    key,
    data: null,
    problem: null,
  });
  const latest = useRef({ load, key, turn: 0 });
  latest.current.load = load;
  latest.current.key = key;

  const reload = useCallback(async () => {
    const turn = ++latest.current.turn;
    const asked = latest.current.key;
    try {
      const data = await latest.current.load();
      if (turn === latest.current.turn) setState({ key: asked, data, problem: null });
    } catch (error) {
      if (turn !== latest.current.turn) return;
      setState((before) => ({ key: asked, data: before.key === asked ? before.data : null, problem: asProblem(error) }));
    }
  }, []);

  useEffect(() => {
    void reload();
    const again = setInterval(() => {
      if (document.visibilityState === "visible") void reload();
    }, seconds * 1000);
    return () => clearInterval(again);
  }, [key, seconds, reload]);

  const current = state.key === key;
  return { data: current ? state.data : null, problem: current ? state.problem : null, reload };
}

export function asProblem(error: unknown): Problem {
  return error instanceof Problem ? error : new Problem(0, "bug", String(error));
}
