import { printable } from "./printable.ts"
import type { Paint } from "./table.ts"

/** A name and a value. A fact with an empty value is not printed. */
export type Fact = readonly [name: string, value: string]

export function formatFacts(facts: readonly Fact[], paint: Paint, indent = ""): string {
  const printed = facts.filter(([, value]) => value !== "")
  const width = Math.max(...printed.map(([name]) => name.length)) + 2
  return printed
    .map(([name, value]) => `${indent}${paint("dim", name.padEnd(width))}${printable(value)}\n`)
    .join("")
}
