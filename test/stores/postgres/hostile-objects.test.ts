import assert from "node:assert/strict"
import { randomBytes } from "node:crypto"
import type { Store } from "belfry/store"
import pg from "pg"
import { test, vi } from "vitest"
import { succeed } from "../../../src/core/run/run.ts"
import { systemClock } from "../../../src/runtime/clock.ts"
import {
  aClaim,
  aDocument,
  aHeartbeat,
  anEntry,
  aPlan,
  aPruning,
  aRun,
  aSchedule,
  heldRun,
} from "../../../src/store/laws/factories.ts"
import { countRuns, created, deleteSchedule, running } from "../../../src/store/laws/steps.ts"
import { createPostgresLocks } from "../../../src/stores/postgres/locks.ts"
import { MIGRATIONS } from "../../../src/stores/postgres/migrations.ts"
import { poolFor } from "../../../src/stores/postgres/own-pool.ts"
import { freshDatabase } from "../../support/fresh-database.ts"
import { hostileObjects } from "./hostile-objects.ts"
import { aPsql, aStore, atTheEnd, PATIENCE_MS } from "./scratch.ts"
import { CALLS } from "./store-calls.ts"

/**
 * A role may only create objects in `public`, as every role may on PostgreSQL 13 and 14. It creates functions and operators there
 * that match the store's statements better than PostgreSQL's own. None of them is ever called.
 */

test("objects that others create in public are never called with Belfry's rights", async () => {
  const { texts } = await makeAllCalls(await freshDatabase())
  const url = await freshDatabase()
  const psql = await aPsql(url)
  await psql.query("grant create on schema public to public")
  const intruder = await aRole(psql, url)
  const owner = await aRole(psql, url)
  await psql.query(`grant create on database "${new URL(url).pathname.slice(1)}" to ${owner.name}`)
  const names = namesIn([...MIGRATIONS, ...texts])
  const known = await psql.query("select distinct proname from pg_proc where proname = any ($1)", [names])
  const intruding = await aPsql(intruder.url)
  await intruding.query(hostileObjects(known.rows.map(({ proname }) => proname)))

  await makeAllCalls(owner.url)

  assert.ok(known.rows.length > 30, "the functions' names were found")
  assert.deepEqual((await psql.query("select distinct called from public.witness")).rows, [])
})

test("statements outside functions qualify every function with its schema", async () => {
  const { texts } = await makeAllCalls(await freshDatabase())

  const sent = texts.filter((text) => !MIGRATIONS.includes(text) && !/^\s*create /.test(text))
  const unqualified = sent.flatMap((text) => namesIn([text], UNQUALIFIED))

  assert.ok(sent.length > 20, "statements were sent")
  assert.deepEqual([...new Set(unqualified)], [])
})

/** The names of called functions: the words before a parenthesis. */
function namesIn(texts: readonly string[], pattern = /([a-z_]+)\(/g): readonly string[] {
  const words = texts.flatMap((text) => [...calls(text).matchAll(pattern)].map((match) => match[1]!))
  return [...new Set(words)]
}

const UNQUALIFIED = /(?<![.\w"])([a-z_]+)\(/g

/** Removes aliases and SQL syntax that looks like a call. An unnest of several arrays can't be qualified with a schema. */
function calls(text: string): string {
  return text.replaceAll(/\bas \w+\(|\b(?:coalesce|greatest|array)\(|(?<!\.)\bunnest\([^(),]+,/g, "")
}

/** Makes every call of the store and of its locks, on existing and on missing records. */
async function makeAllCalls(url: string): Promise<{ texts: readonly string[] }> {
  const { texts, stop } = sentStatements()
  const store = aStore(url)
  await store.open()
  for (const call of Object.values(CALLS)) await call(store)
  await store.listen(() => undefined)
  const on = aSchedule({ nextRunAt: 1, tags: ["t"], owner: "o" })
  await created(store, on)
  await created(store, aSchedule({ nextRunAt: 1, dependsOn: [{ scheduleId: on.id, withinMs: 1 }] }))
  const { due } = await store.dueSchedules({ limit: 10 })
  assert.equal(due.length, 2)
  await store.fire(due.map(({ schedule }) => aPlan(schedule, { runs: [aRun({ liveKey: schedule.id })] })))
  await store.enqueue([aRun({ liveKey: on.id }), aRun({ concurrencyKey: "k", concurrencyLimit: 2 })])
  const run = await running(store, aRun({ retry: null, concurrencyKey: "k", concurrencyLimit: 2 }))
  await store.heartbeat(aHeartbeat({ held: [heldRun(run), heldRun({ id: "gone", attempt: 1 })] }))
  await store.transition([succeed(run, { message: "m", details: { n: 1 } })])
  await store.transition([succeed(run, { message: "m", details: null })])
  const addition = {
    subject: "all",
    spans: [{ ms: 60_000, keptMs: 1 }],
    agoMs: 5,
    counters: { succeeded: 1 },
  }
  for (const number of [1, 2, 1])
    await store.heartbeat(aHeartbeat({ statistics: { number, additions: [addition, addition] } }))
  await store.summarise({ subject: "all", spanMs: 60_000, from: 0, until: 9e12, limit: 1 })
  await store.heartbeat(aHeartbeat({ isLeaving: true }))
  await useDocuments(store)
  for (const orderBy of ["createdAt", "scheduledFor", "completedAt"] as const) {
    const page = { orderBy, after: { at: 2_000_000_000_000, id: "z" }, limit: 10 }
    await store.findRuns({}, page)
    await store.findRuns({ ids: [run.id], scheduleId: on.id, task: "t", states: ["failed"] }, page)
    await store.findRuns({ idPrefix: "r", parentId: "p", workerId: "w" }, { ...page, from: 0, until: 1 })
  }
  await store.findRuns({}, { orderBy: "id", after: { at: null, id: "a" }, limit: 10 })
  await store.readRuns([run.id])
  await store.findRuns({ triggeredBy: ["api"], concurrencyKey: "k" }, { ...PAGE, orderBy: "createdAt" })
  await countRuns(store, { task: "report" })
  await store.findSchedules(
    { ids: [on.id], owner: "o", task: "report", tag: "t" },
    { orderBy: "id", after: null, limit: 1 },
  )
  const [stored] = await store.findSchedules({ tag: "t" }, { orderBy: "id", after: null, limit: 1 })
  await store.putSchedule({ ...stored!, description: "changed" }, stored!.version)
  await deleteSchedule(store, (await store.findSchedules({ ids: [on.id] }, LIST))[0]!)
  await store.claim(aClaim())
  await store.prune(aPruning({ olderThanMs: 0, silentForMs: 0, journalOlderThanMs: 0 }))
  await store.close()
  await useLocks(url)
  stop()
  return { texts }
}

async function useDocuments(store: Store): Promise<void> {
  const document = aDocument()
  const made = await store.putDocument(document, null, anEntry())
  const changed = await store.putDocument({ ...document, value: 2 }, (made as { version: number }).version)
  await store.findDocuments({ kind: document.kind, ids: [document.id] }, { afterId: "a", limit: 1 })
  await store.putDocument({ ...document, value: null }, (changed as { version: number }).version, anEntry())
  await store.putDocument({ ...document, value: null }, null, anEntry())
  await store.appendJournal([anEntry(), anEntry()])
  const filter = { subject: "s", subjectId: "i", actions: ["a"], by: "b" }
  const page = { order: "oldest", after: { at: 1, id: "x" }, from: 0, until: 9e12, limit: 1 } as const
  await store.readJournal(filter, page)
  await store.count({ runs: { states: ["failed"] }, schedules: { states: ["ok"], text: "t" }, limit: 5 })
  const steered = await created(store, aSchedule())
  await store.fire([aPlan(steered, { entry: anEntry() })])
}

const PAGE = { after: null, limit: 10 } as const
const LIST = { orderBy: "id", after: null, limit: 10 } as const

async function useLocks(url: string): Promise<void> {
  const makePool = async () => ({ pool: await poolFor(url, 1, PATIENCE_MS), isOwned: true })
  const options = { schema: "belfry", deadlineMs: PATIENCE_MS, where: "here" }
  const locks = createPostgresLocks(makePool, options, systemClock)
  await locks.open()
  const { outcome } = await locks.acquire("name", "token", 60_000)
  assert.equal(outcome, "acquired")
  assert.equal((await locks.acquire("name", "other", 60_000)).outcome, "held")
  assert.equal(await locks.extend("name", "token", 60_000), true)
  assert.equal(await locks.release("name", "token"), true)
  await locks.close()
}

/** Collects the texts of all statements that are sent from now on. */
function sentStatements(): { texts: readonly string[]; stop(): void } {
  const texts: string[] = []
  const query = pg.Client.prototype.query as (...args: unknown[]) => unknown
  const spy = vi.spyOn(pg.Client.prototype, "query")
  spy.mockImplementation(function (this: pg.Client, ...args: unknown[]) {
    const { text } = args[0] as { text?: string }
    if (text !== undefined) texts.push(text)
    return query.apply(this, args)
  } as never)
  atTheEnd(() => spy.mockRestore())
  return { texts, stop: () => spy.mockRestore() }
}

/** A role that may only log in. It is dropped after the test. */
async function aRole(psql: pg.Client, url: string): Promise<{ name: string; url: string }> {
  const name = `belfry_test_${randomBytes(6).toString("hex")}`
  await psql.query(`create role ${name} login password 'secret'`)
  atTheEnd(async () => {
    await psql.query(`drop owned by ${name} cascade`)
    await psql.query(`drop role ${name}`)
  })
  const own = new URL(url)
  own.username = name
  own.password = "secret"
  return { name, url: own.href }
}
