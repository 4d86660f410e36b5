import assert from "node:assert/strict";
import { test } from "node:test";
import { asCommand, asCurl, asYaml, brief, declaration, yaml } from "./copying.ts";
import { differences } from "./diff.ts";
import { countdown, lateness, moment, percent, rough, span, wall } from "./format.ts";
import { crowded, histogram, shade } from "./load.ts";
import { readRoute } from "./route.ts";
import { stretches, totals } from "./split.ts";
import type { Execution, Job } from "./types.ts";

const NOW = Date.parse("2026-03-12T14:03:05Z");

test("spans show their two largest units", () => {
  assert.deepEqual([0, 999, 61_000, 3_600_000, 90_061_000].map(span), ["0 s", "1 s", "1 min 1 s", "1 h", "1 d 1 h"]);
});

test("a countdown ends at zero and never below", () => {
  assert.deepEqual([-5, 1, 65_000, 3_723_000, 93_600_000].map(countdown), ["00:00", "00:01", "01:05", "1:02:03", "1 d 2 h"]);
});

test("lateness takes the unit that fits", () => {
  assert.deepEqual([84, 1250, 12_340, 182_000].map(lateness), ["84 ms", "1.25 s", "12.3 s", "3 min 2 s"]);
});

test("a share never rounds a fault away", () => {
  assert.deepEqual(
    [percent(1, 1), percent(99_999, 100_000), percent(0, 4), percent(0, 0), percent(2, 3)],
    ["100 %", "> 99.9 %", "0 %", "–", "66.7 %"],
  );
});

test("an instant of today goes without its day, one of another year with the year", () => {
  assert.equal(moment("2026-03-12T09:00:00Z", NOW), "09:00");
  assert.equal(moment("2026-03-13T09:00:05Z", NOW), "Fri 13 Mar, 09:00:05");
  assert.equal(moment("2027-01-01T00:00:00Z", NOW), "Fri 1 Jan 2027, 00:00");
  assert.equal(wall("2026-03-29T03:00:00+02:00"), "Sun 29 Mar, 03:00 +02:00");
  assert.equal(rough(123_456), "123 k");
});

test("crowded are the minutes above three times an even spread", () => {
  const minutes = new Array<number>(1440).fill(1);
  minutes[0] = 50;
  assert.deepEqual(crowded(minutes), [{ minute: 0, count: 50 }]);
  assert.deepEqual(crowded(new Array<number>(1440).fill(9)), []);
  assert.deepEqual([shade(0, 0, 9, 5), shade(1, 0, 10_000, 5), shade(99, 0, 99, 5), shade(9, 9, 27, 5)], [0, 1, 5, 1]);
  assert.deepEqual(histogram([1, 5, 6, 70_000]), [2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
});

test("differences are told by their path, and what the service counts is not one", () => {
  const before = { revision: 1, schedule: { cron: "0 1 * * *", timezone: "UTC" }, labels: { a: "1" } };
  const after = { revision: 2, schedule: { cron: "0 2 * * *", timezone: "UTC" }, labels: { a: "1" }, tier: "bulk" };
  assert.deepEqual(differences(before, after), [
    { field: "schedule.cron", before: "0 1 * * *", after: "0 2 * * *" },
    { field: "tier", before: undefined, after: "bulk" },
  ]);
});

const at = (second: number): string => new Date(NOW + second * 1000).toISOString();

function record(facts: Partial<Execution>): Execution {
  const attempt = { number: 1, fence: 1, started_at: at(3), ended_at: at(5), outcome: "failed", status: 500, error: null, excerpt: null };
  return {
    id: "x", team: "t", job: "j", due: at(0), state: "SUCCEEDED", reason: null, note: null, origin: "schedule",
    tier: "standard", generation: 1, claimed_at: at(-60), waited_from: null, started_at: at(3), ended_at: at(5), retry_at: null,
    lease_until: null, lateness_ms: 3000, fence: 1, coalesced: null, attempts: [attempt], attempts_dropped: 0, actor: null,
    ...facts,
  };
}

test("the time of an execution is split without a gap", () => {
  const waited = record({ waited_from: at(1) });
  assert.deepEqual(totals(stretches(waited, NOW)), { ours: 1000, quota: 2000, target: 2000, retry: 0 });
  const first = waited.attempts[0];
  assert.ok(first);
  const again = record({ attempts: [first, { ...first, number: 2, started_at: at(15), ended_at: at(16) }], ended_at: at(16) });
  const found = stretches(again, NOW);
  assert.deepEqual(totals(found), { ours: 3000, quota: 0, target: 3000, retry: 10_000 });
  assert.ok(found.every((each, place) => each.from === (found[place - 1]?.to ?? NOW)));
  assert.deepEqual(totals(stretches(record({ attempts: [], started_at: null, ended_at: null, waited_from: at(1) }), NOW + 9000)), {
    ours: 1000, quota: 8000, target: 0, retry: 0,
  });
});

const JOB = {
  team: "payments", name: "nightly", schedule: { cron: "30 2 * * *", timezone: "Europe/Berlin", end_at: null },
  target: { webhook: { url: "https://example.com/it's" } }, payload: { rows: [1, { a: "yes" }], empty: [] }, tier: "standard",
  retry: { max_attempts: 3, initial_delay_seconds: 10, multiplier: 2, max_delay_seconds: 3600 },
  misfire: { policy: "run_once_late", window_seconds: 86_400, max_runs: 1 }, overlap: "allow", lease_seconds: 300,
  max_run_seconds: 3600, description: "", labels: {}, notify_on: null, pause_after_dead: null, delete_after_completion: false,
  keep_newest: null,
} as unknown as Job;
const SESSION = { endpoint: "https://x.example.com/prod", team: null, region: "eu-central-1", local: false };

test("what is so by default is not written down", () => {
  assert.deepEqual(Object.keys(brief(declaration(JOB))), ["schedule", "target", "payload", "retry"]);
});

test("a job as a file of jobs, as a command, for curl", () => {
  assert.equal(
    asYaml(JOB),
    `version: 1
team: payments
jobs:
  nightly:
    schedule:
      cron: "30 2 * * *"
      timezone: Europe/Berlin
    target:
      webhook:
        url: "https://example.com/it's"
    payload:
      rows:
        - 1
        - a: "yes"
      empty: []
    retry:
      max_attempts: 3
      initial_delay_seconds: 10
      multiplier: 2
      max_delay_seconds: 3600
`,
  );
  assert.match(asCommand(JOB, SESSION), /^fencepost job put nightly --team payments --endpoint \S+ --file - <<'YAML'\nschedule:/);
  assert.match(asCurl(JOB, SESSION), /it'\\''s/);
  assert.equal(yaml({}), "{}\n");
});

test("an address is read as it is written", () => {
  const route = readRoute("#/payments/jobs/nightly?state=PAUSED");
  assert.deepEqual([route.team, route.page, route.argument, route.query.get("state")], ["payments", "jobs", "nightly", "PAUSED"]);
  assert.deepEqual([readRoute("").team, readRoute("#/demo").page], [null, "home"]);
});
