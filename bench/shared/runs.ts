import { type ContenderName, contender } from "./contender.ts"
import { each, median, perSecond, progress, shown, type Verdict } from "./figures.ts"
import type { BenchServer, Cost } from "./server.ts"

const BATCH = 1_000
/** The concurrent calls of a busy web server. */
const AT_ONCE = 50

export interface RunsOptions {
  readonly count: number
  readonly rounds: number
}

export interface RunsCase {
  readonly name: string
  readonly contender: ContenderName
  /** How many schedules that are not due are stored in Belfry's database. */
  readonly stored: number
}

export interface RunsFigures {
  readonly enqueueMs: number
  readonly performMs: number
  readonly wholeMs: number
  /** With single calls, as users make them. The other figures are with batches. */
  readonly enqueueEachPerSecond: number
  /** The cost of enqueuing and performing. */
  readonly cost: Cost
  readonly processCpuMs: number
}

/** Enqueues no-op runs, performs them in one process, and waits until the last one is stored as finished. */
export async function measureRuns(
  server: BenchServer,
  cases: readonly RunsCase[],
  options: RunsOptions,
): Promise<ReadonlyMap<string, RunsFigures>> {
  const rounds = new Map<string, RunsFigures[]>(cases.map(({ name }) => [name, []]))
  // In turn, so that other load on the machine affects all contenders.
  for (let round = 0; round < options.rounds; round++) {
    for (const about of cases) {
      const figures = await oneRound(server, about, options.count)
      const rate = (ms: number) => `${shown(perSecond(options.count, ms))}/s`
      progress(`runs, ${about.name}: enqueue ${rate(figures.enqueueMs)}, perform ${rate(figures.performMs)}`)
      rounds.get(about.name)!.push(figures)
    }
  }
  return new Map([...rounds].map(([name, figures]) => [name, middleOf(figures)]))
}

async function oneRound(server: BenchServer, about: RunsCase, count: number): Promise<RunsFigures> {
  const url = await server.freshDatabase("runs")
  await using process = contender(about.contender, url)
  await process.ask("prepare")
  if (about.stored > 0) await process.ask("scheduleYearly", { count: about.stored })
  const { result, cost } = await server.costOf(url, async () => {
    const cpuBefore = await process.ask<number>("cpuMs")
    const enqueueMs = await process.ask<number>("enqueueMany", { count, batch: BATCH })
    const performMs = await process.ask<number>("perform", { count })
    const processCpuMs = (await process.ask<number>("cpuMs")) - cpuBefore
    return { enqueueMs, performMs, processCpuMs, wholeMs: enqueueMs + performMs }
  })
  await process.ask("stop")

  const eachCount = count / 10
  const eachUrl = await server.freshDatabase("each")
  await using producer = contender(about.contender, eachUrl)
  await producer.ask("prepare")
  const eachMs = await producer.ask<number>("enqueueEach", { count: eachCount, atOnce: AT_ONCE })
  return {
    ...result,
    cost,
    enqueueEachPerSecond: perSecond(eachCount, eachMs),
  }
}

/** The round with the median total time. */
function middleOf(rounds: readonly RunsFigures[]): RunsFigures {
  const middle = median(rounds.map(({ wholeMs }) => wholeMs))
  return rounds.find(({ wholeMs }) => wholeMs === middle)!
}

export function printRuns(figures: ReadonlyMap<string, RunsFigures>, { count, rounds }: RunsOptions): void {
  console.log(
    `\nRuns: ${shown(count)} no-op runs, one process; the median of ${rounds} rounds. Enqueued in batches of ${shown(BATCH)}; one by one with ${AT_ONCE} calls at once.`,
  )
  console.table(
    Object.fromEntries(
      [...figures].map(([name, runs]) => [
        name,
        {
          "enqueue/s": shown(perSecond(count, runs.enqueueMs)),
          "one by one/s": shown(runs.enqueueEachPerSecond),
          "perform/s": shown(perSecond(count, runs.performMs)),
          "whole/s": shown(perSecond(count, runs.wholeMs)),
          "CPU µs/run": `${shown(each(runs.processCpuMs * 1_000, count))} + ${shown(each(runs.cost.serverCpuMs, count / 1_000))}`,
          "statements/run": shown(each(runs.cost.statements, count)),
          "log bytes/run": shown(each(runs.cost.logBytes, count)),
        },
      ]),
    ),
  )
}

export function judgeRuns(figures: ReadonlyMap<string, RunsFigures>, times: number): readonly Verdict[] {
  const verdict = (measure: string, msOf: (runs: RunsFigures) => number, least = times): Verdict => {
    const peers = [...figures].filter(([name]) => !name.startsWith("belfry")).map(([, runs]) => msOf(runs))
    const ratio = Math.min(...peers) / msOf(figures.get("belfry")!)
    const target = `≥ ${least} × ${peers.length === 1 ? "peer" : "better peer"}`
    return { measure, target, measured: `${shown(ratio)} ×`, isMet: ratio >= least }
  }
  return [
    verdict("runs, enqueue in batches", ({ enqueueMs }) => enqueueMs, 1),
    verdict("runs, enqueue and perform", ({ wholeMs }) => wholeMs),
    verdict("runs, perform", ({ performMs }) => performMs),
  ]
}
