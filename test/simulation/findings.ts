import type { Instant } from "../../src/core/time/instant.ts"

/** The results of the observers: broken invariants, situations that occurred, and a hash of all steps. */
export class Findings {
  readonly violations: string[] = []
  readonly situations = new Map<string, number>()
  /** A hash of all steps of the simulation. The same seed must give the same hash. */
  hash = 0

  note(situation: string): void {
    this.situations.set(situation, (this.situations.get(situation) ?? 0) + 1)
  }

  mix(text: string): void {
    for (let index = 0; index < text.length; index++)
      this.hash = (Math.imul(this.hash, 31) + text.charCodeAt(index)) | 0
  }

  violate(invariant: string, problem: string): void {
    if (this.violations.length < 20) this.violations.push(`${invariant}: ${problem}`)
  }
}

export function iso(instant: Instant): string {
  return new Date(instant).toISOString()
}
