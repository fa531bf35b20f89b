/**
 * Belfry on PostgreSQL compared with pg-boss and graphile-worker, on the same server in the same run: fires, bursts, runs,
 * lateness, and the statements of an idle process. `npm run bench -- postgres`; `--quick` gives rough figures in half the time.
 * BELFRY_BENCH_POSTGRES_URL names a server of your own. Runs on the Node that `all.ts` finds, 24 or later.
 */
import { benchServer } from "./postgres/server.ts"
import { burstsOptions, judgeBursts, measureBursts, printBursts } from "./shared/bursts.ts"
import { shown, type Verdict } from "./shared/figures.ts"
import {
  bestRate,
  type Fires,
  type FiresOptions,
  judgeFires,
  measureFires,
  printFires,
} from "./shared/fires.ts"
import { type IdleCase, judgeIdle, printIdle, startIdle } from "./shared/idle.ts"
import {
  AT_MINUTE,
  AT_SECOND,
  judgeLateness,
  type LatenessCase,
  type LatenessFigures,
  measureLateness,
  PHASES_MS,
  printLateness,
} from "./shared/lateness.ts"
import { aboutRun, printVerdicts } from "./shared/report.ts"
import { judgeRuns, measureRuns, printRuns, type RunsCase, type RunsFigures } from "./shared/runs.ts"

const PROGRAMS = {
  "pg-boss": "node_modules/pg-boss",
  "graphile-worker": "node_modules/graphile-worker",
  pg: "node_modules/pg",
}
const isQuick = process.argv.includes("--quick")
const STORED = 100_000
const IDLE_MS = isQuick ? 20_000 : 60_000
const IDLE_SCHEDULES = 100
const FIRES: FiresOptions = {
  crowdDue: 1_000,
  batchDue: isQuick ? 5_000 : 20_000,
  rounds: isQuick ? 1 : 2,
  stored: STORED,
  program: "postgres/claimers.ts",
}
const BURSTS = burstsOptions("postgres/schedulers.ts")
const RUNS = { count: isQuick ? 5_000 : 20_000, rounds: isQuick ? 1 : 3 }
const AMONG_MANY = `belfry, ${shown(STORED)} stored`
const RUNS_CASES: readonly RunsCase[] = [
  { name: "belfry", contender: "belfry", stored: 0 },
  { name: AMONG_MANY, contender: "belfry", stored: STORED },
  { name: "graphile-worker", contender: "graphile-worker", stored: 0 },
  { name: "pg-boss", contender: "pg-boss", stored: 0 },
]
const LATENESS_CASES: readonly LatenessCase[] = [
  { ...AT_SECOND, name: "belfry", contender: "belfry" },
  { ...AT_SECOND, name: AMONG_MANY, contender: "belfry", stored: STORED },
  { ...AT_MINUTE, name: "graphile-worker, crontab", contender: "graphile-worker", isInEachProcess: true },
  {
    ...AT_SECOND,
    name: "graphile-worker, run_at",
    contender: "graphile-worker",
    command: "delayTo",
    workBeforeMs: PHASES_MS,
  },
  { ...AT_MINUTE, name: "pg-boss, schedule", contender: "pg-boss" },
]
const IDLE_CASES: readonly IdleCase[] = [
  { name: "belfry", contender: "belfry", schedules: IDLE_SCHEDULES },
  { name: AMONG_MANY, contender: "belfry", schedules: STORED },
  { name: "graphile-worker", contender: "graphile-worker", schedules: IDLE_SCHEDULES },
  { name: "pg-boss", contender: "pg-boss", schedules: IDLE_SCHEDULES },
]

const server = await benchServer()
try {
  await measureAll()
} finally {
  await server.stop()
}

async function measureAll(): Promise<void> {
  console.log(aboutRun(PROGRAMS, server.about, isQuick))
  const fires = await measureFires(server, FIRES)
  const bursts = await measureBursts(server, BURSTS)
  const runs = await measureRuns(server, RUNS_CASES, RUNS)
  // Idle processes do not disturb other measurements, so the next one runs at the same time.
  const idling = await startIdle(server, IDLE_CASES, IDLE_MS)
  const lateness = new Map<string, LatenessFigures>()
  for (const each of LATENESS_CASES) {
    if (isQuick && each.atFull === "minute") continue
    lateness.set(each.name, await measureLateness(server, each))
  }
  const idle = await idling.figures

  console.log(`\n${aboutRun(PROGRAMS, server.about, isQuick)}`)
  printFires(fires, FIRES)
  printBursts(bursts, BURSTS)
  printRuns(runs, RUNS)
  printLateness(lateness)
  printIdle(idle, IDLE_SCHEDULES)
  printVerdicts([
    ...judgeFires(fires, { p99Ms: 100, perSecond: 10_000 }),
    ...judgeBursts(bursts),
    ...judgeRuns(runs, 1.2),
    ...judgeLateness(lateness),
    ...judgeIdle(idle),
    ...judgeStored(fires, runs, lateness),
  ])
}

/** How many times worse each figure is with 100,000 schedules in the store. */
function judgeStored(
  { alone, amongMany }: Fires,
  runs: ReadonlyMap<string, RunsFigures>,
  lateness: ReadonlyMap<string, LatenessFigures>,
): readonly Verdict[] {
  const verdict = (measure: string, ratio: number): Verdict => ({
    measure: `${measure}, ${shown(STORED)} stored`,
    target: "≤ 1.5 × worse",
    measured: `${shown(ratio)} ×`,
    isMet: ratio <= 1.5,
  })
  return [
    verdict("claim p99", amongMany[0]!.p99 / alone[0]!.p99),
    verdict("fires in batches", bestRate(alone) / bestRate(amongMany)),
    verdict("runs", runs.get(AMONG_MANY)!.wholeMs / runs.get("belfry")!.wholeMs),
    verdict("lateness p99", lateness.get(AMONG_MANY)!.p99 / lateness.get("belfry")!.p99),
  ]
}
