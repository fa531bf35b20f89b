import type { Store } from "../../src/store/store.ts"
import type { Timeline } from "../../src/testing/timeline.ts"
import type { Chance } from "./chance.ts"

/** What the network between a process and the store may do. */
export interface Weather {
  /** No call gets through. */
  isDown: boolean
  /** Schedules can be neither read nor written, though runs can: locked, damaged, or moved away. */
  hasNoSchedules: boolean
  /** Calls are slow. */
  isSlow: boolean
  /** Heartbeats take up to this long each way: nearly a lease, there and back. */
  beatTravelMs: number
  /** The share of calls whose request, or whose answer, is lost. */
  requestLoss: number
  replyLoss: number
}

export const CALM: Weather = {
  isDown: false,
  hasNoSchedules: false,
  isSlow: false,
  beatTravelMs: 0,
  requestLoss: 0,
  replyLoss: 0,
}

/** Every store call has a deadline; a call that isn't answered by then is a fault. */
const DEADLINE_MS = 5_000

const OF_SCHEDULES = new Set(["putSchedule", "dueSchedules", "fire", "findSchedules"])

export interface LinkContext {
  readonly timeline: Timeline
  readonly chance: Chance
  readonly weather: Weather
  /** Hands something to the process, when it can take it: a stopped process later, a dead one never. */
  deliver(arrival: () => void): void
  note(situation: string): void
}

/** A process's way to the store: late, lost on the way there, or lost on the way back after it took effect. */
export function linkTo(store: Store, context: LinkContext): Store {
  const call = <T>(name: string, operation: () => Promise<T>): Promise<T> => {
    const { timeline, chance, weather, deliver, note } = context
    return new Promise((resolve, reject) => {
      const fail = () => deliver(() => reject(new Error(`simulated: ${name} was not answered`)))
      const failLater = () => timeline.setTimer(DEADLINE_MS, fail)
      const isOut = weather.isDown || (weather.hasNoSchedules && OF_SCHEDULES.has(name))
      if (isOut || chance.isLucky(weather.requestLoss)) return void failLater()
      const isReplyLost = chance.isLucky(weather.replyLoss)
      const travel = () => travelMs(name, weather, chance)
      const perform = () =>
        operation().then(
          (answer) => {
            if (!isReplyLost) return later(timeline, travel(), () => deliver(() => resolve(answer)))
            note(`reply lost: ${name}`)
            return void failLater()
          },
          (error: unknown) => deliver(() => reject(error)),
        )
      later(timeline, travel(), perform)
    })
  }
  return {
    open: () => call("open", () => store.open()),
    // Leaving is the process's own business: the store itself goes on.
    close: async () => undefined,
    now: () => call("now", () => store.now()),
    listen: (onHint) => store.listen((hint) => context.weather.isDown || context.deliver(() => onHint(hint))),
    putSchedule: (...args) => call("putSchedule", () => store.putSchedule(...args)),
    dueSchedules: (...args) => call("dueSchedules", () => store.dueSchedules(...args)),
    fire: (...args) => call("fire", () => store.fire(...args)),
    enqueue: (...args) => call("enqueue", () => store.enqueue(...args)),
    claim: (...args) => call("claim", () => store.claim(...args)),
    heartbeat: (...args) => call("heartbeat", () => store.heartbeat(...args)),
    transition: (...args) => call("transition", () => store.transition(...args)),
    prune: (...args) => call("prune", () => store.prune(...args)),
    appendLogs: (...args) => call("appendLogs", () => store.appendLogs(...args)),
    readLogs: (...args) => call("readLogs", () => store.readLogs(...args)),
    findSchedules: (...args) => call("findSchedules", () => store.findSchedules(...args)),
    findRuns: (...args) => call("findRuns", () => store.findRuns(...args)),
    readRuns: (...args) => call("readRuns", () => store.readRuns(...args)),
    putDocument: (...args) => call("putDocument", () => store.putDocument(...args)),
    findDocuments: (...args) => call("findDocuments", () => store.findDocuments(...args)),
    appendJournal: (...args) => call("appendJournal", () => store.appendJournal(...args)),
    readJournal: (...args) => call("readJournal", () => store.readJournal(...args)),
    summarise: (...args) => call("summarise", () => store.summarise(...args)),
    count: (...args) => call("count", () => store.count(...args)),
    findWorkers: (...args) => call("findWorkers", () => store.findWorkers(...args)),
  }
}

function travelMs(name: string, { isSlow, beatTravelMs }: Weather, chance: Chance): number {
  if (name === "heartbeat" && beatTravelMs > 0) return chance.between(beatTravelMs - 200, beatTravelMs)
  return isSlow ? chance.between(1, 400) : 0
}

function later(timeline: Timeline, delayMs: number, action: () => void): void {
  if (delayMs === 0) action()
  else timeline.setTimer(delayMs, action)
}
