import {
  type Checked,
  checked,
  type OptionSource,
  type OptionType,
  refusal,
} from "../core/options/checked.ts"
import { CONCURRENCY, OWNER, PAGE, RELEASE } from "../core/options/limits.ts"
import {
  callback,
  choice,
  duration,
  flag,
  integer,
  list,
  objectWith,
  part,
  record,
  required,
  textsByName,
} from "../core/options/option-types.ts"
import type { Duration } from "../core/time/duration.ts"
import { DAY, HOUR } from "../core/time/instant.ts"
import { masked } from "../core/values/address.ts"
import type { Role } from "../engine/engine.ts"
import type { Hooks } from "../engine/events.ts"
import type { Clock } from "../runtime/clock.ts"
import type { Logger } from "../runtime/logger.ts"
import type { Store } from "../store/store.ts"
import type { DeclaredSchedule } from "../task/declared-schedule.ts"
import { type AnyTask, LEASE } from "../task/task.ts"
import { cursor, isText } from "./listing.ts"

/** The options of `createScheduler` and of the scheduler's own methods. */

export interface SchedulerOptions {
  readonly store: Store
  readonly tasks?: readonly AnyTask[]
  /** Schedules declared in code. They are reconciled with the store at start. */
  readonly schedules?: readonly DeclaredSchedule[]
  /** The name of this application. Each application on a shared store needs its own. */
  readonly owner?: string
  /** A number that rises with each deploy. Processes of an older release don't change the schedules of a newer one. */
  readonly release?: number
  /** Delete stored schedules of this owner that are no longer declared. Default: true if `owner` is given. */
  readonly prune?: boolean
  /** How many runs this process performs at once. Default 10. */
  readonly concurrency?: number
  /** How long a worker may be silent before other workers take over its runs. Default 30 seconds. */
  readonly lease?: Duration
  /** The longest time between two reads of the store. Default 60 seconds. Hints and timers cause earlier reads. */
  readonly pollInterval?: Duration
  /** The minimum time between two claims. Default 0. */
  readonly nextDelay?: Duration
  /** How long finished runs are kept (default 30 days), and how many of each schedule are kept at any age (default 100). */
  readonly retention?: { readonly age?: Duration; readonly perSchedule?: number }
  /** Shown with this process in the list of workers. Example: `{ region: "eu-west" }`. */
  readonly labels?: Readonly<Record<string, string>>
  readonly hooks?: Hooks
  /** A pino logger can be used. By default warnings and errors go to standard error. */
  readonly logger?: Logger
  readonly clock?: Clock
}

export interface StartOptions {
  /** `fire`: turn due schedules into runs. `work`: perform runs of this process's tasks. Default: both. */
  readonly roles?: readonly Role[]
}

const HOOK = callback()
export const HOOK_TABLE = {
  start: HOOK,
  stop: HOOK,
  idle: HOOK,
  error: HOOK,
  run: HOOK,
  race: HOOK,
  claimed: HOOK,
} satisfies Record<keyof Hooks, OptionType<unknown>>

/**
 * The object itself is kept, not a copy, because it may be an instance of a class. Only the hooks of an instance are checked.
 */
const HOOKS: OptionType<Hooks> = {
  ...record(HOOK_TABLE),
  read(value, at) {
    const kind = isPlain(value) ? record(HOOK_TABLE) : part(HOOK_TABLE)
    kind.read(value, at)
    return value as Hooks
  },
}

function isPlain(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return true
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

/** All declared tasks and schedules are kept in memory. */
const DECLARED_MAX = 100_000

const TASK = objectWith<AnyTask>(["name", "retry", "run"], "what defineTask returns")

const DECLARED: OptionType<DeclaredSchedule> = {
  allowed: "what task.schedule returns",
  read(value, at) {
    const declared = objectWith<DeclaredSchedule>(["id", "task", "options"], DECLARED.allowed).read(value, at)
    TASK.read(declared.task, { source: at.source, option: `${at.option}.task` })
    return declared
  },
}

const LABELS = textsByName({ names: 20, name: /^[A-Za-z0-9_.:/-]{1,64}$/, length: 200 })

const RETENTION = { age: duration(), perSchedule: integer(0, 1_000_000) }

/** The function that makes a store of an address, and its entry point. Null: no store has such addresses. */
function storeFunctionFor(address: string): readonly [name: string, entry: string] | null {
  if (/^postgres(ql)?:/i.test(address)) return ["postgres", "belfry/postgres"]
  if (/^rediss?:/i.test(address)) return ["redis", "belfry/redis"]
  if (/^(sqlite|file):|\.(db|sqlite3?)$/i.test(address)) return ["sqlite", "belfry/sqlite"]
  return null
}

const STORE_OBJECT = objectWith<Store>(["open", "fire", "claim"], "a store, such as memory()")

const STORE: OptionType<Store> = {
  ...STORE_OBJECT,
  read(value, at) {
    const found = typeof value === "string" ? storeFunctionFor(value) : null
    if (found === null) return STORE_OBJECT.read(value, at)
    // `sqlite` takes a path. The command line also takes these schemes.
    const address = masked(value as string).replace(/^(sqlite|file):(\/\/)?/i, "")
    const [name, entry] = found
    throw refusal(at, `is text; use ${name}(${JSON.stringify(address)}) of ${entry}`, { value: address })
  },
}

export const SCHEDULER_OPTIONS = {
  store: required(STORE),
  tasks: list(TASK, { max: DECLARED_MAX, form: "a list of tasks" }),
  schedules: list(DECLARED, { max: DECLARED_MAX, form: "a list of declared schedules" }),
  owner: OWNER,
  release: RELEASE,
  prune: flag,
  concurrency: CONCURRENCY,
  lease: LEASE,
  pollInterval: duration({ min: 10, max: DAY }),
  nextDelay: duration({ max: HOUR }),
  retention: record(RETENTION),
  labels: LABELS,
  hooks: HOOKS,
  logger: objectWith<Logger>(["debug", "info", "warn", "error"], "a logger: debug, info, warn and error"),
  clock: objectWith<Clock>(["now", "monotonic", "setTimer", "random", "newId"], "a clock"),
} satisfies Record<keyof SchedulerOptions, OptionType<unknown>>

export type GivenOptions = Checked<typeof SCHEDULER_OPTIONS>

export const START_OPTIONS = {
  roles: list(choice<Role>("fire", "work"), { max: 2, form: 'a list such as ["work"]' }),
} satisfies Record<keyof StartOptions, OptionType<unknown>>

export const STOP_OPTIONS = { timeout: duration() }
export const RECONCILE_OPTIONS = { dryRun: flag }
export const WORKERS_PAGE = { limit: PAGE, cursor: cursor(isText) }

export function sourceOf(method: string): OptionSource {
  return { code: "BELFRY_SCHEDULER_INVALID", subject: method }
}

export function checkedSchedulerOptions(options: SchedulerOptions): GivenOptions {
  return checked(options, SCHEDULER_OPTIONS, sourceOf("createScheduler"))
}
