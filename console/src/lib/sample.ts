// How the team's newest firings went: from the newest records of up to a hundred of its jobs.

import { api, teamPath } from "./api.ts";
import type { JobOutcomes, JobSummary, Outcome, Page } from "./types.ts";

const JOBS = 100;
const AT_ONCE = 50;
const EACH = 20;

export interface Fired extends Outcome {
  job: string;
}

export interface Sample {
  jobs: number;
  /** Whether the team has more jobs than were looked at. */
  partial: boolean;
  firings: Fired[];
}

export async function sample(team: string): Promise<Sample> {
  const page = await api.get<Page<JobSummary>>(teamPath(team, "jobs"), { limit: JOBS });
  const names = new Map(page.items.map((job) => [job.uid, job.name]));
  const answers = await Promise.all(
    slices([...names.keys()]).map((uid) =>
      api.get<{ items: JobOutcomes[] }>(teamPath(team, "outcomes"), { uid, last: EACH }),
    ),
  );
  const firings = answers
    .flatMap((answer) => answer.items)
    .flatMap(({ uid, outcomes }) => outcomes.map((each) => ({ ...each, job: names.get(uid) ?? uid })))
    .sort((one, other) => (one.due < other.due ? 1 : -1));
  return { jobs: names.size, partial: page.next !== null, firings };
}

function slices(uids: string[]): string[][] {
  const found: string[][] = [];
  for (let start = 0; start < uids.length; start += AT_ONCE) found.push(uids.slice(start, start + AT_ONCE));
  return found;
}
