import type { Duration } from "../../core/time/duration.ts"
import type { Role } from "../../engine/engine.ts"
import { version } from "../../runtime/version.ts"
import { createScheduler } from "../../scheduler/create-scheduler.ts"
import type { Scheduler } from "../../scheduler/scheduler.ts"
import { CliError } from "../cli-error.ts"
import { EXIT, type ExitCode } from "../exit-codes.ts"
import type { Call } from "../parsing/command.ts"
import { type StartLog, startLog } from "../printing/start-log.ts"
import { printSummary } from "../printing/start-summary.ts"
import { configOf, schedulerSettings, storeOf, tasksOf } from "../session/session.ts"

const ROLES: Readonly<Record<string, readonly Role[]>> = { worker: ["work"], server: ["fire"] }

/** Fires schedules and performs runs until a signal. A second signal ends the process at once. */
export async function start(call: Call): Promise<ExitCode> {
  const { flags, io } = call
  const roles = rolesOf(call.args[0])
  const concurrency = flags.whole("concurrency", { max: 10_000 })
  const loaded = await configOf(call)
  const config = loaded?.config ?? {}
  const tasks = await tasksOf(config, call)
  const settings = schedulerSettings(config, tasks)
  const opened = await storeOf(call, loaded, true)
  const log = startLog(call)
  const scheduler = createScheduler({
    ...settings,
    ...(concurrency === undefined ? {} : { concurrency }),
    store: opened.store,
    clock: io.clock,
    logger: config.logger ?? log.logger,
    hooks: {
      ...config.hooks,
      run: (event) => {
        config.hooks?.run?.(event)
        log.run(event)
      },
    },
  })
  const stopped = untilStopped(
    call,
    { scheduler, log },
    flags.durationMs("stopTimeout") ?? config.stopTimeout ?? "30s",
  )
  try {
    await scheduler.start({ roles })
    await printSummary(call, scheduler, {
      ...opened,
      configPath: loaded?.path ?? null,
      tasks: tasks.map(({ name }) => name),
      roles,
      concurrency: concurrency ?? config.concurrency ?? 10,
    })
    const facts = {
      version: version(),
      store: opened.shownAddress,
      roles,
      tasks: tasks.map(({ name }) => name),
    }
    log.life("started", `Belfry ${version()} on ${opened.shownAddress}`, facts)
  } catch (error) {
    await scheduler.stop({ timeout: 0 })
    stopped.unsubscribe()
    throw error
  }
  return stopped.done
}

function rolesOf(role: string | undefined): readonly Role[] {
  if (role === undefined) return ["fire", "work"]
  const roles = Object.hasOwn(ROLES, role) ? ROLES[role] : undefined
  if (roles !== undefined) return roles
  throw new CliError(
    EXIT.usage,
    `There is no role ${JSON.stringify(role)}.`,
    "Use worker or server, or no role for both.",
  )
}

/** Listens before the start begins, so that a signal during the start is not lost. */
function untilStopped(
  call: Call,
  { scheduler, log }: { scheduler: Scheduler; log: StartLog },
  timeout: Duration,
): { done: Promise<ExitCode>; unsubscribe: () => void } {
  const { io } = call
  let unsubscribe: () => void = () => undefined
  const done = new Promise<ExitCode>((resolve, reject) => {
    let isStopping = false
    unsubscribe = io.onSignal((signal) => {
      if (isStopping) return io.exit(signal === "SIGINT" ? EXIT.interrupted : EXIT.terminated)
      isStopping = true
      const words = scheduler.isProcessing
        ? "running tasks may finish (signal again to end at once)"
        : "nothing is running"
      log.life("stopping", `${signal}: no new runs are started, ${words}`, { signal })
      scheduler.stop({ timeout }).then(() => {
        unsubscribe()
        log.life("stopped", "no runs are left running in this process")
        resolve(EXIT.done)
      }, reject)
    })
  })
  return { done, unsubscribe: () => unsubscribe() }
}
