import type { Instant } from "../core/time/instant.ts"

/**
 * Virtual time: a queue of timers, and a current instant that jumps from one timer to the next. Timers of the same instant fire
 * in the order they were set, so that the same program always runs in the same order.
 */
export class Timeline {
  #now: Instant
  #count = 0
  /** A binary heap by (at, order): simulations set millions of timers. */
  readonly #heap: Timer[] = []

  constructor(startAt: Instant) {
    this.#now = startAt
  }

  get now(): Instant {
    return this.#now
  }

  /** Calls back once, when this much virtual time has passed. Returns a function that cancels the timer. */
  setTimer(delayMs: number, callback: () => void): () => void {
    const timer: Timer = {
      at: this.#now + Math.max(0, delayMs),
      order: this.#count++,
      callback,
      isCancelled: false,
    }
    this.#push(timer)
    return () => {
      timer.isCancelled = true
    }
  }

  /** When the next timer fires. Null: none is set. */
  get nextAt(): Instant | null {
    while (this.#heap[0]?.isCancelled) this.#pop()
    return this.#heap[0]?.at ?? null
  }

  /** Jumps to the next timer and fires it, if it is due by `until`. Returns whether there was one. */
  step(until: Instant): boolean {
    const at = this.nextAt
    if (at === null || at > until) return false
    const timer = this.#pop()!
    this.#now = Math.max(this.#now, at)
    timer.callback()
    return true
  }

  /** Sets the current instant. No timer that is due by then may be left. */
  jumpTo(instant: Instant): void {
    this.#now = Math.max(this.#now, instant)
  }

  #push(timer: Timer): void {
    const heap = this.#heap
    let index = heap.push(timer) - 1
    while (index > 0) {
      const parent = (index - 1) >> 1
      if (!isBefore(timer, heap[parent]!)) break
      heap[index] = heap[parent]!
      index = parent
    }
    heap[index] = timer
  }

  #pop(): Timer | undefined {
    const heap = this.#heap
    const first = heap[0]
    const last = heap.pop()
    if (last === undefined || heap.length === 0) return first
    let index = 0
    while (true) {
      let child = 2 * index + 1
      if (child >= heap.length) break
      if (child + 1 < heap.length && isBefore(heap[child + 1]!, heap[child]!)) child++
      if (!isBefore(heap[child]!, last)) break
      heap[index] = heap[child]!
      index = child
    }
    heap[index] = last
    return first
  }
}

interface Timer {
  readonly at: Instant
  readonly order: number
  readonly callback: () => void
  isCancelled: boolean
}

function isBefore(a: Timer, b: Timer): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order)
}
