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
import { CALM, linkTo, type Weather } from "./link.ts"

/** One process of the simulated team: its own clock, its own way to the store; it may be stopped, killed and started. */
export class Node {
  readonly name: string
  readonly weather: Weather = { ...CALM }
  readonly clock: Clock
  readonly #context: NodeContext
  readonly scheduler: Scheduler
  #isDead = false
  #isPaused = false
  #held: (() => void)[] = []

  constructor(name: string, context: NodeContext) {
    this.name = name
    this.#context = context
    this.clock = this.#ownClock()
    this.scheduler = createScheduler({
      store: context.plant(
        linkTo(context.store, {
          timeline: context.timeline,
          chance: context.chance,
          weather: this.weather,
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

  /** Starting fails while the store is away; a process is then started again by whoever looks after it. */
  start(): void {
    const tryAgain = () => this.clock.setTimer(5_000, () => this.start())
    this.scheduler.start().catch(tryAgain)
  }

  /** `kill -9`: nothing it was doing goes on, nothing that was under way arrives. */
  kill(): void {
    this.#isDead = true
    this.#held = []
  }

  get isDead(): boolean {
    return this.#isDead
  }

  /** `SIGSTOP`, or an event loop that is blocked. */
  pause(): void {
    this.#isPaused = true
  }

  /** Everything that waited happens at once, as it does to a process that wakes. */
  resume(): void {
    this.#isPaused = false
    const held = this.#held
    this.#held = []
    for (const arrival of held) this.#deliver(arrival)
  }

  #deliver(arrival: () => void): void {
    if (this.#isDead) return
    if (this.#isPaused) this.#held.push(arrival)
    else arrival()
  }

  /** Wrong by minutes, running too fast or too slow. */
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
  /** The process's own view of the store, perhaps with a bug in it. */
  plant(store: Store, node: Node): Store
  readonly release: number
  readonly hooks?: Hooks
  codeFor(node: Node): { tasks: readonly AnyTask[]; schedules: readonly DeclaredSchedule[] }
  note(situation: string): void
}
