import type { NewJournalEntry } from "../../core/journal.ts"
import type { FirePlan } from "../../core/plan.ts"
import type { NewRun, RunChange } from "../../core/run.ts"
import { noRunCounts } from "../../core/run-states.ts"
import { noScheduleCounts } from "../../core/schedule-state.ts"
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
import { EndedHints } from "../kit/ended-hints.ts"
import { refused, refusedRun, sendIsolated } from "../kit/isolation.ts"
import { OpenOnce } from "../kit/open-once.ts"
import { newReader } from "../kit/shares.ts"
import type { Pool, Queryable } from "./client.ts"
import { Database, type DatabaseOptions, type Runner, type Waiting } from "./database.ts"
import { HintSender, NOTIFY } from "./hint-sender.ts"
import { migrate } from "./migrations.ts"
import { rehearse } from "./rehearsal.ts"
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
import { changeRuns } from "./statements/transition.ts"

export type PostgresStore = TransactionalStore<Queryable>

const SELECT_NOW = `select ${ms(NOW)}`

/**
 * Everything in one schema of a PostgreSQL database. Each call is one statement, which takes effect whole or not at all, and
 * is decided by the rows as they are when they are locked: so no transaction is open while a program thinks, and a
 * connection pooler may stand in between.
 */
export function createPostgresStore(
  makePool: () => Promise<{ pool: Pool; isOurs: boolean }>,
  options: DatabaseOptions,
  waiting: Waiting,
): PostgresStore {
  const opening = new OptionSource(makePool, options, waiting)
  return {
    ...operations({
      waiting,
      isTransaction: false,
      pool: async () => (await opening.opened()).database,
      reserved: async () => (await opening.opened()).session.runner(),
      tell: async (hints) => opening.tell(hints),
    }),
    async open() {
      await opening.opened()
    },
    close: () => opening.close(),
    async listen(onHint) {
      const { session } = await opening.opened()
      const stop = session.listen(onHint)
      // Who listens is about to fire and to work.
      opening.rehearse()
      return async () => stop()
    },
    within: (transaction) => within(transaction, opening, waiting),
  }
}

function within(transaction: Queryable, opening: OptionSource, waiting: Waiting): Store {
  const runner = async () => (await opening.opened()).database.inside(transaction)
  return {
    ...operations({
      waiting,
      isTransaction: true,
      pool: runner,
      reserved: runner,
      // With the commit, and not before it: who came sooner would find nothing.
      tell: async (hints) => {
        if (hints.length > 0) await (await runner()).rows(NOTIFY, [opening.channel, [...hints]])
      },
    }),
    open: async () => undefined,
    close: async () => undefined,
    listen: async () => async () => undefined,
  }
}

interface Ways {
  readonly waiting: Waiting
  /** After an error nothing more can be done in a transaction: there, what can't be kept is a fault of the whole call. */
  readonly isTransaction: boolean
  pool(): Promise<Runner>
  reserved(): Promise<Runner>
  tell(hints: readonly Hint[]): Promise<void>
}

function operations(ways: Ways): Omit<Store, "open" | "close" | "listen"> {
  const reader = newReader(ways.waiting.random())
  const apart: typeof sendIsolated = (elements, send, refuse) =>
    ways.isTransaction ? send(elements) : sendIsolated(elements, send, refuse)

  async function fire(plans: readonly FirePlan[]): Promise<readonly FireAnswer[]> {
    const { answers, news } = await firePlans(await ways.pool(), plans)
    await ways.tell(news)
    return answers
  }

  async function enqueue(runs: readonly NewRun[]): Promise<readonly EnqueueAnswer[]> {
    if (runs.length === 0) return []
    const answers = await enqueueRuns(await ways.pool(), runs)
    const isNews = answers.some(
      ({ outcome }, index) => outcome === "created" && runs[index]!.state === "pending",
    )
    await ways.tell(isNews ? ["runs"] : [])
    return answers
  }

  async function transition(changes: readonly RunChange[]): Promise<readonly TransitionAnswer[]> {
    const { answers, news } = await changeRuns(await ways.pool(), changes, ways.isTransaction)
    await ways.tell(news)
    return answers
  }

  async function append(lines: readonly LogLine[]): Promise<readonly null[]> {
    await appendLines(await ways.pool(), lines)
    return []
  }

  async function appendJournal(entries: readonly NewJournalEntry[]): Promise<readonly AppendAnswer[]> {
    await appendEntries(await ways.pool(), entries)
    return entries.map(() => ({ outcome: "done" }))
  }

  return {
    async now() {
      const [row] = await (await ways.pool()).rows(SELECT_NOW)
      return instantOf(row![0]!)
    },

    async putSchedule(schedule, ifVersion, entry) {
      const answer = await putSchedule(await ways.pool(), schedule, ifVersion, entry)
      if (answer.outcome === "done") await ways.tell(["schedules"])
      return answer
    },
    dueSchedules: async (request) => dueSchedules(await ways.pool(), request, reader),
    fire: (plans) => apart(plans, fire, refused),

    enqueue: (runs) => apart(runs, enqueue, refusedRun),
    async claim(request) {
      const { unreadable, ...claimed } = await claimRuns(await ways.pool(), request)
      if (unreadable.length > 0) await apart(unreadable, transition, refused)
      return claimed
    },
    heartbeat: async (heartbeat) => beat(await ways.reserved(), heartbeat),
    transition: (changes) => apart(changes, transition, refused),
    prune: async (request) => prune(await ways.pool(), request),

    async appendLogs(lines) {
      await apart(lines, append, () => null)
    },
    readLogs: async (page) => readLines(await ways.pool(), page),

    async putDocument(document, ifVersion, entry) {
      const answer = await putDocument(await ways.pool(), document, ifVersion, entry)
      if (answer.outcome === "done") await ways.tell(["documents"])
      return answer
    },
    findDocuments: async (filter, page) => findDocuments(await ways.pool(), filter, page),
    appendJournal: (entries) => apart(entries, appendJournal, refused),
    readJournal: async (filter, page) => readJournal(await ways.pool(), filter, page),

    findSchedules: async (filter, page) => findSchedules(await ways.pool(), filter, page),
    findRuns: async (filter, page) => findRuns(await ways.pool(), filter, page),
    readRuns: async (ids) => readRuns(await ways.pool(), ids),
    async count({ runs, schedules, limit }) {
      const runner = await ways.pool()
      return {
        runs: runs === undefined ? noRunCounts() : await countRuns(runner, runs, limit),
        schedules:
          schedules === undefined ? noScheduleCounts() : await countSchedules(runner, schedules, limit),
      }
    },
    summarise: async (request) => summarise(await ways.pool(), request),
    findWorkers: async (page) => findWorkers(await ways.pool(), page),
  }
}

interface Opened {
  readonly pool: Pool
  readonly isOurs: boolean
  readonly database: Database
  readonly session: Session
  readonly news: HintSender
  readonly ended: EndedHints
}

class OptionSource {
  readonly channel: string
  readonly #makePool: () => Promise<{ pool: Pool; isOurs: boolean }>
  readonly #options: DatabaseOptions
  readonly #waiting: Waiting
  readonly #once: OpenOnce<Opened>
  #rehearsal: Promise<void> | null = null

  constructor(
    makePool: () => Promise<{ pool: Pool; isOurs: boolean }>,
    options: DatabaseOptions,
    waiting: Waiting,
  ) {
    this.#makePool = makePool
    this.#options = options
    this.#waiting = waiting
    this.#once = new OpenOnce(options.where, () => this.#open())
    this.channel = options.schema
  }

  opened(): Promise<Opened> {
    return this.#once.reach()
  }

  /** Not waited for: a hint that is late costs nobody more than a moment. */
  tell(hints: readonly Hint[]): void {
    const { news, ended } = this.#once.opened ?? {}
    if (hints.includes("ended")) ended?.onEnded()
    const others = hints.filter((hint) => hint !== "ended")
    if (others.length > 0) news?.tell(others)
  }

  /** Once, in the background. */
  rehearse(): void {
    const { opened } = this.#once
    if (opened !== null) this.#rehearsal ??= rehearse(opened.database, () => this.#once.isClosed)
  }

  async close(): Promise<void> {
    const opened = await this.#once.close()
    if (opened === null) return
    await this.#rehearsal
    opened.ended.close()
    await opened.news.close()
    opened.session.close()
    if (opened.isOurs) await opened.database.by(opened.pool.end()).catch(ignored)
    else opened.pool.off?.("error", ignored)
  }

  async #open(): Promise<Opened> {
    const { pool, isOurs } = await this.#makePool()
    // Without a listener, an idle connection that the server ends would end the process.
    pool.on?.("error", ignored)
    const database = new Database(pool, this.#options, this.#waiting)
    try {
      await database.withClient((client) => migrate(client, this.#options))
    } catch (error) {
      // Not waited for: it ends with its last connection, and that one may never be answered.
      if (isOurs) pool.end().catch(ignored)
      else pool.off?.("error", ignored)
      throw error
    }
    const session = new Session(pool, database, this.#waiting, this.channel)
    const news = new HintSender(database, this.#waiting, this.channel)
    const ended = new EndedHints(this.#waiting, () => news.tell(["ended"]))
    session.onEnded = () => ended.onHeard()
    return { pool, isOurs, database, session, news, ended }
  }
}

/** The pool has taken the connection out already, and the next call makes another; or nobody needs any more. */
function ignored(): void {}
