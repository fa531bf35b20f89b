import type { Claims } from "./claimers.ts"
import { Contender } from "./contender.ts"
import { each, median, percentile, perSecond, progress, shown, type Verdict } from "./figures.ts"
import type { BenchServer, Cost } from "./server.ts"

export interface FiresOptions {
  /** How many schedules are due at once: for many claimers, and for few. */
  readonly crowdDue: number
  readonly batchDue: number
  readonly rounds: number
  /** How many schedules that are not due are stored in the second measurement. */
  readonly stored: number
  /** The program of the claimers. */
  readonly program: string
}

interface Team {
  readonly name: string
  readonly processes: number
  readonly claimersEach: number
  /** The limit of a read of due schedules. */
  readonly limit: number
}

/** So small that every claimer gets some schedules. */
const WARM_UP_LIMIT = 5
/** With the limit that gives each claimer its share, and with the limit of the engine. */
const CROWDS: readonly Team[] = [
  { name: "50 claimers, 20 a claim", processes: 2, claimersEach: 25, limit: 20 },
  { name: "50 claimers, 250 a claim", processes: 2, claimersEach: 25, limit: 250 },
]
const FEW: readonly Team[] = [
  { name: "1 claimer, 250 a claim", processes: 1, claimersEach: 1, limit: 250 },
  { name: "2 claimers, 250 a claim", processes: 2, claimersEach: 1, limit: 250 },
]

export interface FireFigures {
  readonly name: string
  readonly isCrowd: boolean
  readonly due: number
  readonly p50: number
  readonly p99: number
  readonly perSecond: number
  /** Plans that lost the race, for each plan that won. */
  readonly lostEach: number
  readonly statementsEach: number | null
  readonly logBytesEach: number
  readonly serverCpuUsEach: number | null
}

export interface Fires {
  readonly alone: readonly FireFigures[]
  readonly amongMany: readonly FireFigures[]
}

/**
 * Measures only Belfry: no peer keeps schedules in the database and lets every process fire them. Each team is measured twice,
 * the second time with many stored schedules that are not due.
 */
export async function measureFires(server: BenchServer, options: FiresOptions): Promise<Fires> {
  const alone: FireFigures[] = []
  const amongMany: FireFigures[] = []
  for (const team of [...CROWDS, ...FEW]) {
    for (const stored of [0, options.stored]) {
      const figures = await measureTeam(server, team, { ...options, stored })
      const others = stored === 0 ? "" : `, ${shown(stored)} stored`
      progress(`fires, ${team.name}${others}: p99 ${shown(figures.p99)} ms, ${shown(figures.perSecond)}/s`)
      if (stored === 0) alone.push(figures)
      else amongMany.push(figures)
    }
  }
  return { alone, amongMany }
}

async function measureTeam(server: BenchServer, team: Team, options: FiresOptions): Promise<FireFigures> {
  const isCrowd = CROWDS.includes(team)
  const due = isCrowd ? options.crowdDue : options.batchDue
  const url = await server.freshDatabase("fires")
  await using crowd = new Crowd(options.program, url, team.processes)
  if (options.stored > 0) await crowd.store(options.stored)
  await crowd.open(team.claimersEach)
  // The first call on a connection takes ten times as long.
  await crowd.schedule("warm-up", options.crowdDue)
  await crowd.claim(WARM_UP_LIMIT)
  const rounds: Round[] = []
  for (let round = 0; round < options.rounds; round++) {
    await crowd.schedule(`round${round}`, due)
    const { result, cost } = await server.costOf(url, () => crowd.claim(team.limit))
    if (result.fired !== due) throw new Error(`${result.fired} fired of ${due}`)
    rounds.push({ ...result, cost })
  }
  return { name: team.name, isCrowd, due, ...figuresOf(rounds, due) }
}

interface Round extends Claims {
  readonly wholeMs: number
  readonly cost: Cost
}

function figuresOf(rounds: readonly Round[], due: number): Omit<FireFigures, "name" | "isCrowd" | "due"> {
  const ms = rounds.flatMap((round) => round.ms)
  const wholeMs = median(rounds.map((round) => round.wholeMs))
  const { lost, cost } = rounds.find((round) => round.wholeMs === wholeMs)!
  return {
    p50: percentile(ms, 0.5),
    p99: percentile(ms, 0.99),
    perSecond: perSecond(due, wholeMs),
    lostEach: lost / due,
    statementsEach: each(cost.statements, due),
    logBytesEach: cost.logBytes / due,
    serverCpuUsEach: each(cost.serverCpuMs, due / 1_000),
  }
}

class Crowd {
  readonly #processes: readonly Contender[]

  constructor(program: string, url: string, count: number) {
    this.#processes = Array.from({ length: count }, () => new Contender(program, url))
  }

  async store(count: number): Promise<void> {
    await this.#processes[0]!.ask("scheduleYearly", { count })
  }

  async open(claimers: number): Promise<void> {
    // One after the other, because the first creates the tables.
    for (const process of this.#processes) await process.ask("open", { claimers })
  }

  schedule(prefix: string, count: number): Promise<void> {
    return this.#processes[0]!.ask("scheduleDue", { prefix, count })
  }

  async claim(limit: number): Promise<Claims & { wholeMs: number }> {
    const startAt = Date.now() + 50
    const all = await Promise.all(
      this.#processes.map((process) => process.ask<Claims>("claim", { limit, startAt })),
    )
    return {
      wholeMs: Date.now() - startAt,
      ms: all.flatMap(({ ms }) => ms),
      fired: all.reduce((sum, { fired }) => sum + fired, 0),
      lost: all.reduce((sum, { lost }) => sum + lost, 0),
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const process of this.#processes) await process[Symbol.asyncDispose]()
  }
}

export function printFires({ alone, amongMany }: Fires, { rounds, stored }: FiresOptions): void {
  console.log(
    `\nFires: claimers in two processes, each with its own connections, read, plan and fire until nothing is due; ${rounds} rounds.`,
  )
  console.table(
    Object.fromEntries(
      [...alone, ...amongMany].map((fires, index) => [
        index < alone.length ? fires.name : `${fires.name}, ${shown(stored)} stored`,
        {
          due: shown(fires.due),
          "claim p50 ms": shown(fires.p50),
          "claim p99 ms": shown(fires.p99),
          "fires/s": shown(fires.perSecond),
          "lost/fire": shown(fires.lostEach),
          "server CPU µs/fire": shown(fires.serverCpuUsEach),
          "statements/fire": shown(fires.statementsEach),
          "log bytes/fire": shown(fires.logBytesEach),
        },
      ]),
    ),
  )
}

export function judgeFires(
  { alone }: Fires,
  target: { p99Ms: number; perSecond: number },
): readonly Verdict[] {
  const crowd = alone[0]!
  const rate = bestRate(alone)
  return [
    {
      measure: `claim p99, ${crowd.name}`,
      target: `< ${target.p99Ms} ms`,
      measured: `${shown(crowd.p99)} ms`,
      isMet: crowd.p99 < target.p99Ms,
    },
    {
      measure: "fires in batches",
      target: `≥ ${shown(target.perSecond)}/s`,
      measured: `${shown(rate)}/s`,
      isMet: rate >= target.perSecond,
    },
  ]
}

export function bestRate(figures: readonly FireFigures[]): number {
  return Math.max(...figures.filter(({ isCrowd }) => !isCrowd).map((fires) => fires.perSecond))
}
