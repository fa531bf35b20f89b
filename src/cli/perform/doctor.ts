import { BelfryError } from "../../core/errors.ts"
import { version } from "../../runtime/version.ts"
import { collected } from "../../scheduler/listing.ts"
import { type Check, ok, problem, warning } from "../../store/check.ts"
import { checkRuns, checkSchedules, checkWorkers } from "../checks/doctor-checks.ts"
import { ignoredLints } from "../checks/lints.ts"
import { CliError, problemOf } from "../cli-error.ts"
import { EXIT, type ExitCode } from "../exit-codes.ts"
import type { Call } from "../parsing/command.ts"
import { paintOf, showRecord } from "../printing/output.ts"
import { printable } from "../printing/printable.ts"
import { allWorkers } from "../printing/worker-rows.ts"
import { allSchedules } from "../session/lookups.ts"
import { closeSession, openSession, type Session } from "../session/session.ts"

export async function doctor(call: Call): Promise<ExitCode | undefined> {
  const { flags, io } = call
  const checks: Check[] = [...hostChecks(call)]
  let isReachable = false
  try {
    const session = await openSession(call, false)
    try {
      checks.push(...(await storeChecks(call, session)))
      isReachable = true
    } finally {
      await closeSession(session)
    }
  } catch (error) {
    if (!(error instanceof BelfryError || error instanceof CliError)) throw error
    const { message, remedy, exit } = problemOf(error)
    checks.push(problem(exit === EXIT.unavailable ? "store" : "configuration", message, remedy ?? ""))
  }
  if (flags.isOn("json")) await showRecord(call, checks, "json")
  else io.out(checks.map((check) => lineOf(call, check)).join(""))
  if (!isReachable) return EXIT.unavailable
  const isBad = checks.some(
    ({ result }) => result === "problem" || (result === "warning" && flags.isOn("strict")),
  )
  return isBad ? EXIT.failed : undefined
}

const MARKS = { ok: ["green", "✓"], warning: ["yellow", "!"], problem: ["red", "✕"] } as const

function lineOf(call: Call, { name, result, message, remedy }: Check): string {
  const [colour, mark] = MARKS[result]
  const fix = remedy === null || remedy === "" ? "" : `\n    ${printable(remedy)}`
  return `${paintOf(call)(colour, mark)} ${name.padEnd(15)} ${printable(message)}${fix}\n`
}

function hostChecks({ io }: Call): readonly Check[] {
  const { node, tz, icu } = process.versions
  const hasZones = Intl.supportedValuesOf("timeZone").length > 100
  return [
    ok("version", `belfry ${version()}, Node.js ${node}`),
    hasZones
      ? ok("time zones", `tz ${tz ?? "unknown"}, ICU ${icu ?? "unknown"}; this host is in ${io.zone}`)
      : problem("time zones", "this Node.js has few time zones", "Use a build with full ICU data."),
  ]
}

const LINTS_PAGE = 500
const CALLS = 20
/** With a larger offset, times on the screen are wrong. Due times are not affected, because they use the store's clock. */
const OFFSET_MAX_MS = 2_000

async function storeChecks(call: Call, session: Session): Promise<readonly Check[]> {
  const { io } = call
  const { scheduler, store, shownAddress, loaded } = session
  await scheduler.schedules.list({ limit: 1 })
  const inspection = (await session.inspect?.()) ?? null
  const tookMs: number[] = []
  let offsetMs = 0
  for (let index = 0; index < CALLS; index++) {
    const startedAt = io.clock.monotonic()
    const now = await store.now()
    tookMs.push(io.clock.monotonic() - startedAt)
    offsetMs = now - io.clock.now()
  }
  tookMs.sort((a, b) => a - b)
  const [schedules, lints, workers, now] = [
    await allSchedules(scheduler),
    await collected(scheduler.schedules.listLints({ limit: LINTS_PAGE })),
    await allWorkers(scheduler),
    await store.now(),
  ]
  return [
    ok("configuration", loaded === null ? "none" : loaded.path),
    ok("store", `${shownAddress}: opens`),
    inspection === null
      ? ok("schema", "this store has no schema number")
      : ok("schema", `${inspection.schema.stored}, the newest known to this version`),
    ok("latency", `p95 ${tookMs[Math.floor(CALLS * 0.95)]!.toFixed(1)} ms of ${CALLS} calls`),
    Math.abs(offsetMs) <= OFFSET_MAX_MS
      ? ok("clock", "this host agrees with the store")
      : warning(
          "clock",
          `the clock of this host differs from the store's clock by ${Math.round(-offsetMs)} ms`,
          "Synchronise the clock of this host (NTP).",
        ),
    ...(inspection?.checks ?? []),
    ...checkSchedules(schedules, { now, lints, ignored: ignoredLints(call) }),
    ...checkWorkers(workers, schedules),
    ...checkRuns(await scheduler.overview()),
  ]
}
