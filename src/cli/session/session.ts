import { basename } from "node:path"
import { BelfryError } from "../../core/errors.ts"
import { shown } from "../../core/values/shown.ts"
import { silentLogger } from "../../runtime/logger.ts"
import { createScheduler } from "../../scheduler/create-scheduler.ts"
import { dryStore } from "../../scheduler/dry-store.ts"
import type { Scheduler } from "../../scheduler/scheduler.ts"
import type { SchedulerOptions } from "../../scheduler/scheduler-options.ts"
import type { Store } from "../../store/store.ts"
import type { DeclaredSchedule } from "../../task/declared-schedule.ts"
import type { AnyTask } from "../../task/task.ts"
import { CliError } from "../cli-error.ts"
import { EXIT } from "../exit-codes.ts"
import type { Config, ScheduleEntry } from "../files/config.ts"
import { type LoadedConfig, loadConfig } from "../files/config-file.ts"
import type { Call } from "../parsing/command.ts"
import { warn } from "../printing/output.ts"
import { DEFAULT_STORE, type OpenedStore, storeAt } from "./open-store.ts"
import { tracedStore } from "./traced-store.ts"

/** The objects that a command works with: the store, and a scheduler on it that is never started. */
export interface Session extends OpenedStore {
  readonly scheduler: Scheduler
  readonly tasks: readonly AnyTask[]
  readonly loaded: LoadedConfig | null
}

/** Opens a session, performs the command, and always closes the session. */
export async function withScheduler<Answer>(
  call: Call,
  perform: (session: Session) => Promise<Answer>,
  { mayCreate = false } = {},
): Promise<Answer> {
  const session = await openSession(call, mayCreate)
  try {
    return await perform(session)
  } finally {
    await closeSession(session)
  }
}

export async function closeSession({ scheduler }: Session): Promise<void> {
  await scheduler.stop()
}

export async function openSession(call: Call, mayCreate: boolean): Promise<Session> {
  const loaded = await configOf(call)
  const opened = await storeOf(call, loaded, mayCreate)
  const store = call.flags.isOn("dryRun") ? await dryStoreOf(opened) : opened.store
  const config = loaded?.config ?? {}
  const tasks = await tasksOf(config, call)
  const scheduler = createScheduler({
    ...intervalsOf(config),
    store,
    tasks,
    logger: silentLogger,
    clock: call.io.clock,
  })
  return { ...opened, store, scheduler, tasks, loaded }
}

/** A dry run makes the real changes and gets the real refusals, but stores nothing. A missing store is not created. */
async function dryStoreOf({ store, isNew }: OpenedStore): Promise<Store> {
  return dryStore(isNew ? (await import("../../stores/memory/memory.ts")).memory() : store)
}

/** The lease and the poll interval of the configuration, which are also those of the workers that use it. */
function intervalsOf({ lease, pollInterval }: Config): Pick<SchedulerOptions, "lease" | "pollInterval"> {
  return {
    ...(lease === undefined ? {} : { lease }),
    ...(pollInterval === undefined ? {} : { pollInterval }),
  }
}

const LOADED = new WeakMap<Call, Promise<LoadedConfig | null>>()

/** Read once per call, so that its warning is printed once. */
export function configOf(call: Call): Promise<LoadedConfig | null> {
  const loaded = LOADED.get(call) ?? readConfig(call)
  LOADED.set(call, loaded)
  return loaded
}

async function readConfig(call: Call): Promise<LoadedConfig | null> {
  const { flags, io } = call
  if (flags.isOff("config")) return null
  const loaded = await loadConfig(io.cwd, flags.text("config") ?? (io.env["BELFRY_CONFIG"] || undefined))
  if (loaded !== null && loaded.unread.length > 0) warn(call, unreadWords(loaded))
  return loaded
}

function unreadWords({ path, unread }: LoadedConfig): string {
  const names = unread.map((each) => basename(each)).join(" and ")
  return `This folder has several configurations. ${basename(path)} is read, ${names} is not. Delete one, or choose one with --config.`
}

/** The store from the flag, else the environment, else the configuration, else the file in this folder. */
export async function storeOf(
  call: Call,
  loaded: LoadedConfig | null,
  mayCreate: boolean,
): Promise<OpenedStore> {
  const opened = await namedStore(call, loaded, mayCreate)
  return call.flags.isOn("verbose") ? { ...opened, store: tracedStore(opened.store, call) } : opened
}

async function namedStore(call: Call, loaded: LoadedConfig | null, mayCreate: boolean): Promise<OpenedStore> {
  const { io } = call
  const named = givenAddress(call)
  const configured = loaded?.config.store
  if (named === undefined && typeof configured === "object")
    return { store: configured, shownAddress: `the store of ${loaded!.path}`, isNew: false, inspect: null }
  const address = named ?? (typeof configured === "string" ? configured : DEFAULT_STORE)
  return storeAt(address, { io, mayCreate })
}

function givenAddress({ flags, io }: Call): string | undefined {
  return flags.text("store") ?? (io.env["BELFRY_STORE"] || undefined)
}

/** The tasks of the configuration and the built-in tasks. A task named `http` in the configuration replaces the built-in one. */
export async function tasksOf(config: Config, call: Call): Promise<readonly AnyTask[]> {
  const own = config.tasks ?? []
  const { httpTask, commandTask } = await import("../../tasks.ts")
  const builtIn: readonly AnyTask[] = [
    httpTask(config.http ?? {}),
    ...(config.commands === undefined ? [] : [commandTask({ ...config.command, commands: config.commands })]),
    ...(config.sql === undefined ? [] : [await sqlTaskOf(config.sql, config.store, call)]),
  ]
  const names = new Set(own.map(({ name }) => name))
  return [...own, ...builtIn.filter(({ name }) => !names.has(name))]
}

/** Uses the database of the store by default. Has its own connections, which are opened by the first run. */
async function sqlTaskOf(
  sql: NonNullable<Config["sql"]>,
  store: Config["store"],
  call: Call,
): Promise<AnyTask> {
  const { sqlFunctions } = await import("../../postgres.ts")
  const address = givenAddress(call) ?? (typeof store === "string" ? store : undefined)
  const url = sql.url ?? address
  if (url !== undefined && /^postgres(ql)?:/i.test(url)) return sqlFunctions({ ...sql, url })
  throw new CliError(
    EXIT.usage,
    'The setting "sql" calls functions of PostgreSQL, but the store is not a PostgreSQL database.',
    'Give the database: sql: { url: "postgres://…", … }, or remove "sql".',
  )
}

export function byName(tasks: readonly AnyTask[]): ReadonlyMap<string, AnyTask> {
  return new Map(tasks.map((task) => [task.name, task]))
}

/** The options of `createScheduler` in a configuration. */
export function schedulerSettings(
  config: Config,
  tasks: readonly AnyTask[],
): Omit<SchedulerOptions, "store"> {
  const { owner, release, prune, concurrency, retention } = config
  return {
    tasks,
    schedules: declaredIn(config, tasks),
    ...(owner === undefined ? {} : { owner }),
    ...(release === undefined ? {} : { release }),
    ...(prune === undefined ? {} : { prune }),
    ...(concurrency === undefined ? {} : { concurrency }),
    ...intervalsOf(config),
    ...(retention === undefined ? {} : { retention }),
  }
}

function declaredIn(config: Config, tasks: readonly AnyTask[]): readonly DeclaredSchedule[] {
  return (config.schedules ?? []).map((entry) =>
    typeof entry.task === "object"
      ? (entry as DeclaredSchedule)
      : declaredFrom(entry as ScheduleEntry, tasks),
  )
}

function declaredFrom(entry: ScheduleEntry, tasks: readonly AnyTask[]): DeclaredSchedule {
  const { id, task: name, payload, ...options } = entry
  const task = tasks.find((each) => each.name === name)
  if (task !== undefined) return { id, task, options, payload, isLocal: false }
  const known = tasks.map((each) => each.name).join(", ")
  throw new BelfryError(
    "BELFRY_TASK_UNKNOWN",
    `Schedule ${shown(id)} names task ${shown(name)}, but this configuration has: ${known}.`,
    { details: { id, task: name } },
  )
}
