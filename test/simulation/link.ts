import type { Store } from "../../src/store/store.ts"
import type { Timeline } from "../../src/testing/timeline.ts"
import type { Chance } from "./chance.ts"

/** The state of the network between a process and the store. */
export interface Connection {
  /** Every call fails. */
  isDown: boolean
  /** Schedules can be neither read nor written, but runs can: the table of schedules is locked, damaged or missing. */
  hasNoSchedules: boolean
  /** Calls are slow. */
  isSlow: boolean
  /** The time that a heartbeat takes each way, at most. The round trip can be nearly a lease. */
  heartbeatTravelMs: number
  /** The shares of calls whose request, or whose reply, is lost. */
  requestLoss: number
  replyLoss: number
}

export const HEALTHY: Connection = {
  isDown: false,
  hasNoSchedules: false,
  isSlow: false,
  heartbeatTravelMs: 0,
  requestLoss: 0,
  replyLoss: 0,
}

/** Every store call has a deadline. A call without a reply by then is a fault. */
const DEADLINE_MS = 5_000

const SCHEDULE_OPERATIONS = new Set(["putSchedule", "dueSchedules", "fire", "findSchedules"])

export interface LinkContext {
  readonly timeline: Timeline
  readonly chance: Chance
  readonly connection: Connection
  /** Runs `arrival` in the process: for a suspended process after it resumes, for a dead process never. */
  deliver(arrival: () => void): void
  note(situation: string): void
}

/** The store as a process reaches it. Calls can be slow, and requests or replies can be lost. */
export function linkTo(store: Store, context: LinkContext): Store {
  const call = <T>(name: string, operation: () => Promise<T>): Promise<T> => {
    const { timeline, chance, connection, deliver, note } = context
    return new Promise((resolve, reject) => {
      const fail = () => deliver(() => reject(new Error(`simulated: ${name} was not answered`)))
      const failLater = () => timeline.setTimer(DEADLINE_MS, fail)
      const isOut = connection.isDown || (connection.hasNoSchedules && SCHEDULE_OPERATIONS.has(name))
      if (isOut || chance.happens(connection.requestLoss)) return void failLater()
      const isReplyLost = chance.happens(connection.replyLoss)
      const travel = () => travelMs(name, connection, chance)
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
    // A process that closes its connection doesn't close the store of the others.
    close: async () => undefined,
    now: () => call("now", () => store.now()),
    listen: (onHint) =>
      store.listen((hint) => context.connection.isDown || context.deliver(() => onHint(hint))),
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

function travelMs(name: string, { isSlow, heartbeatTravelMs }: Connection, chance: Chance): number {
  if (name === "heartbeat" && heartbeatTravelMs > 0)
    return chance.between(heartbeatTravelMs - 200, heartbeatTravelMs)
  return isSlow ? chance.between(1, 400) : 0
}

function later(timeline: Timeline, delayMs: number, action: () => void): void {
  if (delayMs === 0) action()
  else timeline.setTimer(delayMs, action)
}
