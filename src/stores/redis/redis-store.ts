import { isFinished, type RunChange } from "../../core/run.ts"
import { noRunCounts } from "../../core/run-states.ts"
import { noScheduleCounts } from "../../core/schedule-state.ts"
import type { LogLine, Store } from "../../store/store.ts"
import { EndedHints } from "../kit/ended-hints.ts"
import { refused, refusedRun, sendIsolated } from "../kit/isolation.ts"
import { OpenOnce } from "../kit/open-once.ts"
import { newReader } from "../kit/shares.ts"
import type { RedisClient, RedisOptions, Waiting } from "./client.ts"
import { Connection } from "./connection.ts"
import { Hints } from "./hints.ts"
import { LossDetector } from "./loss-detector.ts"
import { KEYS } from "./lua/keys.ts"
import { examine } from "./opening.ts"
import { scriptOf } from "./script.ts"
import { claimRuns } from "./scripts/claiming.ts"
import { completeLists } from "./scripts/completing-lists.ts"
import { countRuns } from "./scripts/counting-runs.ts"
import { findDocuments, putDocument } from "./scripts/documents.ts"
import { dueSchedules } from "./scripts/due.ts"
import { enqueueRuns } from "./scripts/enqueuing.ts"
import { findRuns } from "./scripts/finding-runs.ts"
import { countSchedules, findSchedules } from "./scripts/finding-schedules.ts"
import { firePlans } from "./scripts/firing.ts"
import { beat, findWorkers } from "./scripts/heartbeat.ts"
import { appendEntries, readJournal } from "./scripts/journal.ts"
import { appendLines, readLines } from "./scripts/logs.ts"
import { prune } from "./scripts/pruning.ts"
import { readRuns } from "./scripts/reading-runs.ts"
import { putSchedule } from "./scripts/schedules.ts"
import { summarise } from "./scripts/summarising.ts"
import { changeRuns } from "./scripts/transition.ts"

const NOW = scriptOf(KEYS, "return now_ms()")

/**
 * Everything below one prefix of a Redis or Valkey server. Each call is one script, or a few for many elements: a server runs
 * one script at a time, so each is an atom by nature, and its clock is read inside.
 */
export function createRedisStore(
  makeClient: () => Promise<{ client: RedisClient; isOurs: boolean }>,
  options: RedisOptions,
  waiting: Waiting,
): Store {
  const opening = new OpenOnce(options.where, () => open(makeClient, options, waiting))
  const reader = newReader(waiting.random())
  const reach = async () => (await opening.reach()).connection
  return {
    async open() {
      await opening.reach()
    },
    async close() {
      const opened = await opening.close()
      if (opened === null) return
      opened.ended.close()
      opened.news.close()
      leave(opened)
    },
    now: async () => (await reach()).run<number>(NOW, []),
    async listen(onHint) {
      const { news } = await opening.reach()
      const stop = await news.listen(onHint)
      return async () => stop()
    },

    async putSchedule(schedule, ifVersion, entry) {
      const { connection, memory } = await opening.reach()
      const swap = await putSchedule(connection, schedule, ifVersion, entry)
      if (swap.outcome === "done") memory.saw(swap.version)
      return swap
    },
    dueSchedules: async (request) => dueSchedules(await opening.reach(), reader, request),
    async fire(plans) {
      const { connection, memory } = await opening.reach()
      const before = memory.version
      const answers = await sendIsolated(plans, (some) => firePlans(connection, some), refused)
      memory.saw(before + answers.filter(({ outcome }) => outcome === "done").length)
      return answers
    },

    async enqueue(runs) {
      const connection = await reach()
      return sendIsolated(runs, (some) => enqueueRuns(connection, some), refusedRun)
    },
    async claim(request) {
      const connection = await reach()
      const { unreadable, ...claimed } = await claimRuns(connection, request)
      if (unreadable.length > 0)
        await sendIsolated(unreadable, (some) => changeRuns(connection, some), refused)
      return claimed
    },
    async heartbeat(heartbeat) {
      const { connection, memory } = await opening.reach()
      return beat(connection, memory, heartbeat)
    },
    async transition(changes) {
      const { connection, ended } = await opening.reach()
      const answers = await sendIsolated(changes, (some) => changeRuns(connection, some), refused)
      const isEnd = ({ state }: RunChange, index: number) =>
        isFinished(state) && answers[index]!.outcome === "done"
      if (changes.some(isEnd)) ended.onEnded()
      return answers
    },
    async prune(request) {
      const connection = await reach()
      const pruned = await prune(connection, request)
      await completeLists(connection)
      return pruned
    },

    async appendLogs(lines) {
      const connection = await reach()
      const append = async (some: readonly LogLine[]): Promise<readonly null[]> => {
        await appendLines(connection, some)
        return []
      }
      await sendIsolated(lines, append, () => null)
    },
    readLogs: async (page) => readLines(await reach(), page),

    async putDocument(document, ifVersion, entry) {
      const { connection, memory } = await opening.reach()
      const swap = await putDocument(connection, document, ifVersion, entry)
      if (swap.outcome === "done") memory.saw(swap.version)
      return swap
    },
    findDocuments: async (filter, page) => findDocuments(await reach(), filter, page),
    async appendJournal(entries) {
      const connection = await reach()
      return sendIsolated(entries, (some) => appendEntries(connection, some), refused)
    },
    readJournal: async (filter, page) => readJournal(await reach(), filter, page),

    findSchedules: async (filter, page) => findSchedules(await reach(), filter, page),
    findRuns: async (filter, page) => findRuns(await reach(), filter, page),
    readRuns: async (ids) => readRuns(await reach(), ids),
    async count({ runs, schedules, limit }) {
      const connection = await reach()
      return {
        runs: runs === undefined ? noRunCounts() : await countRuns(connection, runs, limit),
        schedules:
          schedules === undefined ? noScheduleCounts() : await countSchedules(connection, schedules, limit),
      }
    },
    summarise: async (request) => summarise(await reach(), request),
    findWorkers: async (page) => findWorkers(await reach(), page),
  }
}

interface Opened {
  readonly client: RedisClient
  readonly isOurs: boolean
  readonly connection: Connection
  readonly memory: LossDetector
  readonly news: Hints
  readonly ended: EndedHints
}

async function open(
  makeClient: () => Promise<{ client: RedisClient; isOurs: boolean }>,
  options: RedisOptions,
  waiting: Waiting,
): Promise<Opened> {
  const { client, isOurs } = await makeClient()
  const connection = new Connection(client, isOurs, options, waiting)
  client.on("error", connection.onError)
  const news = new Hints(client, connection, options, waiting)
  const memory = new LossDetector(connection, () => news.tell("forgotten"))
  try {
    await examine(connection, client, options)
    await memory.look()
  } catch (error) {
    leave({ client, isOurs, connection })
    throw error
  }
  // From now on another connection, or a script that the server ought to know, may mean another server.
  news.onConnected = memory.glance
  // Beside everything else: with a million runs it takes seconds, and until then only lists are short of some.
  void completeLists(connection).catch(() => undefined)
  connection.onStranger = memory.glance
  const ended = new EndedHints(waiting, () => news.publish("ended"))
  news.onEnded = () => ended.onHeard()
  return { client, isOurs, connection, memory, news, ended }
}

/** What is somebody else's goes on. */
function leave({ client, isOurs, connection }: Pick<Opened, "client" | "isOurs" | "connection">): void {
  if (isOurs) client.disconnect()
  else client.off("error", connection.onError)
}
