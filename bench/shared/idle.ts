import { setTimeout as sleep } from "node:timers/promises"
import { type Contender, type ContenderName, contender } from "./contender.ts"
import { progress, shown, type Verdict } from "./figures.ts"
import type { BenchServer } from "./server.ts"

/** After this time all processes have finished their start and are idle. */
const SETTLED_MS = 5_000

export interface IdleCase {
  readonly name: string
  readonly contender: ContenderName
  readonly schedules: number
}

export interface IdleFigures {
  readonly name: string
  readonly statementsPerMinute: number | null
}

/**
 * Counts the statements of one process while nothing is due. All contenders are idle at the same time, each in its own database.
 * Resolves when they are idle. The figures come later; other measurements may run meanwhile.
 */
export async function startIdle(
  server: BenchServer,
  cases: readonly IdleCase[],
  ms: number,
): Promise<{ figures: Promise<readonly IdleFigures[]> }> {
  const processes = await Promise.all(
    cases.map(async ({ name, contender: program, schedules }) => {
      const url = await server.freshDatabase("idle")
      const process = contender(program, url)
      await process.ask("prepare", { isIdle: true })
      await process.ask("scheduleYearly", { count: schedules })
      await process.ask("work")
      return { name, url, process }
    }),
  )
  await sleep(SETTLED_MS)
  return { figures: Promise.all(processes.map((idle) => figuresOf(server, idle, ms))) }
}

async function figuresOf(
  server: BenchServer,
  { name, url, process }: { name: string; url: string; process: Contender },
  ms: number,
): Promise<IdleFigures> {
  await using idle = process
  const { cost } = await server.costOf(url, () => sleep(ms))
  await idle.ask("stop")
  const statementsPerMinute = cost.statements === null ? null : (cost.statements / ms) * 60_000
  progress(`idle, ${name}: ${shown(statementsPerMinute)} statements a minute`)
  return { name, statementsPerMinute }
}

export function printIdle(figures: readonly IdleFigures[], schedules: number): void {
  console.log(`\nIdle: one process, ${shown(schedules)} schedules, nothing due.`)
  console.table(
    Object.fromEntries(
      figures.map(({ name, statementsPerMinute }) => [
        name,
        { "statements/minute": shown(statementsPerMinute) },
      ]),
    ),
  )
}

export function judgeIdle(figures: readonly IdleFigures[]): readonly Verdict[] {
  return figures
    .filter(({ name }) => name.startsWith("belfry"))
    .map(({ name, statementsPerMinute }) => ({
      measure: `statements a minute when idle, ${name}`,
      target: "≤ 6",
      measured: shown(statementsPerMinute),
      isMet: statementsPerMinute !== null && statementsPerMinute <= 6,
    }))
}
