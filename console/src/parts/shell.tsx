// What stands around every page: the brand, the team, the way, and the service's clock.

import type { ComponentChildren, JSX } from "preact";
import { useState } from "preact/hooks";
import { api, teamPath } from "../lib/api.ts";
import { useHealth, useNow } from "../lib/clock.ts";
import { clock, day } from "../lib/format.ts";
import { usePoll } from "../lib/poll.ts";
import { href } from "../lib/route.ts";
import { knownTeams, useStage } from "../lib/stage.ts";
import { chooseTheme, chosenTheme, type Theme } from "../lib/theme.ts";
import type { Execution, Page } from "../lib/types.ts";

const PLACES = [
  { page: "home", name: "Home", icon: "M2 7.5 8 2.5l6 5V14H2zM6 14V9.500h4V14" },
  { page: "jobs", name: "Jobs", icon: "M2 4h12M2 8h12M2 12h8" },
  { page: "dead-letters", name: "Dead letters", icon: "M2 3.500h12v9H2zM2 4l6 5 6-5" },
  { page: "team", name: "Team", icon: "M3.500 14V5l2-2 2 2v9M8.500 14V5l2-2 2 2v9M1.500 9h13" },
] as const;

export function Logo(): JSX.Element {
  return (
    <svg viewBox="0 0 32 32" aria-hidden="true">
      <path d="M4 9.500 6.500 6 9 9.500V27H4zM13.500 9.500 16 6l2.500 3.500V27h-5zM23 9.500 25.500 6 28 9.500V27h-5z" />
      <path d="M1 14h30v3H1z" />
    </svg>
  );
}

export function Shell({ page, children }: { page: string; children: ComponentChildren }): JSX.Element {
  const { team } = useStage();
  const dead = useDeadCount(team);
  return (
    <>
      <a class="skip" href="#main" onClick={toMain}>
        Skip to the page
      </a>
      <div class="shell">
        <header class="side">
          <a class="brand" href={href(team)}>
            <Logo />
            Fencepost
          </a>
          <TeamSwitcher />
          <nav class="nav" aria-label="Pages">
            {PLACES.map((place) => (
              <a
                key={place.page}
                href={place.page === "home" ? href(team) : href(team, place.page)}
                aria-current={place.page === page ? "page" : undefined}
              >
                <svg viewBox="0 0 16 16" aria-hidden="true">
                  <path d={place.icon} />
                </svg>
                {place.name}
                {place.page === "dead-letters" && dead ? (
                  <span class="count" aria-label={`${dead} dead letters`}>
                    {dead}
                  </span>
                ) : null}
              </a>
            ))}
          </nav>
          <Foot />
        </header>
        <main id="main" class="main" tabIndex={-1}>
          <div class="page">{children}</div>
        </main>
      </div>
    </>
  );
}

function toMain(event: Event): void {
  event.preventDefault();
  document.getElementById("main")?.focus();
}

function useDeadCount(team: string): string | null {
  const { data } = usePoll(
    () => api.get<Page<Execution>>(teamPath(team, "dead-letters"), { limit: 100 }),
    `dead ${team}`,
    20,
  );
  if (!data || data.items.length === 0) return null;
  return data.next ? `${data.items.length}+` : String(data.items.length);
}

function TeamSwitcher(): JSX.Element {
  const { session, team } = useStage();
  const teams = [...new Set([team, ...knownTeams(session.endpoint)])];
  return (
    <div class="switcher">
      <label class="unseen" for="team">
        Team
      </label>
      <select
        id="team"
        value={team}
        onChange={(event) => {
          const chosen = (event.target as HTMLSelectElement).value;
          location.hash = chosen ? href(chosen) : "#/";
        }}
      >
        {teams.map((each) => (
          <option key={each} value={each}>
            {each}
          </option>
        ))}
        <option value="">Another team…</option>
      </select>
    </div>
  );
}

function Foot(): JSX.Element {
  const { session } = useStage();
  const now = useNow();
  const health = useHealth();
  const [theme, setTheme] = useState<Theme>(chosenTheme);
  const choose = (chosen: Theme): void => {
    chooseTheme(chosen);
    setTheme(chosen);
  };
  return (
    <div class="foot">
      <div>
        <div class="clock">
          <time>{clock(now)}</time> <small>UTC</small>
        </div>
        <div class="date">{day(now, now)}, service clock</div>
      </div>
      <div class="endpoint" title={session.endpoint}>
        {session.endpoint.replace(/^https?:\/\//, "")}
        {health && health.status !== "ok" ? <strong class="tone-late"> · {health.status}</strong> : null}
      </div>
      <div class="themes" role="group" aria-label="Theme">
        {(["system", "light", "dark"] as const).map((each) => (
          <button key={each} type="button" aria-pressed={theme === each} onClick={() => choose(each)}>
            {each}
          </button>
        ))}
      </div>
    </div>
  );
}
