import { DAY, HOUR, type Instant, MINUTE } from "../../src/core/instant.ts"
import { silentLogger } from "../../src/runtime/logger.ts"
import { createScheduler } from "../../src/scheduler/create-scheduler.ts"
import type { Store } from "../../src/store/store.ts"
import { createMemoryStore } from "../../src/stores/memory/memory-store.ts"
import { Timeline } from "../../src/testing/timeline.ts"
import { type Chance, chanceOf } from "./chance.ts"
import { ATTEMPTS_ALLOWED, applicationFor, createByHand } from "./code.ts"
import { FAULTS, type Fault, type FaultContext } from "./faults.ts"
import { CALM, linkTo, type Weather } from "./link.ts"
import { Node } from "./node.ts"
import { observed } from "./observed.ts"
import { Observer } from "./observer.ts"
import { stepIn } from "./operators.ts"
import { Troubles } from "./troubles.ts"

/** Where a bug may be planted: in the store itself, or in what every process sends to it and makes of its answers. */
export interface Planted {
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

/** More than this in one instant is a loop that never sleeps. */
const TURNS_MAX = 1_000

/** Days on which something is the matter with the clocks, and days on which nothing is. */
const STARTS = [
  Date.UTC(2026, 2, 28, 12),
  Date.UTC(2026, 9, 24, 12),
  Date.UTC(2026, 5, 1),
  Date.UTC(2027, 11, 31, 6),
]

/** One day of a team's processes, by one seed: the same seed is the same day, to the last step. */
export async function simulate(seed: number, planted: Planted = {}): Promise<Outcome> {
  const world = new World(seed, planted)
  await world.live()
  return world.outcome()
}

/** Takes every few schedules for a burst, which is then fired ahead of its instant. */
function exaggerating(store: Store): Store {
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
  /** Every tenth day nothing goes wrong, and then nothing may look as if. */
  readonly #isCalm: boolean
  readonly #troubles: Troubles
  readonly #observer: Observer
  readonly #store: Store
  readonly #planted: Planted
  readonly #hasBug: boolean
  readonly #nodes: Node[] = []
  /** Operators are far away: what they do takes several slow steps, and others come in between. */
  readonly #operatorWeather: Weather = { ...CALM, isSlow: true }
  readonly #swarm: readonly Fault[]
  #storeOffsetMs = 0
  #born = 0
  #crash: unknown = null

  constructor(seed: number, planted: Planted) {
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
      isCalm: this.#isCalm,
      troubles: this.#troubles,
    })
    const memory = createMemoryStore({ now: () => this.storeNow() })
    const store = seed % 3 === 0 ? exaggerating(memory) : memory
    this.#store = observed(planted.inStore?.(store, this) ?? store, this.#observer)
    // Swarm testing: a day on which everything goes wrong hides what goes wrong only when the rest goes right.
    this.#swarm = this.#isCalm ? [] : FAULTS.filter(() => this.#chance.isLucky(0.5))
  }

  storeNow(): Instant {
    return Math.floor(this.#timeline.now) + this.#storeOffsetMs
  }

  outcome(): Outcome {
    const { violations, situations, hash } = this.#observer.findings
    const crash = this.#crash === null ? [] : [`I14: ${String(this.#crash)}`]
    return { seed: this.#seed, violations: [...crash, ...violations], situations, hash }
  }

  async live(): Promise<void> {
    const count = this.#chance.between(3, 5)
    for (let index = 0; index < count; index++) this.#bear()
    const operator = this.#operator()
    await this.#passUntil(this.#startAt + MINUTE)
    this.#watch(createByHand(operator.schedules, this.storeNow()))
    this.#plan(120, DAY, () =>
      this.#watch(
        stepIn(operator, this.#chance, this.storeNow(), (what) => this.#observer.findings.note(what)),
      ),
    )
    this.#plan(120, DAY, () => this.#strike())
    await this.#passUntil(this.#startAt + DAY)
    this.#heal()
    await this.#passUntil(this.#startAt + DAY + HOUR / 2)
    if (!this.#isOver) this.#observer.onEnd(this.storeNow(), 2 * MINUTE)
    for (const node of this.#nodes) node.kill()
  }

  /** Everything due at one instant happens, then whatever follows from it, then time goes on. */
  async #passUntil(until: Instant): Promise<void> {
    await turn()
    let at = this.#timeline.nextAt
    let turns = 0
    while (at !== null && at <= until && !this.#isOver) {
      while (this.#timeline.nextAt === at) this.#timeline.step(at)
      await turn()
      turns = this.#timeline.nextAt === at ? turns + 1 : 0
      if (turns > TURNS_MAX) this.#crash = `busy loop: time stands still at ${new Date(at).toISOString()}`
      at = this.#timeline.nextAt
    }
    this.#timeline.jumpTo(until)
  }

  /** With a bug planted, the first violation is enough; a violation that nobody planted is told with all that follow. */
  get #isOver(): boolean {
    return this.#crash !== null || (this.#hasBug && this.#observer.findings.violations.length > 0)
  }

  /** At any time, and half of the times just before a full minute, when most is about to happen. */
  #plan(times: number, spanMs: number, action: () => void): void {
    for (let index = 0; index < times; index++) {
      const delayMs = this.#chance.between(2 * MINUTE, spanMs - 2 * MINUTE)
      const beforeMinute = Math.ceil(delayMs / MINUTE) * MINUTE - this.#chance.between(0, 1_500) - MINUTE
      this.#timeline.setTimer(this.#chance.isLucky(0.5) ? beforeMinute : delayMs, action)
    }
  }

  #bear(): Node {
    const node = new Node(`node-${++this.#born}`, {
      timeline: this.#timeline,
      chance: this.#chance,
      store: this.#store,
      plant: (link, self) => this.#planted.inProcess?.(link, self) ?? link,
      release: 1,
      note: (situation) => this.#observer.findings.note(situation),
      codeFor: (self) =>
        applicationFor(self, {
          chance: this.#chance,
          observer: this.#observer,
          kill: (victim) => (this.#isCalm ? undefined : this.#kill(victim)),
        }),
    })
    this.#nodes.push(node)
    node.start()
    return node
  }

  /** Whoever looks after processes starts another in its place. */
  #kill(node: Node): void {
    if (node.isDead) return
    this.#troubles.add(MINUTE)
    node.kill()
    this.#nodes.splice(this.#nodes.indexOf(node), 1)
    this.#timeline.setTimer(this.#chance.between(0, 3 * MINUTE), () => this.#bear())
  }

  #operator() {
    const link = { timeline: this.#timeline, chance: this.#chance, weather: this.#operatorWeather }
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

  #strike(): void {
    // Nothing to strike on a calm day, nor while every process is dead.
    if (this.#swarm.length > 0 && this.#nodes.length > 0) this.#chance.pick(this.#swarm)(this.#faults())
  }

  /** A simulated fault may refuse an operator; anything else is a bug. */
  #watch(work: Promise<unknown>): void {
    work.catch((error: unknown) => {
      this.#crash ??= error
    })
  }

  #faults(): FaultContext {
    const everyone = [...this.#nodes.map((node) => node.weather), this.#operatorWeather]
    return {
      chance: this.#chance,
      node: this.#chance.pick(this.#nodes),
      everyone,
      note: (situation) => this.#observer.findings.note(situation),
      later: (delayMs, action) => void this.#timeline.setTimer(delayMs, action),
      trouble: (durationMs, end) => {
        // A little longer: who was cut off looks again after seconds.
        this.#troubles.add(durationMs + MINUTE)
        this.#timeline.setTimer(durationMs, end)
      },
      kill: (node) => this.#kill(node),
      replace: (node) => {
        if (node.isDead) return
        this.#troubles.add(MINUTE)
        node.scheduler.stop({ timeout: "30s" }).catch(() => undefined)
        this.#nodes.splice(this.#nodes.indexOf(node), 1)
        this.#bear()
      },
      stepStoreClock: (ms) => {
        this.#troubles.add(MINUTE)
        this.#storeOffsetMs += ms
      },
    }
  }

  #heal(): void {
    for (const { weather } of this.#nodes) Object.assign(weather, CALM)
    Object.assign(this.#operatorWeather, CALM, { isSlow: true })
    for (const node of this.#nodes) node.resume()
  }
}

function turn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve)
  })
}
