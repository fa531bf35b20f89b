import { MINUTE } from "../../src/core/instant.ts"
import type { Chance } from "./chance.ts"
import type { Weather } from "./link.ts"
import type { Node } from "./node.ts"

export interface FaultContext {
  readonly chance: Chance
  readonly node: Node
  readonly everyone: readonly Weather[]
  note(situation: string): void
  later(delayMs: number, action: () => void): void
  /** Likewise, and until then a process is kept from the store, or from going on. */
  trouble(durationMs: number, end: () => void): void
  kill(node: Node): void
  replace(node: Node): void
  stepStoreClock(ms: number): void
}

export type Fault = (context: FaultContext) => void

/** What goes wrong in a day of a team's processes. */
export const FAULTS: readonly Fault[] = [
  function processKilled({ node, kill, note }) {
    note(node.scheduler.isProcessing ? "killed while performing" : "killed while idle")
    kill(node)
  },
  function processStopped({ node, chance, trouble, note }) {
    note("process stopped")
    node.pause()
    trouble(chance.between(1_000, 10 * MINUTE), () => node.resume())
  },
  function storeUnreachableForOne({ node, chance, trouble, note }) {
    note("store unreachable for one")
    node.weather.isDown = true
    trouble(chance.between(1_000, 5 * MINUTE), () => Object.assign(node.weather, { isDown: false }))
  },
  function storeDown({ everyone, chance, trouble, note }) {
    note("store down")
    for (const weather of everyone) weather.isDown = true
    trouble(chance.between(1_000, 10 * MINUTE), () => {
      for (const weather of everyone) weather.isDown = false
    })
  },
  function schedulesUnreadable({ everyone, node, chance, trouble, note }) {
    note("schedules unreadable")
    const struck = chance.isLucky(0.5) ? everyone : [node.weather]
    for (const weather of struck) weather.hasNoSchedules = true
    trouble(chance.between(10_000, 10 * MINUTE), () => {
      for (const weather of struck) weather.hasNoSchedules = false
    })
  },
  function slowNetwork({ everyone, chance, later }) {
    const slowed = chance.isLucky(0.5) ? everyone : [chance.pick(everyone)]
    for (const weather of slowed) weather.isSlow = true
    later(chance.between(MINUTE, 60 * MINUTE), () => {
      for (const weather of slowed) weather.isSlow = false
    })
  },
  function lostMessages({ everyone, chance, trouble }) {
    const weather = chance.pick(everyone)
    Object.assign(weather, { requestLoss: 0.1, replyLoss: 0.2 })
    trouble(chance.between(MINUTE, 20 * MINUTE), () =>
      Object.assign(weather, { requestLoss: 0, replyLoss: 0 }),
    )
  },
  function slowHeartbeats({ everyone, chance, later, note }) {
    // Of the shortest lease, 5 s: half of it there and back, and nearly all of it.
    const beatTravelMs = chance.pick([1_200, 2_400])
    note(beatTravelMs === 1_200 ? "heartbeats slow" : "heartbeats too slow")
    for (const weather of everyone) weather.beatTravelMs = beatTravelMs
    later(chance.between(10 * MINUTE, 60 * MINUTE), () => {
      for (const weather of everyone) weather.beatTravelMs = 0
    })
  },
  function deploy({ node, replace, note }) {
    note("deployed")
    replace(node)
  },
  function storeClockForward({ chance, stepStoreClock, note }) {
    note("store clock forward")
    stepStoreClock(chance.between(1_000, 20 * MINUTE))
  },
  function storeClockBack({ chance, stepStoreClock, note }) {
    note("store clock back")
    stepStoreClock(-chance.between(1_000, 2 * MINUTE))
  },
]
