import { availableParallelism } from "node:os"
import { setTimeout as sleep } from "node:timers/promises"
import { Contender } from "./contender.ts"
import { percentile, perSecond, progress, shown, type Verdict } from "./figures.ts"
import { EVERY_MS, type TakenSchedules } from "./schedulers.ts"
import type { BenchServer } from "./server.ts"

export interface BurstsOptions {
  readonly schedulers: number
  readonly schedules: number
  /** The number of processes that share the schedulers. */
  readonly processes: number
  /** The program of the schedulers. */
  readonly program: string
}

/** At the first instant the schedulers have just started; at the others they are warm. */
const INSTANTS = 3
/** The time to start one scheduler, and the time that all must be idle before the first instant. */
const START_MS = 200
const IDLE_MS = 3_000
/** The time after an instant in which the schedulers are not asked for figures. */
const QUIET_MS = 2_500
const WAIT_MS = 60_000

const CASES = [
  { name: "fired ahead", policy: "skip" },
  // A plan that may cancel a run cannot be made before the instant.
  { name: "fired at the instant", policy: "replace" },
] as const

export interface BurstFigures {
  readonly name: string
  readonly p50: number
  readonly p99: number
  readonly max: number
  /** From the first read that led to a fire until the last schedule was fired. */
  readonly wholeMs: number
  readonly perSecond: number
  /** Plans that lost the race, for each plan that won. */
  readonly lostEach: number
  readonly offers: number
}

/** Flags: `--schedulers=20 --schedules=500 --processes=4`. Default: 50, 1,000 and one process for each processor. */
export function burstsOptions(program: string): BurstsOptions {
  const schedulers = numberAfter("--schedulers=", 50)
  return {
    schedulers,
    schedules: numberAfter("--schedules=", 1_000),
    processes: Math.min(numberAfter("--processes=", availableParallelism()), schedulers),
    program,
  }
}

function numberAfter(flag: string, otherwise: number): number {
  const given = process.argv.find((word) => word.startsWith(flag))
  return given === undefined ? otherwise : Number(given.slice(flag.length))
}

/**
 * Many schedulers that have just started and never fired, and many schedules that are due at the same instant and at two more.
 */
export async function measureBursts(
  server: Pick<BenchServer, "freshDatabase">,
  options: BurstsOptions,
): Promise<readonly BurstFigures[]> {
  const figures: BurstFigures[] = []
  for (const { name, policy } of CASES) {
    await using schedulers = new Schedulers(options, await server.freshDatabase("bursts"))
    for await (const [index, burst] of schedulers.bursts(policy)) {
      const named = { name: `${name}, instant ${index + 1}`, ...burst }
      const { p99, lostEach } = named
      progress(`bursts, ${named.name}: p99 ${shown(p99)} ms, ${shown(lostEach)} lost/fire`)
      figures.push(named)
    }
  }
  return figures
}

class Schedulers {
  readonly #options: BurstsOptions
  readonly #processes: readonly Contender[]

  constructor(options: BurstsOptions, url: string) {
    this.#options = options
    this.#processes = Array.from({ length: options.processes }, () => new Contender(options.program, url))
  }

  async *bursts(policy: "skip" | "replace"): AsyncGenerator<[number, Omit<BurstFigures, "name">]> {
    const { schedulers, schedules } = this.#options
    const [first] = this.#processes
    await first!.ask("prepare")
    const readyAt = Date.now() + schedulers * START_MS + IDLE_MS
    const at = Math.ceil(readyAt / EVERY_MS) * EVERY_MS
    await first!.ask("scheduleFrom", { at, count: schedules, policy })
    const count = this.#processes.length
    const shares = this.#processes.map((_, index) => Math.floor((schedulers + index) / count))
    await Promise.all(this.#processes.map((process, index) => process.ask("start", { count: shares[index] })))
    if (Date.now() > at - IDLE_MS / 2) throw new Error(`${schedulers} schedulers were not ready in time`)
    for (let index = 0; index < INSTANTS; index++) yield [index, await this.#burst(at + index * EVERY_MS)]
    await this.#askAll("stop")
  }

  async #burst(at: number): Promise<Omit<BurstFigures, "name">> {
    const { schedules } = this.#options
    const taken: TakenSchedules[] = []
    const fired = () => sum(taken.map((each) => each.fired))
    await sleep(at + QUIET_MS - Date.now())
    do {
      if (Date.now() > at + WAIT_MS) throw new Error(`${fired()} fired of ${schedules}`)
      if (taken.length > 0) await sleep(500)
      taken.push(...(await this.#askAll<TakenSchedules>("taken")))
    } while (fired() < schedules)
    const late = await this.#processes[0]!.ask<readonly number[]>("latenessAt", { at })
    if (late.length !== schedules) throw new Error(`${late.length} runs instead of ${schedules}`)
    const wholeMs =
      Math.max(...taken.map(({ until }) => until ?? Number.NEGATIVE_INFINITY)) -
      Math.min(...taken.map(({ from }) => from ?? Number.POSITIVE_INFINITY))
    return {
      p50: percentile(late, 0.5),
      p99: percentile(late, 0.99),
      max: Math.max(...late),
      wholeMs,
      perSecond: perSecond(schedules, wholeMs),
      lostEach: sum(taken.map(({ lost }) => lost)) / schedules,
      offers: sum(taken.map(({ offers }) => offers)),
    }
  }

  #askAll<Result>(command: string): Promise<readonly Result[]> {
    return Promise.all(this.#processes.map((process) => process.ask<Result>(command)))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const process of this.#processes) await process[Symbol.asyncDispose]()
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0)
}

export function printBursts(
  figures: readonly BurstFigures[],
  { schedulers, schedules }: BurstsOptions,
): void {
  console.log(
    `\nBursts: ${shown(schedules)} schedules due at one instant, ${schedulers} schedulers that have just started; from the instant to the run's creation.`,
  )
  console.table(
    Object.fromEntries(
      figures.map((burst) => [
        burst.name,
        {
          "p50 ms": shown(burst.p50),
          "p99 ms": shown(burst.p99),
          "max ms": shown(burst.max),
          "whole ms": shown(burst.wholeMs),
          "fires/s": shown(burst.perSecond),
          "lost/fire": shown(burst.lostEach),
          offers: shown(burst.offers),
        },
      ]),
    ),
  )
}

export function judgeBursts([cold]: readonly BurstFigures[]): readonly Verdict[] {
  return [
    {
      measure: "a burst right after the start, p99",
      target: "< 100 ms",
      measured: `${shown(cold!.p99)} ms`,
      isMet: cold!.p99 < 100,
    },
    {
      measure: "a burst right after the start, lost",
      target: "< 1 for each fire",
      measured: shown(cold!.lostEach),
      isMet: cold!.lostEach < 1,
    },
  ]
}
