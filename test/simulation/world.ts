import { DAY, HOUR, type Instant, MINUTE } from "../../src/core/time/instant.ts"
import { silentLogger } from "../../src/runtime/logger.ts"
import { createScheduler } from "../../src/scheduler/create-scheduler.ts"
import type { Store } from "../../src/store/store.ts"
import { createMemoryStore } from "../../src/stores/memory/memory-store.ts"
import { Timeline } from "../../src/testing/timeline.ts"
import { type Chance, chanceOf } from "./chance.ts"
import { AT_MOST_ONCE, ATTEMPTS_ALLOWED, applicationFor, createByHand } from "./code.ts"
import { FAULTS, type Fault, type FaultContext } from "./faults.ts"
import { type Connection, HEALTHY, linkTo } from "./link.ts"
import { Node } from "./node.ts"
import { observed } from "./observed.ts"
import { Observer } from "./observer.ts"
import { operatorStep } from "./operators.ts"
import { Troubles } from "./troubles.ts"

/** A bug in the store itself, or in the requests and replies between every process and the store. */
export interface PlantedBug {
  inStore?(store: Store, world: WorldClock): Store
  inProcess?(store: Store, node: Node): Store
}

export interface WorldClock {
  /** The store's own clock. */
  storeNow(): Instant
}

export interface Outcome {
  readonly seed: number
  readonly violations: readonly string[]
  readonly situations: ReadonlyMap<string, number>
  readonly hash: number
}

export function isCalm(seed: number): boolean {
  return seed % 10 === 0
}

/**
 * On every eleventh day payments last nearly as long as the time between two of them, so that workers are often lost or
 * stopped during one. On all days this would slow the simulation down.
 */
function paymentMaxMsOn(seed: number): number {
  return seed % 11 === 0 ? 9 * MINUTE : MINUTE
}

/** More turns than this at one instant mean that a loop runs without pause. */
const TURNS_MAX = 1_000

/** Days before clock changes and at the end of a year, and an ordinary day. */
const STARTS = [
  Date.UTC(2026, 2, 28, 12),
  Date.UTC(2026, 9, 24, 12),
  Date.UTC(2026, 5, 1),
  Date.UTC(2027, 11, 31, 6),
]

/** Simulates one day. The same seed gives the same day, step by step. */
export async function simulate(seed: number, planted: PlantedBug = {}): Promise<Outcome> {
  const world = new World(seed, planted)
  await world.run()
  return world.outcome()
}

/** A store that reports each due schedule as a hundred, so that all schedules are fired ahead. */
function reportingBursts(store: Store): Store {
  return {
    ...store,
    dueSchedules: async (request) => {
      const read = await store.dueSchedules(request)
      return { ...read, nextDueCount: read.nextDueCount * 100 }
    },
  }
}

class World implements WorldClock {
  readonly #seed: number
  readonly #chance: Chance
  readonly #startAt: Instant
  readonly #timeline: Timeline
  /** Every tenth day has no faults, and no effect of a fault may be seen. */
  readonly #isCalm: boolean
  readonly #troubles: Troubles
  readonly #observer: Observer
  readonly #store: Store
  readonly #planted: PlantedBug
  readonly #hasBug: boolean
  readonly #nodes: Node[] = []
  /** The connection of operators is slow, so other processes act between the calls of one step. */
  readonly #operatorConnection: Connection = { ...HEALTHY, isSlow: true }
  readonly #swarm: readonly Fault[]
  #storeOffsetMs = 0
  #nodeCount = 0
  #crash: unknown = null

  constructor(seed: number, planted: PlantedBug) {
    this.#seed = seed
    this.#isCalm = isCalm(seed)
    this.#chance = chanceOf(seed)
    this.#planted = planted
    this.#hasBug = planted.inStore !== undefined || planted.inProcess !== undefined
    this.#startAt = this.#chance.pick(STARTS)
    this.#timeline = new Timeline(this.#startAt)
    this.#troubles = new Troubles(() => this.#timeline.now)
    this.#observer = new Observer({
      attemptsAllowed: (task) => ATTEMPTS_ALLOWED[task] ?? 3,
      isAtMostOnce: (task) => AT_MOST_ONCE.has(task),
      isCalm: this.#isCalm,
      troubles: this.#troubles,
    })
    const memory = createMemoryStore({ now: () => this.storeNow() })
    const store = seed % 3 === 0 ? reportingBursts(memory) : memory
    this.#store = observed(planted.inStore?.(store, this) ?? store, this.#observer)
    // Swarm testing: each day has its own kinds of faults, because some bugs show only when no other fault happens.
    this.#swarm = this.#isCalm ? [] : FAULTS.filter(() => this.#chance.happens(0.5))
  }

  storeNow(): Instant {
    return Math.floor(this.#timeline.now) + this.#storeOffsetMs
  }

  outcome(): Outcome {
    const { violations, situations, hash } = this.#observer.findings
    const crash = this.#crash === null ? [] : [`I14: ${String(this.#crash)}`]
    return { seed: this.#seed, violations: [...crash, ...violations], situations, hash }
  }

  async run(): Promise<void> {
    const count = this.#chance.between(3, 5)
    for (let index = 0; index < count; index++) this.#startNode()
    const operator = this.#operator()
    await this.#passUntil(this.#startAt + MINUTE)
    this.#watch(createByHand(operator.schedules, this.storeNow()))
    this.#plan(120, DAY, () =>
      this.#watch(
        operatorStep(operator, this.#chance, this.storeNow(), (situation) =>
          this.#observer.findings.note(situation),
        ),
      ),
    )
    this.#plan(120, DAY, () => this.#causeFault())
    await this.#passUntil(this.#startAt + DAY)
    this.#endFaults()
    await this.#passUntil(this.#startAt + DAY + HOUR / 2)
    if (!this.#isOver) this.#observer.onEnd(this.storeNow(), 2 * MINUTE)
    for (const node of this.#nodes) node.kill()
  }

  /** Performs all timers of one instant and everything that follows from them, then lets time pass. */
  async #passUntil(until: Instant): Promise<void> {
    await turn()
    let at = this.#timeline.nextAt
    let turns = 0
    while (at !== null && at <= until && !this.#isOver) {
      while (this.#timeline.nextAt === at) this.#timeline.step(at)
      await turn()
      turns = this.#timeline.nextAt === at ? turns + 1 : 0
      if (turns > TURNS_MAX) this.#crash = `busy loop: time doesn't pass at ${new Date(at).toISOString()}`
      at = this.#timeline.nextAt
    }
    this.#timeline.jumpTo(until)
  }

  /** With a planted bug the simulation ends at the first violation. Without one, all violations are collected. */
  get #isOver(): boolean {
    return this.#crash !== null || (this.#hasBug && this.#observer.findings.violations.length > 0)
  }

  /** Plans the action at random times, half of them just before a full minute, when most schedules are due. */
  #plan(times: number, spanMs: number, action: () => void): void {
    for (let index = 0; index < times; index++) {
      const delayMs = this.#chance.between(2 * MINUTE, spanMs - 2 * MINUTE)
      const beforeMinute = Math.ceil(delayMs / MINUTE) * MINUTE - this.#chance.between(0, 1_500) - MINUTE
      this.#timeline.setTimer(this.#chance.happens(0.5) ? beforeMinute : delayMs, action)
    }
  }

  #startNode(): Node {
    const node = new Node(`node-${++this.#nodeCount}`, {
      timeline: this.#timeline,
      chance: this.#chance,
      store: this.#store,
      withBug: (link, self) => this.#planted.inProcess?.(link, self) ?? link,
      release: 1,
      note: (situation) => this.#observer.findings.note(situation),
      codeFor: (self) =>
        applicationFor(self, {
          chance: this.#chance,
          observer: this.#observer,
          paymentMaxMs: paymentMaxMsOn(this.#seed),
          kill: (target) => (this.#isCalm ? undefined : this.#kill(target)),
        }),
    })
    this.#nodes.push(node)
    node.start()
    return node
  }

  /** A process supervisor starts another process within 3 minutes. */
  #kill(node: Node): void {
    if (node.isDead) return
    this.#troubles.add(MINUTE)
    node.kill()
    this.#nodes.splice(this.#nodes.indexOf(node), 1)
    this.#timeline.setTimer(this.#chance.between(0, 3 * MINUTE), () => this.#startNode())
  }

  #operator() {
    const link = { timeline: this.#timeline, chance: this.#chance, connection: this.#operatorConnection }
    const store = linkTo(this.#store, { ...link, deliver: (arrival) => arrival(), note: () => undefined })
    let ids = 0
    const clock = {
      now: () => this.#timeline.now,
      monotonic: () => this.#timeline.now,
      setTimer: (delayMs: number, callback: () => void) => this.#timeline.setTimer(delayMs, callback),
      random: () => this.#chance.next(),
      newId: () => `operator-${++ids}`,
    }
    return createScheduler({ store, clock, logger: silentLogger })
  }

  #causeFault(): void {
    // A calm day has no kinds of faults, and a fault needs a living process.
    if (this.#swarm.length > 0 && this.#nodes.length > 0) this.#chance.pick(this.#swarm)(this.#faults())
  }

  /** Errors by simulated faults are handled before. Any other error is a bug. */
  #watch(work: Promise<unknown>): void {
    work.catch((error: unknown) => {
      this.#crash ??= error
    })
  }

  #faults(): FaultContext {
    const connections = [...this.#nodes.map((node) => node.connection), this.#operatorConnection]
    return {
      chance: this.#chance,
      node: this.#chance.pick(this.#nodes),
      connections,
      note: (situation) => this.#observer.findings.note(situation),
      later: (delayMs, action) => void this.#timeline.setTimer(delayMs, action),
      trouble: (durationMs, end) => {
        // One minute longer, because a process that was cut off retries only after seconds.
        this.#troubles.add(durationMs + MINUTE)
        this.#timeline.setTimer(durationMs, end)
      },
      kill: (node) => this.#kill(node),
      replace: (node) => {
        if (node.isDead) return
        this.#troubles.add(MINUTE)
        node.scheduler.stop({ timeout: "30s" }).catch(() => undefined)
        this.#nodes.splice(this.#nodes.indexOf(node), 1)
        this.#startNode()
      },
      stepStoreClock: (ms) => {
        this.#troubles.add(MINUTE)
        this.#storeOffsetMs += ms
      },
    }
  }

  #endFaults(): void {
    for (const { connection } of this.#nodes) Object.assign(connection, HEALTHY)
    Object.assign(this.#operatorConnection, HEALTHY, { isSlow: true })
    for (const node of this.#nodes) node.resume()
  }
}

function turn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve)
  })
}
