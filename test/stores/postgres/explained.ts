import type { Pool, PostgresStore } from "belfry/postgres"
import pg from "pg"
import { systemClock } from "../../../src/runtime/clock.ts"
import { createPostgresStore } from "../../../src/stores/postgres/postgres-store.ts"
import { PATIENCE_MS } from "./scratch.ts"

/** One read of a table by a statement, as the server's plan reports it. */
export interface TableRead {
  readonly table: string
  /** Null for a sequential scan of the whole table. */
  readonly index: string | null
  /** Rows that were read, including rows that a filter discarded. */
  readonly rows: number
}

export interface Explained {
  readonly reads: readonly TableRead[]
  /** The most rows that one step of the plans processed, also steps that read no table, such as a list read for each row. */
  readonly busiest: number
}

export interface ExplainedStore {
  readonly store: PostgresStore
  explain(call: () => Promise<unknown>): Promise<Explained>
  close(): Promise<void>
}

/** A store that collects the plan of every statement, also of statements inside functions. */
export async function anExplainedStore(url: string): Promise<ExplainedStore> {
  const plans: Plan[] = []
  class ExplainingClient extends pg.Client {
    constructor(options: pg.ClientConfig) {
      super(options)
      this.on("notice", ({ message }) => {
        const [, json] = message?.match(/^duration: .* plan:\n([\s\S]*)$/) ?? []
        if (json !== undefined) plans.push(JSON.parse(json).Plan)
      })
    }
  }
  const settings = {
    session_preload_libraries: "auto_explain",
    "auto_explain.log_min_duration": "0",
    "auto_explain.log_nested_statements": "on",
    "auto_explain.log_analyze": "on",
    "auto_explain.log_timing": "off",
    "auto_explain.log_format": "json",
    client_min_messages: "log",
  }
  const options = Object.entries(settings).map(([name, value]) => `-c ${name}=${value}`)
  const pool = new pg.Pool({
    connectionString: url,
    max: 1,
    // The connection stays open, because it keeps the plans of functions.
    idleTimeoutMillis: 0,
    options: options.join(" "),
    Client: ExplainingClient as never,
  })
  const about = { schema: "belfry", where: "the test's database", deadlineMs: PATIENCE_MS }
  const makePool = async () => ({ pool: pool as unknown as Pool, isOwned: false })
  const store = createPostgresStore(makePool, about, systemClock)
  await store.open()
  return {
    store,
    async explain(call) {
      plans.length = 0
      await call()
      return {
        reads: plans.flatMap((plan) => readsOf(plan)),
        busiest: Math.max(0, ...plans.flatMap((plan) => stepsOf(plan)).map(rowsOf)),
      }
    },
    async close() {
      await store.close()
      await pool.end()
    },
  }
}

interface Plan {
  readonly "Node Type": string
  readonly "Relation Name"?: string
  readonly "Index Name"?: string
  readonly "Actual Rows": number
  readonly "Actual Loops": number
  readonly "Rows Removed by Filter"?: number
  readonly "Rows Removed by Index Recheck"?: number
  readonly Plans?: readonly Plan[]
}

function stepsOf(plan: Plan): readonly Plan[] {
  return [plan, ...(plan.Plans ?? []).flatMap((each) => stepsOf(each))]
}

function readsOf(plan: Plan): readonly TableRead[] {
  // PostgreSQL 13 shows the alternatives of a subquery, of which it executes one.
  if (plan["Actual Loops"] === 0) return []
  const type = plan["Node Type"]
  const { "Index Name": index, "Relation Name": table } = plan
  if (type === "Bitmap Heap Scan") return readsByBitmap(plan)
  const below = (plan.Plans ?? []).flatMap((each) => readsOf(each))
  if (!/Scan$/.test(type) || table === undefined) return below
  // A read by ctid is as good as an index.
  const access = type === "Tid Scan" ? "ctid" : (index ?? null)
  return [...below, { table, index: access, rows: rowsOf(plan) }]
}

/**
 * A bitmap scan reads one or more indexes. An index also returns dead versions of rows, and their number is random. So with one
 * index, the rows of the table are counted instead.
 */
function readsByBitmap(plan: Plan): readonly TableRead[] {
  const table = plan["Relation Name"]!
  const scans = (plan.Plans ?? []).flatMap((each) => indexScansOf(each))
  return scans.map((scan) => ({
    table,
    index: scan["Index Name"]!,
    rows: rowsOf(scans.length === 1 ? plan : scan),
  }))
}

function indexScansOf(plan: Plan): readonly Plan[] {
  return plan["Node Type"] === "Bitmap Index Scan" ? [plan] : (plan.Plans ?? []).flatMap(indexScansOf)
}

function rowsOf(plan: Plan): number {
  const discarded = (plan["Rows Removed by Filter"] ?? 0) + (plan["Rows Removed by Index Recheck"] ?? 0)
  return (plan["Actual Rows"] + discarded) * plan["Actual Loops"]
}
