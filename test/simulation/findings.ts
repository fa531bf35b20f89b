import type { Instant } from "../../src/core/instant.ts"

/** What the observers have seen: the invariants that were broken, the situations, and the course of the day. */
export class Findings {
  readonly violations: string[] = []
  readonly situations = new Map<string, number>()
  /** The course of the simulation in one number: the same seed must give the same. */
  hash = 0

  note(situation: string): void {
    this.situations.set(situation, (this.situations.get(situation) ?? 0) + 1)
  }

  mix(text: string): void {
    for (let index = 0; index < text.length; index++)
      this.hash = (Math.imul(this.hash, 31) + text.charCodeAt(index)) | 0
  }

  violate(invariant: string, what: string): void {
    if (this.violations.length < 20) this.violations.push(`${invariant}: ${what}`)
  }
}

export function iso(instant: Instant): string {
  return new Date(instant).toISOString()
}
