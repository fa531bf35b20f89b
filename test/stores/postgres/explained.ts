import type { Pool, PostgresStore } from "belfry/postgres"
import pg from "pg"
import { systemClock } from "../../../src/runtime/clock.ts"
import { createPostgresStore } from "../../../src/stores/postgres/postgres-store.ts"
import { PATIENCE_MS } from "./scratch.ts"

/** A table that a statement has read, as the server saw it while it did. */
export interface Look {
  readonly table: string
  /** Null if the table was read from one end to the other. */
  readonly index: string | null
  /** Rows that were looked at, also in vain. */
  readonly rows: number
}

export interface Explained {
  readonly looks: readonly Look[]
  /** Of all steps of the plans, the most rows that one went through, in tables or not: a list that is read for each row of another. */
  readonly busiest: number
}

export interface ExplainedStore {
  readonly store: PostgresStore
  explain(call: () => Promise<unknown>): Promise<Explained>
  close(): Promise<void>
}

/** A store whose every statement tells how it was performed, also those inside functions. */
export async function anExplainedStore(url: string): Promise<ExplainedStore> {
  const plans: Plan[] = []
  class TellingClient extends pg.Client {
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
    // It keeps its plans for as long as it lasts.
    idleTimeoutMillis: 0,
    options: options.join(" "),
    Client: TellingClient as never,
  })
  const about = { schema: "belfry", where: "the test's database", deadlineMs: PATIENCE_MS }
  const makePool = async () => ({ pool: pool as unknown as Pool, isOurs: false })
  const store = createPostgresStore(makePool, about, systemClock)
  await store.open()
  return {
    store,
    async explain(call) {
      plans.length = 0
      await call()
      return {
        looks: plans.flatMap((plan) => looksOf(plan)),
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

function looksOf(plan: Plan): readonly Look[] {
  const type = plan["Node Type"]
  const { "Index Name": index, "Relation Name": table } = plan
  if (type === "Bitmap Heap Scan") return looksByBitmap(plan)
  const below = (plan.Plans ?? []).flatMap((each) => looksOf(each))
  if (!/Scan$/.test(type) || table === undefined) return below
  // A row's place in the table is as good as any index.
  const way = type === "Tid Scan" ? "ctid" : (index ?? null)
  return [...below, { table, index: way, rows: rowsOf(plan) }]
}

/**
 * A bitmap is made below by an index, or by several. What an index finds includes versions of rows that nobody sees any more,
 * and how many of those are left is chance. So the rows of one alone are counted in the table.
 */
function looksByBitmap(plan: Plan): readonly Look[] {
  const table = plan["Relation Name"]!
  const makers = (plan.Plans ?? []).flatMap((each) => makersOf(each))
  return makers.map((maker) => ({
    table,
    index: maker["Index Name"]!,
    rows: rowsOf(makers.length === 1 ? plan : maker),
  }))
}

function makersOf(plan: Plan): readonly Plan[] {
  return plan["Node Type"] === "Bitmap Index Scan" ? [plan] : (plan.Plans ?? []).flatMap(makersOf)
}

function rowsOf(plan: Plan): number {
  const inVain = (plan["Rows Removed by Filter"] ?? 0) + (plan["Rows Removed by Index Recheck"] ?? 0)
  return (plan["Actual Rows"] + inVain) * plan["Actual Loops"]
}
