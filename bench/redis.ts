/**
 * Belfry on Redis compared with BullMQ in the same run: fires, bursts, runs, lateness, and the commands of an idle process.
 * `npm run bench -- redis`; `--quick` gives rough figures in half the time.
 */
import { benchServer } from "./redis/server.ts"
import { burstsOptions, judgeBursts, measureBursts, printBursts } from "./shared/bursts.ts"
import { Contender } from "./shared/contender.ts"
import { median, percentile, progress, shown, type Verdict } from "./shared/figures.ts"
import { type FiresOptions, judgeFires, measureFires, printFires } from "./shared/fires.ts"
import { type IdleCase, judgeIdle, printIdle, startIdle } from "./shared/idle.ts"
import {
  AT_SECOND,
  judgeLateness,
  type LatenessCase,
  type LatenessFigures,
  measureLateness,
  printLateness,
} from "./shared/lateness.ts"
import { aboutRun, printVerdicts } from "./shared/report.ts"
import { judgeRuns, measureRuns, printRuns, type RunsCase } from "./shared/runs.ts"
import type { BenchServer } from "./shared/server.ts"

const PROGRAMS = {
  bullmq: "node_modules/bullmq",
  ioredis: "../node_modules/ioredis",
}
const isQuick = process.argv.includes("--quick")
const IDLE_MS = isQuick ? 20_000 : 60_000
const IDLE_SCHEDULES = 100
const FIRES: FiresOptions = {
  crowdDue: 1_000,
  batchDue: isQuick ? 5_000 : 20_000,
  rounds: isQuick ? 1 : 2,
  stored: 100_000,
  program: "redis/claimers.ts",
}
const BURSTS = burstsOptions("redis/schedulers.ts")
/** A scheduler runs for days, so the first ticks, in which its code is compiled, are measured separately. */
const TICKS = { all: 300, warmUp: 100 }
const RUNS = { count: isQuick ? 5_000 : 20_000, rounds: isQuick ? 1 : 3 }
const RUNS_CASES: readonly RunsCase[] = [
  { name: "belfry", contender: "belfry on Redis", stored: 0 },
  { name: "bullmq", contender: "bullmq", stored: 0 },
]
const LATENESS_CASES: readonly LatenessCase[] = [
  { ...AT_SECOND, name: "belfry", contender: "belfry on Redis" },
  { ...AT_SECOND, name: "bullmq", contender: "bullmq" },
]
const IDLE_CASES: readonly IdleCase[] = [
  { name: "belfry", contender: "belfry on Redis", schedules: IDLE_SCHEDULES },
  { name: "bullmq", contender: "bullmq", schedules: IDLE_SCHEDULES },
]

const server = await benchServer()
const idleServer = await benchServer({ isCountingSent: true })
try {
  await measureAll()
} finally {
  await server.stop()
  await idleServer.stop()
}

async function measureAll(): Promise<void> {
  console.log(aboutRun(PROGRAMS, server.about, isQuick))
  const fires = await measureFires(server, FIRES)
  const bursts = await measureBursts(server, BURSTS)
  const tick = await measureTick(server)
  const runs = await measureRuns(server, RUNS_CASES, RUNS)
  // Idle processes do not disturb other measurements, so the next one runs at the same time.
  const idling = await startIdle(idleServer, IDLE_CASES, IDLE_MS)
  const lateness = new Map<string, LatenessFigures>()
  for (const each of LATENESS_CASES) lateness.set(each.name, await measureLateness(server, each))
  const idle = await idling.figures

  console.log(`\n${aboutRun(PROGRAMS, server.about, isQuick)}`)
  printFires(fires, FIRES)
  printBursts(bursts, BURSTS)
  printRuns(runs, RUNS)
  printLateness(lateness)
  printIdle(idle, IDLE_SCHEDULES)
  printVerdicts([
    ...judgeFires(fires, { p99Ms: 100, perSecond: 30_000 }),
    ...judgeBursts(bursts),
    tick,
    ...judgeRuns(runs, 3),
    ...judgeLateness(lateness),
    ...judgeIdle(idle),
  ])
}

/** The time in which one process reads and fires a hundred due schedules. */
async function measureTick(server: BenchServer): Promise<Verdict> {
  const url = await server.freshDatabase("tick")
  await using claimer = new Contender("redis/claimers.ts", url)
  await claimer.ask("open", { claimers: 1 })
  const ms: number[] = []
  for (let tick = 0; tick < TICKS.all; tick++) {
    await claimer.ask("scheduleDue", { prefix: `tick${tick}`, count: 100 })
    const { ms: took } = await claimer.ask<{ ms: readonly number[] }>("claim", { limit: 250, startAt: 0 })
    ms.push(took.reduce((sum, each) => sum + each, 0))
  }
  const warm = ms.slice(TICKS.warmUp)
  const [p50, p99] = [median(warm), percentile(warm, 0.99)]
  const cold = shown(median(ms.slice(0, TICKS.warmUp)))
  progress(
    `a tick over 100 schedules: p50 ${shown(p50)} ms, p99 ${shown(p99)} ms; p50 of the first ${TICKS.warmUp} ${cold} ms`,
  )
  return {
    measure: "a tick over 100 schedules, p99",
    target: "< 10 ms",
    measured: `${shown(p99)} ms, p50 ${shown(p50)} ms`,
    isMet: p99 < 10,
  }
}
