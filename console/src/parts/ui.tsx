// The small pieces that every page is made of.

import type { ComponentChildren, JSX } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import type { Fault, Problem } from "../lib/api.ts";
import { useNow } from "../lib/clock.ts";
import { ago, countdown, exact, moment } from "../lib/format.ts";
import type { ExecutionState, JobState } from "../lib/types.ts";
import { JOB_STATES, STATES, type Tone, toneOf } from "../lib/words.ts";

type Children = { children?: ComponentChildren };

export function Badge({ tone, children }: Children & { tone: Tone }): JSX.Element {
  return <span class={`badge tone-${tone}`}>{children}</span>;
}

export function StateBadge({ state, lateness = null }: { state: ExecutionState; lateness?: number | null }) {
  return <Badge tone={toneOf(state, lateness)}>{STATES[state].word}</Badge>;
}

export function JobBadge({ state }: { state: JobState }): JSX.Element {
  return <Badge tone={JOB_STATES[state].tone}>{JOB_STATES[state].word}</Badge>;
}

export function Card(props: Children & { title: string; aside?: ComponentChildren; bare?: boolean }): JSX.Element {
  const id = useId();
  return (
    <section class="card" aria-labelledby={id}>
      <header>
        <h2 id={id}>{props.title}</h2>
        {props.aside ? <div class="soft">{props.aside}</div> : null}
      </header>
      {props.bare ? props.children : <div class="body">{props.children}</div>}
    </section>
  );
}

export function Trouble({ problem }: { problem: Problem }): JSX.Element {
  return (
    <div class="trouble" role="alert">
      <strong>{problem.message}</strong>
      <Faults faults={problem.faults} />
    </div>
  );
}

function Faults({ faults }: { faults: Fault[] }): JSX.Element | null {
  if (faults.length === 0) return null;
  return (
    <ul>
      {faults.map((fault) => (
        <li key={fault.field + fault.rule}>
          <code>{fault.field}</code> {fault.rule}
          {fault.suggestion ? (
            <>
              ; try <code>{fault.suggestion}</code>
            </>
          ) : null}
        </li>
      ))}
    </ul>
  );
}

export function Empty({ title, children }: Children & { title: string }): JSX.Element {
  return (
    <div class="empty">
      <strong>{title}</strong>
      {children}
    </div>
  );
}

/** An instant as people read it; the exact one on pointing at it. */
export function When({ at, now }: { at: string; now: number }): JSX.Element {
  return (
    <time dateTime={at} title={exact(at)}>
      {moment(at, now)}
    </time>
  );
}

export function Ago({ at }: { at: string }): JSX.Element {
  const now = useNow();
  return (
    <time dateTime={at} title={exact(at)}>
      {ago(at, now)}
    </time>
  );
}

/** Counts down on the service's clock. */
export function Countdown({ at }: { at: string }): JSX.Element {
  const left = Date.parse(at) - useNow();
  return (
    <time dateTime={at} title={exact(at)}>
      {left <= 0 ? "due now" : countdown(left)}
    </time>
  );
}

export function Field(props: {
  label: string;
  help?: ComponentChildren;
  fault?: string | undefined;
  children: (names: { id: string; describedBy: string | undefined; invalid: boolean }) => ComponentChildren;
}): JSX.Element {
  const id = useId();
  const about = props.fault || props.help ? `${id}-about` : undefined;
  return (
    <div class="field">
      <label for={id}>{props.label}</label>
      {props.children({ id, describedBy: about, invalid: props.fault !== undefined })}
      {about ? (
        <div id={about} class={props.fault ? "fault" : "help"}>
          {props.fault ?? props.help}
        </div>
      ) : null}
    </div>
  );
}

export function TextField(props: {
  label: string;
  value: string;
  change: (value: string) => void;
  help?: ComponentChildren;
  fault?: string | undefined;
  placeholder?: string;
  mono?: boolean;
  keys?: "text" | "url" | "numeric";
  rows?: number;
  max?: number;
  disabled?: boolean;
  autoFocus?: boolean;
}): JSX.Element {
  const heard = (event: Event): void => props.change((event.target as HTMLInputElement).value);
  return (
    <Field label={props.label} help={props.help} fault={props.fault}>
      {({ id, describedBy, invalid }) => {
        const common = {
          id,
          value: props.value,
          onInput: heard,
          placeholder: props.placeholder ?? "",
          "aria-describedby": describedBy,
          "aria-invalid": invalid || undefined,
          maxLength: props.max,
          disabled: props.disabled,
          spellcheck: false,
          autocomplete: "off",
          "data-focus": props.autoFocus ? "" : undefined,
        } as const;
        return props.rows ? (
          <textarea {...common} class={props.mono ? "mono" : ""} rows={props.rows} />
        ) : (
          <input {...common} class={`input ${props.mono ? "mono" : ""}`} type="text" inputMode={props.keys ?? "text"} />
        );
      }}
    </Field>
  );
}

export function SelectField<T extends string>(props: {
  label: string;
  value: T;
  options: readonly (readonly [T, string])[];
  change: (value: T) => void;
  help?: ComponentChildren;
}): JSX.Element {
  return (
    <Field label={props.label} help={props.help}>
      {({ id, describedBy }) => (
        <select
          id={id}
          value={props.value}
          aria-describedby={describedBy}
          onChange={(event) => props.change((event.target as HTMLSelectElement).value as T)}
        >
          {props.options.map(([value, says]) => (
            <option key={value} value={value}>
              {says}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

export function Segments<T extends string>(props: {
  label: string;
  value: T;
  options: readonly (readonly [T, string])[];
  change: (value: T) => void;
}): JSX.Element {
  return (
    <div class="segments" role="group" aria-label={props.label}>
      {props.options.map(([value, says]) => (
        <button key={value} type="button" aria-pressed={value === props.value} onClick={() => props.change(value)}>
          {says}
        </button>
      ))}
    </div>
  );
}

/** The browser's own modal dialog: it keeps the focus, and Escape closes it. */
export function Dialog(props: Children & { title: string; close: () => void; wide?: boolean }): JSX.Element {
  const element = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const dialog = element.current;
    if (!dialog) return;
    const before = document.activeElement as HTMLElement | null;
    dialog.showModal();
    dialog.querySelector<HTMLElement>("[data-focus]")?.focus();
    return () => {
      dialog.close();
      requestAnimationFrame(() => before?.isConnected && before.focus());
    };
  }, []);
  return (
    <dialog ref={element} class={props.wide ? "wide" : ""} aria-labelledby={id} onCancel={props.close}>
      <div class="inside">
        <h2 id={id}>{props.title}</h2>
        {props.children}
      </div>
    </dialog>
  );
}

export function Menu(props: { label: string; items: [string, () => void][] }): JSX.Element {
  const [open, setOpen] = useState(false);
  const element = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!open) return;
    const away = (event: Event): void => {
      if (!element.current?.contains(event.target as Node)) setOpen(false);
    };
    addEventListener("pointerdown", away);
    addEventListener("focusin", away);
    return () => {
      removeEventListener("pointerdown", away);
      removeEventListener("focusin", away);
    };
  }, [open]);
  return (
    <div class="menu" ref={element} onKeyDown={(event) => event.key === "Escape" && setOpen(false)}>
      <button type="button" class="button" aria-expanded={open} onClick={() => setOpen(!open)}>
        {props.label}
        <svg width="10" height="6" viewBox="0 0 10 6" fill="none" stroke="currentColor" stroke-width="1.5" aria-hidden="true">
          <path d="m1 1 4 4 4-4" />
        </svg>
      </button>
      {open ? (
        <div>
          {props.items.map(([says, act]) => (
            <button
              key={says}
              type="button"
              onClick={() => {
                setOpen(false);
                act();
              }}
            >
              {says}
            </button>
          ))}
        </div>
      ) : null}
    </div>
  );
}
