// The fields of a job.

import type { JSX } from "preact";
import type { Draft, Kind } from "../lib/draft.ts";
import { Card, Segments, SelectField, TextField } from "./ui.tsx";

const KINDS = [
  ["cron", "Cron"],
  ["every", "Interval"],
  ["at", "Once"],
] as const satisfies readonly (readonly [Kind, string])[];

const TIERS = [
  ["critical", "critical: first when slots are scarce"],
  ["standard", "standard"],
  ["bulk", "bulk: last when slots are scarce"],
] as const;

const MISFIRES = [
  ["run_once_late", "run once late for all that was missed"],
  ["skip", "skip what was missed"],
  ["catch_up", "catch up every missed run, in order"],
] as const;

const OVERLAPS = [
  ["allow", "allow: start beside the one before"],
  ["skip", "skip while the one before is under way"],
  ["queue", "queue behind the one before"],
] as const;

interface Props {
  draft: Draft;
  change: (some: Partial<Draft>) => void;
  faults: Record<string, string>;
  named: boolean;
}

export function JobForm({ draft, change, faults, named }: Props): JSX.Element {
  return (
    <>
      <Card title="Job">
        <div class="form">
          <TextField
            label="Name"
            value={draft.name}
            change={(name) => change({ name: name.trim() })}
            fault={faults["name"] ?? faults["job"]}
            help={named ? "A name stays." : "Lower-case letters, digits and dashes."}
            disabled={named}
            placeholder="nightly-report"
            max={63}
          />
          <TextField
            label="Description"
            value={draft.description}
            change={(description) => change({ description })}
            fault={faults["description"]}
            max={1000}
          />
        </div>
      </Card>
      <Card title="When">
        <div class="form">
          <Segments label="Kind of schedule" value={draft.kind} options={KINDS} change={(kind) => change({ kind })} />
          <When draft={draft} change={change} faults={faults} />
        </div>
      </Card>
      <Card title="Where to, and what">
        <div class="form">
          <TextField
            label="Webhook"
            value={draft.url}
            change={(url) => change({ url: url.trim() })}
            fault={faults["url"] ?? faults["target"] ?? faults["target.webhook.url"]}
            placeholder="https://example.com/hook"
            keys="url"
          />
          {draft.url ? null : (
            <TextField
              label="Or another target, as JSON"
              value={draft.target}
              change={(target) => change({ target })}
              fault={faults["target"]}
              help={<code>{'{"sqs": {"queue_url": "https://sqs…"}}'}</code>}
              rows={3}
              mono
            />
          )}
          <TextField
            label="Payload, as JSON"
            value={draft.payload}
            change={(payload) => change({ payload })}
            fault={faults["payload"]}
            rows={5}
            mono
          />
        </div>
      </Card>
      <Card title="Policies">
        <div class="form">
          <div class="row">
            <SelectField label="Tier" value={draft.tier} options={TIERS} change={(tier) => change({ tier })} />
            <SelectField label="Overlap" value={draft.overlap} options={OVERLAPS} change={(overlap) => change({ overlap })} />
          </div>
          <div class="row">
            <SelectField label="Missed runs" value={draft.misfire} options={MISFIRES} change={(misfire) => change({ misfire })} />
            <TextField
              label="Attempts at most"
              value={draft.attempts}
              change={(attempts) => change({ attempts })}
              fault={faults["retry.max_attempts"]}
              keys="numeric"
            />
          </div>
          <TextField
            label="Labels"
            value={draft.labels}
            change={(labels) => change({ labels })}
            fault={faults["labels"]}
            placeholder="app:ledger env:prod"
          />
        </div>
      </Card>
    </>
  );
}

function When({ draft, change, faults }: Omit<Props, "named">): JSX.Element {
  switch (draft.kind) {
    case "cron":
      return (
        <div class="row">
          <TextField
            label="Expression"
            value={draft.cron}
            change={(cron) => change({ cron })}
            fault={faults["schedule.cron"]}
            help="Minute, hour, day of month, month, weekday."
            mono
          />
          <TextField
            label="Time zone"
            value={draft.timezone}
            change={(timezone) => change({ timezone: timezone.trim() })}
            fault={faults["schedule.timezone"]}
            placeholder="Europe/Berlin"
          />
        </div>
      );
    case "every":
      return (
        <TextField
          label="Every"
          value={draft.every}
          change={(every) => change({ every: every.trim().toUpperCase() })}
          fault={faults["schedule.every"]}
          help="An ISO 8601 duration: PT30S, PT15M, P1D."
          mono
        />
      );
    case "at":
      return (
        <TextField
          label="At"
          value={draft.at}
          change={(at) => change({ at: at.trim() })}
          fault={faults["schedule.at"]}
          placeholder="2027-01-01T09:00:00Z"
          help="One instant, with its offset."
          mono
        />
      );
  }
}
