// Which page is shown: #/team/page/argument?query. The address alone is enough to come back.

import { useEffect, useState } from "preact/hooks";

export interface Route {
  team: string | null;
  page: string;
  argument: string | null;
  detail: string | null;
  query: URLSearchParams;
}

export function readRoute(hash: string): Route {
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split("?");
  const parts = path.split("/").filter(Boolean).map(decodeURIComponent);
  return {
    team: parts[0] ?? null,
    page: parts[1] ?? "home",
    argument: parts[2] ?? null,
    detail: parts[3] ?? null,
    query: new URLSearchParams(query),
  };
}

export function href(team: string, ...parts: string[]): string {
  return `#/${[team, ...parts].map(encodeURIComponent).join("/")}`;
}

export function useRoute(): Route {
  const [route, setRoute] = useState(() => readRoute(location.hash));
  useEffect(() => {
    const moved = () => setRoute(readRoute(location.hash));
    addEventListener("hashchange", moved);
    return () => removeEventListener("hashchange", moved);
  }, []);
  return route;
}

/** Changes what the address says about the page that is shown; an empty value goes. */
export function setQuery(changes: Record<string, string | null>): void {
  const [path = "", query = ""] = location.hash.split("?");
  const pairs = new URLSearchParams(query);
  for (const [name, value] of Object.entries(changes)) {
    if (value) pairs.set(name, value);
    else pairs.delete(name);
  }
  const text = pairs.toString();
  const hash = path + (text ? `?${text}` : "");
  history.replaceState(null, "", hash);
  dispatchEvent(new HashChangeEvent("hashchange"));
}
