// What differs between two declarations, field by field.

import type { Facts, Json } from "./types.ts";

export interface Difference {
  field: string;
  before: Json | undefined;
  after: Json | undefined;
}

const STANDING = new Set(["revision", "generation", "updated_at", "created_at", "uid", "team", "name", "next"]);

/** Fields that differ, nested ones by their path; what the service counts by itself is left out. */
export function differences(before: Facts | null, after: Facts | null): Difference[] {
  return [...walked("", before ?? {}, after ?? {})].filter((each) => !STANDING.has(each.field));
}

function* walked(path: string, before: Json | undefined, after: Json | undefined): Generator<Difference> {
  if (isFacts(before) && isFacts(after)) {
    for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
      yield* walked(path ? `${path}.${name}` : name, before[name], after[name]);
    }
  } else if (canonical(before) !== canonical(after)) {
    yield { field: path, before, after };
  }
}

function isFacts(value: Json | undefined): value is Facts {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function canonical(value: Json | undefined): string {
  if (isFacts(value)) {
    const names = Object.keys(value).sort();
    return `{${names.map((name) => `${JSON.stringify(name)}:${canonical(value[name])}`).join(",")}}`;
  }
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  return value === undefined ? "" : JSON.stringify(value);
}

export function shown(value: Json | undefined): string {
  if (value === undefined) return "nothing";
  return typeof value === "string" ? value : JSON.stringify(value);
}
