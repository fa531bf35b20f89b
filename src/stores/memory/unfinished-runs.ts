import type { Run } from "../../core/run/run.ts"
import type { Instant } from "../../core/time/instant.ts"

/**
 * The unfinished runs, with an index for each way in which the operations read them. Without indexes every claim reads every
 * pending run: with 10,000 pending runs that took over a minute.
 */
export class UnfinishedRuns {
  readonly #places = new Map<string, Place>()
  #lastNumber = 0
  readonly #byLiveKey = new Map<string, Run>()
  readonly #byConcurrencyKey = new Map<string, KeyRuns>()
  /** One lane per task and priority, ordered by `claimableAt`: due runs are at its beginning. */
  readonly #lanes = new Map<string, Map<number, Place[]>>()

  /** Adds a run, or replaces its record. */
  put(run: Run): void {
    const number = this.#places.get(run.id)?.number ?? ++this.#lastNumber
    this.remove(run.id)
    const place = placeOf(run, number, this.#addToKey(run))
    this.#places.set(run.id, place)
    if (run.liveKey !== null) this.#byLiveKey.set(run.liveKey, run)
    const ofTask = this.#lanes.get(run.task) ?? new Map<number, Place[]>()
    const lane = ofTask.get(run.priority) ?? []
    this.#lanes.set(run.task, ofTask.set(run.priority, lane))
    lane.splice(indexIn(lane, place), 0, place)
  }

  remove(id: string): void {
    const place = this.#places.get(id)
    if (place === undefined) return
    this.#places.delete(id)
    const { run } = place
    if (run.liveKey !== null) this.#byLiveKey.delete(run.liveKey)
    this.#removeFromKey(place)
    const ofTask = this.#lanes.get(run.task)!
    const lane = ofTask.get(run.priority)!
    lane.splice(indexIn(lane, place), 1)
    if (lane.length === 0) ofTask.delete(run.priority)
    if (ofTask.size === 0) this.#lanes.delete(run.task)
  }

  #addToKey(run: Run): KeyRuns | null {
    if (run.concurrencyKey === null) return null
    const ofKey = this.#byConcurrencyKey.get(run.concurrencyKey) ?? { runs: [], running: 0 }
    this.#byConcurrencyKey.set(run.concurrencyKey, ofKey)
    ofKey.runs.splice(indexOfRun(ofKey.runs, run), 0, run)
    if (run.state === "running") ofKey.running++
    return ofKey
  }

  #removeFromKey({ run, ofKey }: Place): void {
    if (ofKey === null) return
    ofKey.runs.splice(indexOfRun(ofKey.runs, run), 1)
    if (run.state === "running") ofKey.running--
    if (ofKey.runs.length === 0) this.#byConcurrencyKey.delete(run.concurrencyKey!)
  }

  holderOf(liveKey: string | null): Run | undefined {
    return liveKey === null ? undefined : this.#byLiveKey.get(liveKey)
  }

  /** Oldest first. */
  withConcurrencyKey(key: string, limit: number): readonly Run[] {
    return this.#byConcurrencyKey.get(key)?.runs.slice(0, limit) ?? []
  }

  /**
   * The due runs of these tasks, in the order of claims. A run whose concurrency key is full when its turn comes is left out.
   * The caller may put runs while it reads; no run is given twice.
   */
  *claimable(now: Instant, tasks: readonly string[]): Iterable<Run> {
    const lanes = tasks.flatMap((task) => [...(this.#lanes.get(task) ?? [])])
    const priorities = [...new Set(lanes.map(([priority]) => priority))].sort((a, b) => b - a)
    const given = new Set<string>()
    for (const priority of priorities) {
      const readers = lanes
        .filter((lane) => lane[0] === priority)
        .map(([, places]) => new LaneReader(places, now))
      for (let place = firstOf(readers); place !== null; place = firstOf(readers)) {
        if (given.has(place.run.id) || !hasRoom(place)) continue
        given.add(place.run.id)
        yield place.run
      }
    }
  }

  /** When the first run that isn't due yet becomes due. Counts only runs for which `isWanted` is true. */
  nextClaimableAt(now: Instant, tasks: readonly string[], isWanted: (run: Run) => boolean): Instant | null {
    let next: Instant | null = null
    for (const lane of tasks.flatMap((task) => [...(this.#lanes.get(task)?.values() ?? [])])) {
      for (let index = firstAfter(lane, now); index < lane.length; index++) {
        const { run, claimableAt } = lane[index]!
        if (next !== null && claimableAt >= next) break
        if (isWanted(run)) next = claimableAt
      }
    }
    return next
  }
}

/** Reads the due runs of a lane from its beginning. The caller may remove the last run read from the lane. */
class LaneReader {
  readonly #lane: readonly Place[]
  readonly #now: Instant
  #index = 0
  #last: Place | null = null

  constructor(lane: readonly Place[], now: Instant) {
    this.#lane = lane
    this.#now = now
  }

  get first(): Place | null {
    // The last run is still in its place: it was read and not removed.
    if (this.#last !== null && this.#lane[this.#index] === this.#last) this.#index++
    this.#last = null
    const place = this.#lane[this.#index]
    return place !== undefined && place.claimableAt <= this.#now ? place : null
  }

  read(place: Place): void {
    this.#last = place
  }
}

/** Reads the longest due run of all lanes. */
function firstOf(readers: readonly LaneReader[]): Place | null {
  let [best, from]: [Place | null, LaneReader | null] = [null, null]
  for (const reader of readers) {
    const place = reader.first
    if (place !== null && (best === null || comparePlaces(place, best) < 0)) [best, from] = [place, reader]
  }
  if (best !== null) from!.read(best)
  return best
}

/**
 * A run's place in its lane. The compared fields are copied from the record: reading thousands of records, each of thirty
 * fields, made a claim twice as slow.
 */
interface Place {
  readonly run: Run
  readonly claimableAt: Instant
  /** Runs that are claimable at the same instant keep the order in which they were added. */
  readonly number: number
  readonly ofKey: KeyRuns | null
  /** The run may be claimed while fewer than this many runs of its key are running. */
  readonly keyLimit: number
}

function placeOf(run: Run, number: number, ofKey: KeyRuns | null): Place {
  // A running run whose lease has ended is counted among the running runs of its key.
  const own = run.state === "running" ? 1 : 0
  const keyLimit = (run.concurrencyLimit ?? Number.POSITIVE_INFINITY) + own
  return { run, claimableAt: run.claimableAt!, number, ofKey, keyLimit }
}

function hasRoom({ ofKey, keyLimit }: Place): boolean {
  return ofKey === null || ofKey.running < keyLimit
}

/** The runs of one concurrency key, ordered by creation, and how many of them are running. */
interface KeyRuns {
  readonly runs: Run[]
  running: number
}

/** The index at which a place is, or belongs. */
function indexIn(lane: readonly Place[], place: Place): number {
  return firstIndex(lane, (other) => comparePlaces(other, place))
}

function comparePlaces(a: Place, b: Place): number {
  return a.claimableAt - b.claimableAt || a.number - b.number
}

function firstAfter(lane: readonly Place[], now: Instant): number {
  return firstIndex(lane, ({ claimableAt }) => (claimableAt <= now ? -1 : 1))
}

/** The index at which a run is among the runs of its key, or belongs. */
function indexOfRun(runs: readonly Run[], { createdAt, id }: Run): number {
  return firstIndex(runs, (other) => other.createdAt - createdAt || (other.id < id ? -1 : 1))
}

/** Binary search: the first element for which `compare` isn't negative. */
function firstIndex<Element>(list: readonly Element[], compare: (element: Element) => number): number {
  let [low, high] = [0, list.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (compare(list[middle]!) < 0) low = middle + 1
    else high = middle
  }
  return low
}
