// The beginning: who are we talking to, which team, which page.

import { type JSX, render } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { api, type Problem } from "./lib/api.ts";
import { setClock } from "./lib/clock.ts";
import { asProblem } from "./lib/poll.ts";
import { href, type Route, useRoute } from "./lib/route.ts";
import { rememberTeam, StageContext } from "./lib/stage.ts";
import { applyTheme } from "./lib/theme.ts";
import type { Session } from "./lib/types.ts";
import { DeadLetters } from "./pages/dead_letters.tsx";
import { ExecutionPage } from "./pages/execution.tsx";
import { Home } from "./pages/home.tsx";
import { EditJob, NewJob } from "./pages/edit.tsx";
import { JobPage } from "./pages/job.tsx";
import { Jobs } from "./pages/jobs.tsx";
import { TeamPage } from "./pages/team.tsx";
import { Welcome } from "./pages/welcome.tsx";
import { Shell } from "./parts/shell.tsx";
import { Toast } from "./parts/toast.tsx";
import { Trouble } from "./parts/ui.tsx";

const CLOCK_EVERY = 60_000;

function App(): JSX.Element | null {
  const route = useRoute();
  const [session, setSession] = useState<Session | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  useEffect(() => {
    api.session().then(setSession, (error) => setProblem(asProblem(error)));
  }, []);
  useEffect(() => {
    if (!session) return;
    const set = (): void => void setClock().catch(() => undefined); // the page that is shown tells why
    set();
    const again = setInterval(set, CLOCK_EVERY);
    return () => clearInterval(again);
  }, [session]);
  useEffect(() => {
    if (session?.team && route.team === null && location.hash === "") location.replace(href(session.team));
  }, [session, route.team]);
  useTitle(route);
  if (problem) return <Shut problem={problem} />;
  if (!session) return null;
  if (route.team === null) return location.hash === "" && session.team ? null : <Welcome session={session} />;
  rememberTeam(session.endpoint, route.team);
  return (
    <StageContext.Provider value={{ session, team: route.team }}>
      <Shell page={placeOf(route.page)} key={route.team}>
        <Shown route={route} />
      </Shell>
      <Toast />
    </StageContext.Provider>
  );
}

function Shown({ route }: { route: Route }): JSX.Element {
  const { page, argument, detail } = route;
  switch (page) {
    case "home":
      return <Home />;
    case "jobs":
      if (argument === null) return <Jobs query={route.query} />;
      return detail === "edit" ? <EditJob key={argument} name={argument} /> : <JobPage key={argument} name={argument} />;
    case "new":
      return <NewJob />;
    case "executions":
      return <ExecutionPage key={argument} id={argument ?? ""} />;
    case "dead-letters":
      return <DeadLetters query={route.query} />;
    case "team":
      return <TeamPage />;
    default:
      return (
        <div>
          <h1 tabIndex={-1}>There is no such page</h1>
          <p class="words">The address names none of the console's.</p>
        </div>
      );
  }
}

function placeOf(page: string): string {
  return page === "executions" || page === "new" ? "jobs" : page;
}

function useTitle(route: Route): void {
  const name = route.argument ?? (route.page === "home" ? "" : route.page.replace("-", " "));
  const place = `${route.team}/${route.page}/${route.argument}/${route.detail}`;
  useEffect(() => {
    document.title = [name, route.team, "Fencepost"].filter(Boolean).join(" · ");
  }, [name, route.team]);
  const came = useRef(place);
  useEffect(() => {
    if (came.current === place) return; // who opens the page begins at its beginning
    came.current = "";
    scrollTo(0, 0);
    document.querySelector<HTMLElement>("h1")?.focus({ preventScroll: true });
  }, [place]);
}

function Shut({ problem }: { problem: Problem }): JSX.Element {
  return (
    <main class="notice">
      <h1>{problem.status === 401 ? "This page has no key" : "The console cannot start"}</h1>
      {problem.status === 401 ? <p>{problem.message}</p> : <Trouble problem={problem} />}
    </main>
  );
}

applyTheme();
render(<App />, document.getElementById("app") as HTMLElement);
