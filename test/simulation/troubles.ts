import type { Instant } from "../../src/core/instant.ts"

/** When something kept a process from hearing of the store, or from going on, by the simulation's own time. */
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

  /** Whether every process was well, and in touch with the store, from one instant to another. */
  wereNone(from: Instant, until: Instant): boolean {
    return this.#spans.every((span) => span.until < from || span.from > until)
  }
}
