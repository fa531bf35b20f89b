import type { Instant } from "../../src/core/time/instant.ts"

/** The periods in which a fault kept a process from running or from reaching the store, by the time of the simulation. */
export class Troubles {
  readonly #now: () => Instant
  readonly #spans: { readonly from: Instant; readonly until: Instant }[] = []

  constructor(now: () => Instant) {
    this.#now = now
  }

  get now(): Instant {
    return this.#now()
  }

  add(durationMs: number): void {
    this.#spans.push({ from: this.now, until: this.now + durationMs })
  }

  /** Whether every process was running and could reach the store from one instant to another. */
  wereNone(from: Instant, until: Instant): boolean {
    return this.#spans.every((span) => span.until < from || span.from > until)
  }
}
