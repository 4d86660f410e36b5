// What will not be tried again by itself: filtered, and sent again, one or all that fit, with the progress shown.

import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { api, type Problem, teamPath } from "../lib/api.ts";
import { useNow } from "../lib/clock.ts";
import { number, plural } from "../lib/format.ts";
import { asProblem } from "../lib/poll.ts";
import { href, setQuery } from "../lib/route.ts";
import { useStage } from "../lib/stage.ts";
import type { Execution, Page } from "../lib/types.ts";
import { because } from "../lib/words.ts";
import { BulkDialog } from "../parts/bulk.tsx";
import { Ago, Badge, Empty, Trouble, When } from "../parts/ui.tsx";

const PAGE = 100;
const MOST = 2000;
const ROWS = 50;

export function DeadLetters({ query }: { query: URLSearchParams }): JSX.Element {
  const { team } = useStage();
  const now = useNow();
  const { letters, complete, problem, reload } = useLetters(team);
  const [chosen, setChosen] = useState<Set<string>>(new Set());
  const [from, setFrom] = useState(0);
  const [sending, setSending] = useState<Execution[] | null>(null);
  const job = query.get("job") ?? "";
  const words = query.get("text") ?? "";
  const fitting = letters.filter((each) => (!job || each.job === job) && fits(each, words));
  const shown = fitting.slice(from, from + ROWS);
  const picked = fitting.filter((each) => chosen.has(each.id));
  const all = shown.length > 0 && shown.every((each) => chosen.has(each.id));
  useEffect(() => setFrom(0), [job, words]);
  const toggle = (ids: string[], on: boolean): void => {
    const next = new Set(chosen);
    for (const id of ids) {
      if (on) next.add(id);
      else next.delete(id);
    }
    setChosen(next);
  };
  const sent = picked.length ? picked : fitting;
  return (
    <>
      <div class="head">
        <div>
          <h1 tabIndex={-1}>Dead letters</h1>
          <p class="words">Executions whose attempts are used up, or whose target said never. Nothing is lost: redrive sends the same bytes again.</p>
        </div>
        <div class="actions">
          <button class="button primary" type="button" disabled={sent.length === 0} onClick={() => setSending(sent)}>
            {picked.length
              ? `Redrive ${number(picked.length)} chosen`
              : fitting.length === 1
                ? "Redrive it"
                : `Redrive all ${number(fitting.length)}`}
          </button>
        </div>
      </div>
      <Filters letters={letters} job={job} words={words} complete={complete} />
      {problem ? <Trouble problem={problem} /> : null}
      <section class="card" aria-label="Dead letters">
        {shown.length === 0 ? (
          <Empty title={letters.length ? "None fits" : "No dead letters"}>
            {letters.length ? "Take a filter away." : "Whatever was tried, was taken in the end."}
          </Empty>
        ) : (
          <div class="table">
            <table>
              <thead>
                <tr>
                  <th scope="col" class="tick">
                    <input
                      type="checkbox"
                      aria-label="Choose all on this page"
                      checked={all}
                      onChange={() => toggle(shown.map((each) => each.id), !all)}
                    />
                  </th>
                  <th scope="col">Job</th>
                  <th scope="col">Due</th>
                  <th scope="col">Last answer</th>
                  <th scope="col" class="right">
                    Attempts
                  </th>
                  <th scope="col">Died</th>
                </tr>
              </thead>
              <tbody>
                {shown.map((each) => (
                  <tr key={each.id}>
                    <td>
                      <input
                        type="checkbox"
                        aria-label={`Choose ${each.job}, due ${each.due}`}
                        checked={chosen.has(each.id)}
                        onChange={() => toggle([each.id], !chosen.has(each.id))}
                      />
                    </td>
                    <td>
                      <a class="name" href={href(team, "jobs", each.job)}>
                        {each.job}
                      </a>
                    </td>
                    <td class="nowrap">
                      <a href={href(team, "executions", each.id)}>
                        <When at={each.due} now={now} />
                      </a>
                    </td>
                    <td>
                      <LastAnswer record={each} />
                    </td>
                    <td class="right">{each.attempts.length + each.attempts_dropped}</td>
                    <td class="nowrap">{each.ended_at ? <Ago at={each.ended_at} /> : "–"}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        )}
        {fitting.length > ROWS ? (
          <nav class="pager" aria-label="Pages of dead letters">
            <button class="button plain" type="button" disabled={from === 0} onClick={() => setFrom(from - ROWS)}>
              Previous
            </button>
            <span>
              {number(from + 1)} to {number(Math.min(from + ROWS, fitting.length))} of {number(fitting.length)}
            </span>
            <button class="button plain" type="button" disabled={from + ROWS >= fitting.length} onClick={() => setFrom(from + ROWS)}>
              Next
            </button>
          </nav>
        ) : null}
      </section>
      {sending ? (
        <BulkDialog
          records={sending}
          close={() => {
            setSending(null);
            setChosen(new Set());
            void reload();
          }}
        />
      ) : null}
    </>
  );
}

function LastAnswer({ record }: { record: Execution }): JSX.Element {
  const last = record.attempts.at(-1);
  return (
    <>
      {last?.status ? <Badge tone="bad">{last.status}</Badge> : null} {last?.error ?? because(record.reason)}
      {record.reason && record.reason !== "budget_spent" ? <span class="under">{because(record.reason)}</span> : null}
    </>
  );
}

function Filters(props: { letters: Execution[]; job: string; words: string; complete: boolean }): JSX.Element {
  const jobs = [...new Set(props.letters.map((each) => each.job))].sort();
  return (
    <div class="filters" role="search" aria-label="Filter dead letters">
      <select
        aria-label="Job"
        value={props.job}
        onChange={(event) => setQuery({ job: (event.target as HTMLSelectElement).value })}
      >
        <option value="">Every job</option>
        {jobs.map((each) => (
          <option key={each}>{each}</option>
        ))}
      </select>
      <input
        class="input wide"
        type="search"
        aria-label="Words of the answer"
        placeholder="Status or words of the answer"
        value={props.words}
        onInput={(event) => setQuery({ text: (event.target as HTMLInputElement).value })}
      />
      <span class="soft">
        {plural(props.letters.length, "dead letter")}
        {props.complete ? "" : ", and older ones"}
      </span>
    </div>
  );
}

function fits(record: Execution, words: string): boolean {
  const last = record.attempts.at(-1);
  const text = `${last?.status ?? ""} ${last?.error ?? ""} ${last?.excerpt ?? ""} ${record.reason ?? ""}`.toLowerCase();
  return words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

function useLetters(team: string) {
  const [letters, setLetters] = useState<Execution[]>([]);
  const [complete, setComplete] = useState(true);
  const [problem, setProblem] = useState<Problem | null>(null);
  const reload = async (): Promise<void> => {
    try {
      const found: Execution[] = [];
      let cursor: string | null = null;
      do {
        const page: Page<Execution> = await api.get(teamPath(team, "dead-letters"), { limit: PAGE, cursor });
        found.push(...page.items);
        cursor = page.next;
      } while (cursor !== null && found.length < MOST);
      setLetters(found);
      setComplete(cursor === null);
      setProblem(null);
    } catch (error) {
      setProblem(asProblem(error));
    }
  };
  useEffect(() => {
    void reload();
    const again = setInterval(() => document.visibilityState === "visible" && void reload(), 15_000);
    return () => clearInterval(again);
  }, [team]);
  return { letters, complete, problem, reload };
}
