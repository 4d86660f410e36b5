// What every page needs to know: which stage, which team, and which teams this browser has seen.

import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { Session } from "./types.ts";

export interface Stage {
  session: Session;
  team: string;
}

export const StageContext = createContext<Stage | null>(null);

export function useStage(): Stage {
  const stage = useContext(StageContext);
  if (stage === null) throw new Error("a page was shown without a stage");
  return stage;
}

const TEAMS = "fencepost-teams";

/** Teams opened on this stage before, the last one first. The stage knows them all and tells them to nobody. */
export function knownTeams(endpoint: string): string[] {
  try {
    const all = JSON.parse(localStorage.getItem(TEAMS) ?? "{}") as Record<string, string[]>;
    return all[endpoint] ?? [];
  } catch {
    return [];
  }
}

export function rememberTeam(endpoint: string, team: string): void {
  try {
    const all = JSON.parse(localStorage.getItem(TEAMS) ?? "{}") as Record<string, string[]>;
    all[endpoint] = [team, ...(all[endpoint] ?? []).filter((each) => each !== team)].slice(0, 12);
    localStorage.setItem(TEAMS, JSON.stringify(all));
  } catch {
    return; // a browser that keeps nothing asks again
  }
}
