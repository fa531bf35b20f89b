import type { Hooks } from "../../src/engine/events.ts"
import type { Clock } from "../../src/runtime/clock.ts"
import { silentLogger } from "../../src/runtime/logger.ts"
import { createScheduler } from "../../src/scheduler/create-scheduler.ts"
import type { Scheduler } from "../../src/scheduler/scheduler.ts"
import type { Store } from "../../src/store/store.ts"
import type { DeclaredSchedule } from "../../src/task/declared-schedule.ts"
import type { AnyTask } from "../../src/task/task.ts"
import type { Timeline } from "../../src/testing/timeline.ts"
import type { Chance } from "./chance.ts"
import { type Connection, HEALTHY, linkTo } from "./link.ts"

/** One simulated process with its own clock and its own connection. It can be suspended, resumed and killed. */
export class Node {
  readonly name: string
  readonly connection: Connection = { ...HEALTHY }
  readonly clock: Clock
  readonly #context: NodeContext
  readonly scheduler: Scheduler
  #isDead = false
  #isPaused = false
  #delayed: (() => void)[] = []

  constructor(name: string, context: NodeContext) {
    this.name = name
    this.#context = context
    this.clock = this.#ownClock()
    this.scheduler = createScheduler({
      store: context.withBug(
        linkTo(context.store, {
          timeline: context.timeline,
          chance: context.chance,
          connection: this.connection,
          deliver: (arrival) => this.#deliver(arrival),
          note: context.note,
        }),
        this,
      ),
      ...context.codeFor(this),
      retention: { age: "2h", perSchedule: 5 },
      owner: "simulation",
      release: context.release,
      concurrency: 4,
      lease: "30s",
      pollInterval: "5m",
      clock: this.clock,
      logger: silentLogger,
      hooks: context.hooks ?? {},
    })
  }

  /** A start during an outage of the store fails and is repeated after 5 s, as by a process supervisor. */
  start(): void {
    const tryAgain = () => this.clock.setTimer(5_000, () => this.start())
    this.scheduler.start().catch(tryAgain)
  }

  /** `kill -9`: the process does nothing more, and replies under way don't arrive. */
  kill(): void {
    this.#isDead = true
    this.#delayed = []
  }

  get isDead(): boolean {
    return this.#isDead
  }

  /** `SIGSTOP`, or a blocked event loop. */
  pause(): void {
    this.#isPaused = true
  }

  /** All delayed timers and replies happen at once, as in a real process that resumes. */
  resume(): void {
    this.#isPaused = false
    const delayed = this.#delayed
    this.#delayed = []
    for (const arrival of delayed) this.#deliver(arrival)
  }

  #deliver(arrival: () => void): void {
    if (this.#isDead) return
    if (this.#isPaused) this.#delayed.push(arrival)
    else arrival()
  }

  /** A clock that is wrong by minutes and runs too fast or too slow. */
  #ownClock(): Clock {
    const { timeline, chance } = this.#context
    const offsetMs = chance.between(-600_000, 600_000)
    const rate = 1 + chance.between(-200, 200) / 1_000_000
    let ids = 0
    return {
      now: () => Math.floor(timeline.now * rate) + offsetMs,
      monotonic: () => timeline.now * rate,
      setTimer: (delayMs, callback) => timeline.setTimer(delayMs / rate, () => this.#deliver(callback)),
      random: () => chance.next(),
      newId: () => `${this.name}-${++ids}`,
    }
  }
}

export interface NodeContext {
  readonly timeline: Timeline
  readonly chance: Chance
  readonly store: Store
  /** Adds the planted bug, if there is one, to the store as this process sees it. */
  withBug(store: Store, node: Node): Store
  readonly release: number
  readonly hooks?: Hooks
  codeFor(node: Node): { tasks: readonly AnyTask[]; schedules: readonly DeclaredSchedule[] }
  note(situation: string): void
}
