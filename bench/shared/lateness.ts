import { setTimeout as sleep } from "node:timers/promises"
import type { Started } from "./belfry.ts"
import { type Contender, type ContenderName, contender } from "./contender.ts"
import { percentile, progress, shown, type Verdict } from "./figures.ts"
import type { BenchServer } from "./server.ts"

const PROCESSES = 2
const SCHEDULES = 1_000
/** The time before the instant, for starting the processes and storing the schedules. */
const LEAD_MS = 8_000
/** How long before the instant the processes start to work. */
const WORK_BEFORE_MS = [3_000]
/** The time after the instant in which no process is asked, and the time until the last handler must have begun. */
const UNDISTURBED_MS = 2_500
const WAIT_MS = 30_000

export interface LatenessCase {
  readonly name: string
  readonly contender: ContenderName
  /** Some peers support only full minutes. */
  readonly atFull: "minute" | "second"
  readonly command: "scheduleAt" | "delayTo"
  readonly stored: number
  readonly workBeforeMs: readonly number[]
  /** For a crontab, which each process needs. All other schedules are in the database. */
  readonly isInEachProcess?: boolean
}

export const AT_SECOND = {
  atFull: "second",
  command: "scheduleAt",
  stored: 0,
  workBeforeMs: WORK_BEFORE_MS,
} as const
export const AT_MINUTE = { ...AT_SECOND, atFull: "minute" } as const

/** A program that polls every two seconds depends on the phase. So it is measured at three phases, a third of that apart. */
export const PHASES_MS = [3_000, 2_350, 1_700]

export interface LatenessFigures {
  readonly p50: number
  readonly p99: number
  readonly max: number
  readonly missing: number
  readonly doubled: number
}

/** How long after the instant the handlers of a thousand schedules begin, in two processes. */
export async function measureLateness(server: BenchServer, about: LatenessCase): Promise<LatenessFigures> {
  const late: number[] = []
  let missing = 0
  let doubled = 0
  for (const workBeforeMs of about.workBeforeMs) {
    const { started, at } = await oneInstant(server, about, workBeforeMs)
    const distinct = new Set(started.map(([id]) => id)).size
    late.push(...started.map(([, startedAt]) => startedAt - at))
    missing += SCHEDULES - distinct
    doubled += started.length - distinct
  }
  const [p50, p99, max] = [percentile(late, 0.5), percentile(late, 0.99), Math.max(...late)] as const
  progress(`lateness, ${about.name}: p50 ${shown(p50)} ms, p99 ${shown(p99)} ms`)
  return { p50, p99, max, missing, doubled }
}

async function oneInstant(
  server: BenchServer,
  about: LatenessCase,
  workBeforeMs: number,
): Promise<{ started: Started; at: number }> {
  const url = await server.freshDatabase("late")
  await using fleet = new Fleet(url, about.contender)
  await fleet.ask("prepare")
  if (about.stored > 0) await fleet.first.ask("scheduleYearly", { count: about.stored })
  const at = instantAfter(Date.now() + LEAD_MS, about.atFull === "minute" ? 60_000 : 1_000)
  const holders = about.isInEachProcess === true ? fleet : fleet.first
  await holders.ask(about.command, { count: SCHEDULES, at })
  await sleep(at - workBeforeMs - Date.now())
  await fleet.ask("work")
  if (Date.now() > at) throw new Error(`${about.name} was not ready in time`)
  const started = await fleet.startedAfter(at)
  await fleet.ask("stop")
  return { started, at }
}

function instantAfter(time: number, unitMs: number): number {
  return Math.ceil(time / unitMs) * unitMs
}

class Fleet {
  readonly #processes: readonly Contender[]

  constructor(url: string, name: ContenderName) {
    this.#processes = Array.from({ length: PROCESSES }, () => contender(name, url))
  }

  get first(): Contender {
    return this.#processes[0]!
  }

  /** One after the other, because not every peer supports two processes that create its tables at the same time. */
  async ask(command: string, args: object = {}): Promise<void> {
    for (const process of this.#processes) await process.ask(command, args)
  }

  /** All handlers that began. Asks no process in the first UNDISTURBED_MS after the instant. */
  async startedAfter(at: number): Promise<Started> {
    await sleep(at + UNDISTURBED_MS - Date.now())
    for (;;) {
      const started = await Promise.all(this.#processes.map((process) => process.ask<Started>("started")))
      if (started.flat().length >= SCHEDULES || Date.now() > at + WAIT_MS) return started.flat()
      await sleep(500)
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const process of this.#processes) await process[Symbol.asyncDispose]()
  }
}

export function printLateness(figures: ReadonlyMap<string, LatenessFigures>): void {
  console.log(
    `\nLateness: ${shown(SCHEDULES)} schedules due at one instant, two processes; from the instant to the handler's start.`,
  )
  console.table(
    Object.fromEntries(
      [...figures].map(([name, late]) => [
        name,
        {
          "p50 ms": shown(late.p50),
          "p99 ms": shown(late.p99),
          "max ms": shown(late.max),
          missing: late.missing,
          doubled: late.doubled,
        },
      ]),
    ),
  )
}

export function judgeLateness(figures: ReadonlyMap<string, LatenessFigures>): readonly Verdict[] {
  const belfry = figures.get("belfry")!
  const peers = [...figures].filter(([name]) => !name.startsWith("belfry"))
  const [peer, { p99 }] = peers.reduce((best, each) => (each[1].p99 < best[1].p99 ? each : best))
  const ratio = belfry.p99 / p99
  const isExact = belfry.missing === 0 && belfry.doubled === 0
  return [
    {
      measure: "lateness p99",
      target: `≤ 0.2 × ${peer}`,
      measured: `${shown(ratio)} ×`,
      isMet: ratio <= 0.2,
    },
    {
      measure: "fired at the instant",
      target: "none missing, none doubled",
      measured: `${belfry.missing} and ${belfry.doubled}`,
      isMet: isExact,
    },
  ]
}
