import type { FirePlan } from "../../core/planning/plan.ts"
import type { NewJournalEntry } from "../../core/records/journal.ts"
import type { NewRun, RunChange } from "../../core/run/run.ts"
import { noRunCounts } from "../../core/run/run-states.ts"
import type {
  AppendAnswer,
  EnqueueAnswer,
  FireAnswer,
  Hint,
  LogLine,
  Store,
  TransactionalStore,
  TransitionAnswer,
} from "../../store/store.ts"
import { NO_SCHEDULES_COUNTED } from "../kit/counts.ts"
import { EndedHints } from "../kit/ended-hints.ts"
import { hintsOfEnqueue, hintsOfFire, hintsOfSwap, hintsOfTransition } from "../kit/hints-of-writes.ts"
import { sendIsolated, unstorable, unstorableRun } from "../kit/isolation.ts"
import { OpenOnce } from "../kit/open-once.ts"
import { newReader } from "../kit/shares.ts"
import type { Timers } from "../kit/timers.ts"
import type { Pool, Queryable } from "./client.ts"
import { ignoreConnectionErrors } from "./connection-errors.ts"
import { Database, type DatabaseOptions, type Runner } from "./database.ts"
import { HintSender, NOTIFY } from "./hint-sender.ts"
import { bringUpToDate } from "./migrations.ts"
import { instantOf, ms, NOW } from "./rows.ts"
import { Session } from "./session.ts"
import { claimRuns } from "./statements/claiming.ts"
import { findDocuments, putDocument } from "./statements/documents.ts"
import { dueSchedules } from "./statements/due.ts"
import { enqueueRuns } from "./statements/enqueuing.ts"
import { countRuns, findRuns, findWorkers, readRuns } from "./statements/finding.ts"
import { countSchedules, findSchedules } from "./statements/finding-schedules.ts"
import { firePlans } from "./statements/firing.ts"
import { beat } from "./statements/heartbeat.ts"
import { appendEntries, readJournal } from "./statements/journal.ts"
import { appendLines, readLines } from "./statements/logs.ts"
import { prune } from "./statements/pruning.ts"
import { putSchedule } from "./statements/schedules.ts"
import { summarise } from "./statements/statistics.ts"
import { changeRuns, groupsOf } from "./statements/transition.ts"
import { warmUp } from "./warm-up.ts"

export type PostgresStore = TransactionalStore<Queryable>

const SELECT_NOW = `select ${ms(NOW)}`

/**
 * A store in one schema of a PostgreSQL database. Each call is one statement, which is atomic and decides by the rows as they are
 * when it locks them. So no transaction stays open between calls, and a connection pooler may be in between.
 */
export function createPostgresStore(
  makePool: () => Promise<{ pool: Pool; isOwned: boolean }>,
  options: DatabaseOptions,
  timers: Timers,
): PostgresStore {
  const connections = new StoreConnections(makePool, options, timers)
  return {
    ...operations({
      timers,
      isTransaction: false,
      pool: async () => (await connections.opened()).database,
      reserved: async () => (await connections.opened()).session.runner(),
      sendHints: async (hints) => connections.sendHints(hints),
    }),
    async open() {
      await connections.opened()
    },
    close: () => connections.close(),
    async listen(onHint) {
      const { session } = await connections.opened()
      const stop = session.listen(onHint)
      // A process that listens will soon fire and claim, so its connections are warmed up now.
      connections.warmUp()
      return async () => stop()
    },
    within: (transaction) => within(transaction, connections, timers),
  }
}

function within(transaction: Queryable, connections: StoreConnections, timers: Timers): Store {
  const runner = async () => (await connections.opened()).database.inside(transaction)
  return {
    ...operations({
      timers,
      isTransaction: true,
      pool: runner,
      reserved: runner,
      // NOTIFY is delivered at the commit. A process that was told earlier would find nothing.
      sendHints: async (hints) => {
        if (hints.length > 0) await (await runner()).rows(NOTIFY, [connections.channel, [...hints]])
      },
    }),
    open: async () => undefined,
    close: async () => undefined,
    listen: async () => async () => undefined,
  }
}

interface Access {
  readonly timers: Timers
  /** After an error a transaction is aborted, so in a transaction one invalid element fails the whole call. */
  readonly isTransaction: boolean
  pool(): Promise<Runner>
  reserved(): Promise<Runner>
  sendHints(hints: readonly Hint[]): Promise<void>
}

function operations(access: Access): Omit<Store, "open" | "close" | "listen"> {
  const reader = newReader(access.timers.random())
  const isolated: typeof sendIsolated = (elements, send, refuse) =>
    access.isTransaction ? send(elements) : sendIsolated(elements, send, refuse)

  async function fire(plans: readonly FirePlan[]): Promise<readonly FireAnswer[]> {
    const fired = await firePlans(await access.pool(), plans)
    const answers = fired.map(({ answer }) => answer)
    const isSooner = fired.map((each) => each.isSooner)
    await access.sendHints(hintsOfFire(plans, answers, isSooner))
    return answers
  }

  async function enqueue(runs: readonly NewRun[]): Promise<readonly EnqueueAnswer[]> {
    if (runs.length === 0) return []
    const answers = await enqueueRuns(await access.pool(), runs)
    await access.sendHints(hintsOfEnqueue(runs, answers))
    return answers
  }

  async function transition(changes: readonly RunChange[]): Promise<readonly TransitionAnswer[]> {
    const { answers, mayFreeRuns } = await changeRuns(await access.pool(), changes, access.isTransaction)
    await access.sendHints(hintsOfTransition(changes, answers, mayFreeRuns))
    return answers
  }

  /** Group by group: a refused change must not cause changes of an earlier group, which are stored, to be sent again. */
  async function transitionInGroups(changes: readonly RunChange[]): Promise<readonly TransitionAnswer[]> {
    const answers: TransitionAnswer[] = []
    for (const group of groupsOf(changes)) answers.push(...(await isolated(group, transition, unstorable)))
    return answers
  }

  async function append(lines: readonly LogLine[]): Promise<readonly null[]> {
    await appendLines(await access.pool(), lines)
    return []
  }

  async function appendJournal(entries: readonly NewJournalEntry[]): Promise<readonly AppendAnswer[]> {
    await appendEntries(await access.pool(), entries)
    return entries.map(() => ({ outcome: "done" }))
  }

  return {
    async now() {
      const [row] = await (await access.pool()).rows(SELECT_NOW)
      return instantOf(row![0]!)
    },

    async putSchedule(schedule, ifVersion, entry) {
      const answer = await putSchedule(await access.pool(), schedule, ifVersion, entry)
      await access.sendHints(hintsOfSwap(answer, "schedules"))
      return answer
    },
    dueSchedules: async (request) => dueSchedules(await access.pool(), request, reader),
    fire: (plans) => isolated(plans, fire, unstorable),

    enqueue: (runs) => isolated(runs, enqueue, unstorableRun),
    async claim(request) {
      const { unreadable, ...claimed } = await claimRuns(await access.pool(), request)
      if (unreadable.length > 0) await isolated(unreadable, transition, unstorable)
      return claimed
    },
    heartbeat: async (heartbeat) => beat(await access.reserved(), heartbeat),
    transition: transitionInGroups,
    prune: async (request) => prune(await access.pool(), request),

    async appendLogs(lines) {
      await isolated(lines, append, () => null)
    },
    readLogs: async (page) => readLines(await access.pool(), page),

    async putDocument(document, ifVersion, entry) {
      const answer = await putDocument(await access.pool(), document, ifVersion, entry)
      await access.sendHints(hintsOfSwap(answer, "documents"))
      return answer
    },
    findDocuments: async (filter, page) => findDocuments(await access.pool(), filter, page),
    appendJournal: (entries) => isolated(entries, appendJournal, unstorable),
    readJournal: async (filter, page) => readJournal(await access.pool(), filter, page),

    findSchedules: async (filter, page) => findSchedules(await access.pool(), filter, page),
    findRuns: async (filter, page) => findRuns(await access.pool(), filter, page),
    readRuns: async (ids) => readRuns(await access.pool(), ids),
    async count({ runs, schedules, limit }) {
      const runner = await access.pool()
      return {
        runs: runs === undefined ? noRunCounts() : await countRuns(runner, runs, limit),
        ...(schedules === undefined ? NO_SCHEDULES_COUNTED : await countSchedules(runner, schedules, limit)),
      }
    },
    summarise: async (request) => summarise(await access.pool(), request),
    findWorkers: async (page) => findWorkers(await access.pool(), page),
  }
}

interface Opened {
  readonly pool: Pool
  readonly isOwned: boolean
  /** Removes the listeners from a pool that the program owns. */
  stopIgnoring(): void
  readonly database: Database
  readonly session: Session
  readonly hintSender: HintSender
  readonly ended: EndedHints
}

class StoreConnections {
  readonly channel: string
  readonly #makePool: () => Promise<{ pool: Pool; isOwned: boolean }>
  readonly #options: DatabaseOptions
  readonly #timers: Timers
  readonly #once: OpenOnce<Opened>
  #warmUp: Promise<void> | null = null

  constructor(
    makePool: () => Promise<{ pool: Pool; isOwned: boolean }>,
    options: DatabaseOptions,
    timers: Timers,
  ) {
    this.#makePool = makePool
    this.#options = options
    this.#timers = timers
    this.#once = new OpenOnce(options.where, () => this.#open())
    this.channel = options.schema
  }

  opened(): Promise<Opened> {
    return this.#once.reach()
  }

  /** Not awaited: without the hint, other processes find the change at their next poll. */
  sendHints(hints: readonly Hint[]): void {
    const { hintSender, ended } = this.#once.opened ?? {}
    if (hints.includes("ended")) ended?.onEnded()
    const others = hints.filter((hint) => hint !== "ended")
    if (others.length > 0) hintSender?.send(others)
  }

  /** Runs once, in the background. */
  warmUp(): void {
    const { opened } = this.#once
    if (opened !== null) this.#warmUp ??= warmUp(opened.database, () => this.#once.isClosed)
  }

  async close(): Promise<void> {
    const opened = await this.#once.close()
    if (opened === null) return
    await this.#warmUp
    opened.ended.close()
    await opened.hintSender.close()
    opened.session.close()
    if (opened.isOwned) await opened.database.withDeadline(opened.pool.end()).catch(ignored)
    else opened.stopIgnoring()
  }

  async #open(): Promise<Opened> {
    const { pool, isOwned } = await this.#makePool()
    const stopIgnoring = ignoreConnectionErrors(pool)
    const database = new Database(pool, this.#options, this.#timers)
    try {
      await bringUpToDate(database, this.#options)
    } catch (error) {
      // Not awaited: the pool ends with its last connection, and that may hang.
      if (isOwned) pool.end().catch(ignored)
      else stopIgnoring()
      throw error
    }
    const session = new Session(pool, database, this.#timers, this.channel)
    const hintSender = new HintSender(database, this.#timers, this.channel)
    const ended = new EndedHints(this.#timers, () => hintSender.send(["ended"]))
    session.onEnded = () => ended.onReceived()
    return { pool, isOwned, stopIgnoring, database, session, hintSender, ended }
  }
}

/** A pool that can't be ended has no open connections. */
function ignored(): void {}
