import { MINUTE } from "../../src/core/time/instant.ts"
import type { Chance } from "./chance.ts"
import type { Connection } from "./link.ts"
import type { Node } from "./node.ts"

export interface FaultContext {
  readonly chance: Chance
  readonly node: Node
  /** The connections of all processes and of the operators. */
  readonly connections: readonly Connection[]
  note(situation: string): void
  later(delayMs: number, action: () => void): void
  /** Like `later`. Until then a process can't reach the store, or can't run. */
  trouble(durationMs: number, end: () => void): void
  kill(node: Node): void
  replace(node: Node): void
  stepStoreClock(ms: number): void
}

export type Fault = (context: FaultContext) => void

/** The kinds of faults of a simulated day. */
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
    node.connection.isDown = true
    trouble(chance.between(1_000, 5 * MINUTE), () => Object.assign(node.connection, { isDown: false }))
  },
  function storeDown({ connections, chance, trouble, note }) {
    note("store down")
    for (const connection of connections) connection.isDown = true
    trouble(chance.between(1_000, 10 * MINUTE), () => {
      for (const connection of connections) connection.isDown = false
    })
  },
  function schedulesUnreadable({ connections, node, chance, trouble, note }) {
    note("schedules unreadable")
    const affected = chance.happens(0.5) ? connections : [node.connection]
    for (const connection of affected) connection.hasNoSchedules = true
    trouble(chance.between(10_000, 10 * MINUTE), () => {
      for (const connection of affected) connection.hasNoSchedules = false
    })
  },
  function slowNetwork({ connections, chance, later }) {
    const slowed = chance.happens(0.5) ? connections : [chance.pick(connections)]
    for (const connection of slowed) connection.isSlow = true
    later(chance.between(MINUTE, 60 * MINUTE), () => {
      for (const connection of slowed) connection.isSlow = false
    })
  },
  function lostMessages({ connections, chance, trouble }) {
    const connection = chance.pick(connections)
    Object.assign(connection, { requestLoss: 0.1, replyLoss: 0.2 })
    trouble(chance.between(MINUTE, 20 * MINUTE), () =>
      Object.assign(connection, { requestLoss: 0, replyLoss: 0 }),
    )
  },
  function slowHeartbeats({ connections, chance, later, note }) {
    // The shortest lease is 5 s. The round trip takes half of it, or nearly all of it.
    const heartbeatTravelMs = chance.pick([1_200, 2_400])
    note(heartbeatTravelMs === 1_200 ? "heartbeats slow" : "heartbeats too slow")
    for (const connection of connections) connection.heartbeatTravelMs = heartbeatTravelMs
    later(chance.between(10 * MINUTE, 60 * MINUTE), () => {
      for (const connection of connections) connection.heartbeatTravelMs = 0
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
