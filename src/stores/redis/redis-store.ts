import { isFinished, type RunChange } from "../../core/run/run.ts"
import { noRunCounts } from "../../core/run/run-states.ts"
import type { LogLine, Store } from "../../store/store.ts"
import { NO_SCHEDULES_COUNTED } from "../kit/counts.ts"
import { EndedHints } from "../kit/ended-hints.ts"
import { sendIsolated, unstorable } from "../kit/isolation.ts"
import { OpenOnce } from "../kit/open-once.ts"
import { newReader } from "../kit/shares.ts"
import type { Timers } from "../kit/timers.ts"
import type { RedisClient, RedisOptions } from "./client.ts"
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

const NOW = scriptOf([KEYS], "return now_ms()")

/**
 * A store in the keys of one prefix on a Redis or Valkey server. Each call is one script, or a few for many elements. The server
 * runs one script at a time, so each script is atomic. Scripts read the server's clock.
 */
export function createRedisStore(
  makeClient: () => Promise<{ client: RedisClient; isOwned: boolean }>,
  options: RedisOptions,
  timers: Timers,
): Store {
  const opening = new OpenOnce(options.where, () => open(makeClient, options, timers))
  const reader = newReader(timers.random())
  const reach = async () => (await opening.reach()).connection
  return {
    async open() {
      await opening.reach()
    },
    async close() {
      const opened = await opening.close()
      if (opened === null) return
      opened.ended.close()
      opened.hints.close()
      disconnect(opened)
    },
    now: async () => (await reach()).run<number>(NOW, []),
    async listen(onHint) {
      const { hints } = await opening.reach()
      const stop = await hints.listen(onHint)
      return async () => stop()
    },

    async putSchedule(schedule, ifVersion, entry) {
      const { connection, lossDetector } = await opening.reach()
      const swap = await putSchedule(connection, schedule, ifVersion, entry)
      if (swap.outcome === "done") lossDetector.recordVersion(swap.version)
      return swap
    },
    dueSchedules: async (request) => dueSchedules(await opening.reach(), reader, request),
    async fire(plans) {
      const { connection, lossDetector } = await opening.reach()
      const before = lossDetector.version
      const answers = await firePlans(connection, plans)
      lossDetector.recordVersion(before + answers.filter(({ outcome }) => outcome === "done").length)
      return answers
    },

    async enqueue(runs) {
      const connection = await reach()
      return enqueueRuns(connection, runs)
    },
    async claim(request) {
      const connection = await reach()
      const { unreadable, ...claimed } = await claimRuns(connection, request)
      if (unreadable.length > 0) await changeRuns(connection, unreadable)
      return claimed
    },
    async heartbeat(heartbeat) {
      const { connection, lossDetector } = await opening.reach()
      return beat(connection, lossDetector, heartbeat)
    },
    async transition(changes) {
      const { connection, ended } = await opening.reach()
      const answers = await changeRuns(connection, changes)
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
      const { connection, lossDetector } = await opening.reach()
      const swap = await putDocument(connection, document, ifVersion, entry)
      if (swap.outcome === "done") lossDetector.recordVersion(swap.version)
      return swap
    },
    findDocuments: async (filter, page) => findDocuments(await reach(), filter, page),
    async appendJournal(entries) {
      const connection = await reach()
      return sendIsolated(entries, (some) => appendEntries(connection, some), unstorable)
    },
    readJournal: async (filter, page) => readJournal(await reach(), filter, page),

    findSchedules: async (filter, page) => findSchedules(await reach(), filter, page),
    findRuns: async (filter, page) => findRuns(await reach(), filter, page),
    readRuns: async (ids) => readRuns(await reach(), ids),
    async count({ runs, schedules, limit }) {
      const connection = await reach()
      return {
        runs: runs === undefined ? noRunCounts() : await countRuns(connection, runs, limit),
        ...(schedules === undefined
          ? NO_SCHEDULES_COUNTED
          : await countSchedules(connection, schedules, limit)),
      }
    },
    summarise: async (request) => summarise(await reach(), request),
    findWorkers: async (page) => findWorkers(await reach(), page),
  }
}

interface Opened {
  readonly client: RedisClient
  readonly isOwned: boolean
  readonly connection: Connection
  readonly lossDetector: LossDetector
  readonly hints: Hints
  readonly ended: EndedHints
}

async function open(
  makeClient: () => Promise<{ client: RedisClient; isOwned: boolean }>,
  options: RedisOptions,
  timers: Timers,
): Promise<Opened> {
  const { client, isOwned } = await makeClient()
  const connection = new Connection(client, isOwned, options, timers)
  client.on("error", connection.onError)
  const hints = new Hints(client, connection, options, timers)
  const lossDetector = new LossDetector(connection, () => hints.notify("forgotten"))
  try {
    await examine(connection, client, options)
    await lossDetector.check()
  } catch (error) {
    disconnect({ client, isOwned, connection })
    throw error
  }
  // From now on a new connection or a missing script may mean that the server was replaced.
  hints.onConnected = lossDetector.checkSoon
  // In the background: with a million runs it takes seconds. Until it is done some runs are missing from lists, nothing else.
  void completeLists(connection).catch(() => undefined)
  connection.onMissingScript = lossDetector.checkSoon
  const ended = new EndedHints(timers, () => hints.publish("ended"))
  hints.onEnded = () => ended.onReceived()
  return { client, isOwned, connection, lossDetector, hints, ended }
}

/** A client that the caller passed in stays connected. */
function disconnect({
  client,
  isOwned,
  connection,
}: Pick<Opened, "client" | "isOwned" | "connection">): void {
  if (isOwned) client.disconnect()
  else client.off("error", connection.onError)
}
