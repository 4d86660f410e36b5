// Instants, spans and numbers as people read them. Instants are shown in UTC, which every schedule shares.

const DAYS = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];
const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

const two = (value: number): string => String(value).padStart(2, "0");

/** 14:03:05; with milliseconds where asked. */
export function clock(at: string | number, milliseconds = false): string {
  const date = new Date(at);
  const time = `${two(date.getUTCHours())}:${two(date.getUTCMinutes())}:${two(date.getUTCSeconds())}`;
  return milliseconds ? `${time}.${String(date.getUTCMilliseconds()).padStart(3, "0")}` : time;
}

/** 14:03, and the seconds only where there are any. */
export function shortClock(at: string | number): string {
  const time = clock(at);
  return time.endsWith(":00") ? time.slice(0, 5) : time;
}

/** Thu 12 Mar; with the year where it is not this one. */
export function day(at: string | number, now: number): string {
  const date = new Date(at);
  const year = date.getUTCFullYear() === new Date(now).getUTCFullYear() ? "" : ` ${date.getUTCFullYear()}`;
  return `${DAYS[date.getUTCDay()]} ${date.getUTCDate()} ${MONTHS[date.getUTCMonth()]}${year}`;
}

/** The time, and the day where it is not today. */
export function moment(at: string | number, now: number): string {
  const today = new Date(at).toISOString().slice(0, 10) === new Date(now).toISOString().slice(0, 10);
  return today ? shortClock(at) : `${day(at, now)}, ${shortClock(at)}`;
}

/** 2026-03-12 14:03:05.120 UTC, for where nothing may be left out. */
export function exact(at: string | number): string {
  return `${new Date(at).toISOString().slice(0, 10)} ${clock(at, true)} UTC`;
}

/** A wall-clock instant with its offset, as the service tells it: Thu 12 Mar, 02:30 +01:00. */
export function wall(local: string): string {
  const [date = "", rest = ""] = local.split("T");
  const time = rest.slice(0, 8).replace(/:00$/, "");
  const offset = /(Z|[+-]\d\d:\d\d)$/.exec(rest)?.[0] ?? "";
  const at = new Date(`${date}T00:00:00Z`);
  return `${DAYS[at.getUTCDay()]} ${at.getUTCDate()} ${MONTHS[at.getUTCMonth()]}, ${time} ${/^(Z|[+-]00:00)$/.test(offset) ? "UTC" : offset}`;
}

/** The two largest units of a span: 2 d 3 h, 4 min 5 s, 12 s. */
export function span(milliseconds: number): string {
  const seconds = Math.max(0, Math.round(milliseconds / 1000));
  const parts: [number, string][] = [
    [Math.floor(seconds / 86_400), "d"],
    [Math.floor(seconds / 3600) % 24, "h"],
    [Math.floor(seconds / 60) % 60, "min"],
    [seconds % 60, "s"],
  ];
  const first = parts.findIndex(([value]) => value > 0);
  if (first < 0) return "0 s";
  return parts
    .slice(first, first + 2)
    .filter(([value]) => value > 0)
    .map(([value, unit]) => `${value} ${unit}`)
    .join(" ");
}

/** What counts down: 04:05, 1:02:03, 2 d 3 h. */
export function countdown(milliseconds: number): string {
  if (milliseconds >= DAY) return span(milliseconds);
  const seconds = Math.max(0, Math.ceil(milliseconds / 1000));
  const hours = Math.floor(seconds / 3600);
  const rest = `${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
  return hours ? `${hours}:${rest}` : rest;
}

export function ago(at: string | number, now: number): string {
  const passed = now - new Date(at).getTime();
  return passed < 1000 ? "just now" : `${span(passed)} ago`;
}

/** How late, in the unit that fits: 84 ms, 1.25 s, 3 min 2 s. */
export function lateness(milliseconds: number): string {
  if (milliseconds < 1000) return `${milliseconds} ms`;
  if (milliseconds < 10_000) return `${(milliseconds / 1000).toFixed(2)} s`;
  if (milliseconds < MINUTE) return `${(milliseconds / 1000).toFixed(1)} s`;
  return span(milliseconds);
}

const NUMBERS = new Intl.NumberFormat("en-GB");

export function number(value: number): string {
  return NUMBERS.format(value);
}

/** 12.4 k, 3.1 M, where the exact number would only be noise. */
export function rough(value: number): string {
  if (value < 10_000) return number(value);
  if (value < 1_000_000) return `${(value / 1000).toFixed(value < 100_000 ? 1 : 0)} k`;
  return `${(value / 1_000_000).toFixed(1)} M`;
}

/** A share in per cent that never rounds a fault away: 100 % only where all are. */
export function percent(part: number, whole: number): string {
  if (whole === 0) return "–";
  const share = (part / whole) * 100;
  if (part < whole && share > 99.95) return "> 99.9 %";
  return `${share === 100 || share === 0 ? share : share.toFixed(share >= 99 ? 2 : 1)} %`;
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${number(count)} ${count === 1 ? one : many}`;
}

export function percentile(ordered: number[], percent: number): number {
  return ordered[Math.max(0, Math.ceil((ordered.length * percent) / 100) - 1)] ?? 0;
}
