import { printable } from "./printable.ts"
import type { Paint } from "./table.ts"

/** A name and what it is; nothing to say is left out. */
export type Fact = readonly [name: string, value: string]

export function formatFacts(facts: readonly Fact[], paint: Paint, indent = ""): string {
  const told = facts.filter(([, value]) => value !== "")
  const width = Math.max(...told.map(([name]) => name.length)) + 2
  return told
    .map(([name, value]) => `${indent}${paint("dim", name.padEnd(width))}${printable(value)}\n`)
    .join("")
}
