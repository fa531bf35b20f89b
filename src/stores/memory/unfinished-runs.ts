import type { Instant } from "../../core/instant.ts"
import type { Run } from "../../core/run.ts"

/**
 * The unfinished runs, with an index for each question that the operations ask about them. Without these, every claim would look
 * at every run that waits: 10,000 waiting runs then took over a minute.
 */
export class UnfinishedRuns {
  readonly #places = new Map<string, Place>()
  #lastNumber = 0
  readonly #byLiveKey = new Map<string, Run>()
  readonly #byConcurrencyKey = new Map<string, KeyRuns>()
  /** Of each priority, by `claimableAt`: what is due is at the beginning. */
  readonly #byPriority = new Map<number, Place[]>()

  /** Adds a run, or replaces its record. */
  put(run: Run): void {
    const number = this.#places.get(run.id)?.number ?? ++this.#lastNumber
    this.remove(run.id)
    const place = placeOf(run, number, this.#addToKey(run))
    this.#places.set(run.id, place)
    if (run.liveKey !== null) this.#byLiveKey.set(run.liveKey, run)
    const lane = this.#byPriority.get(run.priority) ?? []
    this.#byPriority.set(run.priority, lane)
    lane.splice(indexIn(lane, place), 0, place)
  }

  remove(id: string): void {
    const place = this.#places.get(id)
    if (place === undefined) return
    this.#places.delete(id)
    const { run } = place
    if (run.liveKey !== null) this.#byLiveKey.delete(run.liveKey)
    this.#removeFromKey(place)
    const lane = this.#byPriority.get(run.priority)!
    lane.splice(indexIn(lane, place), 1)
    if (lane.length === 0) this.#byPriority.delete(run.priority)
  }

  #addToKey(run: Run): KeyRuns | null {
    if (run.concurrencyKey === null) return null
    const ofKey = this.#byConcurrencyKey.get(run.concurrencyKey) ?? { runs: new Map(), running: 0 }
    this.#byConcurrencyKey.set(run.concurrencyKey, ofKey)
    ofKey.runs.set(run.id, run)
    if (run.state === "running") ofKey.running++
    return ofKey
  }

  #removeFromKey({ run, ofKey }: Place): void {
    if (ofKey === null) return
    ofKey.runs.delete(run.id)
    if (run.state === "running") ofKey.running--
    if (ofKey.runs.size === 0) this.#byConcurrencyKey.delete(run.concurrencyKey!)
  }

  holderOf(liveKey: string | null): Run | undefined {
    return liveKey === null ? undefined : this.#byLiveKey.get(liveKey)
  }

  withConcurrencyKey(key: string): Iterable<Run> {
    return this.#byConcurrencyKey.get(key)?.runs.values() ?? []
  }

  /**
   * What is due, in the order in which it is claimed. A run whose concurrency key is full when its turn comes is left out. Runs
   * may be put while this is read, and aren't given twice.
   */
  *claimable(now: Instant): Iterable<Run> {
    const priorities = [...this.#byPriority.keys()].sort((a, b) => b - a)
    for (const priority of priorities) {
      const lane = this.#byPriority.get(priority) ?? []
      for (const place of lane.slice(0, firstAfter(lane, now))) if (hasRoom(place)) yield place.run
    }
  }

  /** When the first of those that aren't due yet becomes so. */
  nextClaimableAt(now: Instant, isAsked: (run: Run) => boolean): Instant | null {
    let next: Instant | null = null
    for (const lane of this.#byPriority.values()) {
      for (let index = firstAfter(lane, now); index < lane.length; index++) {
        const { run, claimableAt } = lane[index]!
        if (next !== null && claimableAt >= next) break
        if (isAsked(run)) next = claimableAt
      }
    }
    return next
  }
}

/**
 * Where a run stands in its lane. What is compared is copied from its record: reading thousands of records, each of thirty
 * fields, made a claim twice as slow.
 */
interface Place {
  readonly run: Run
  readonly claimableAt: Instant
  /** Runs that are claimable at the same instant keep the order in which they came. */
  readonly number: number
  readonly ofKey: KeyRuns | null
  /** It may be claimed while fewer than this many runs of its key are running. */
  readonly keyLimit: number
}

function placeOf(run: Run, number: number, ofKey: KeyRuns | null): Place {
  // A run whose lease has ended is still one of those that are running.
  const own = run.state === "running" ? 1 : 0
  const keyLimit = (run.concurrencyLimit ?? Number.POSITIVE_INFINITY) + own
  return { run, claimableAt: run.claimableAt!, number, ofKey, keyLimit }
}

function hasRoom({ ofKey, keyLimit }: Place): boolean {
  return ofKey === null || ofKey.running < keyLimit
}

/** The runs of one concurrency key, and how many of them are running. */
interface KeyRuns {
  readonly runs: Map<string, Run>
  running: number
}

/** Where a place is, or would be. */
function indexIn(lane: readonly Place[], place: Place): number {
  return firstIndex(lane, (other) => other.claimableAt - place.claimableAt || other.number - place.number)
}

function firstAfter(lane: readonly Place[], now: Instant): number {
  return firstIndex(lane, ({ claimableAt }) => (claimableAt <= now ? -1 : 1))
}

/** By halving: the first place that `compare` doesn't put before what is sought. */
function firstIndex(lane: readonly Place[], compare: (place: Place) => number): number {
  let [low, high] = [0, lane.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (compare(lane[middle]!) < 0) low = middle + 1
    else high = middle
  }
  return low
}
