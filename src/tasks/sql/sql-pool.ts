import type { PoolListening } from "../../stores/postgres/client.ts"
import { ignoreConnectionErrors } from "../../stores/postgres/connection-errors.ts"
/** The part of `pg` that the sql task uses. Any pool of this shape can be passed, wrapped or not. */

export interface SqlQuery {
  readonly text: string
  readonly values?: readonly unknown[]
  readonly rowMode: "array"
  readonly types: { getTypeParser(): (value: string) => unknown }
}

export interface SqlQueryable {
  query(query: SqlQuery): Promise<{ readonly rows: readonly unknown[] }>
}

export interface SqlClient extends SqlQueryable {
  /** True: the connection is closed and not used again. */
  release(destroy?: boolean): void
  readonly on?: Listening
  readonly off?: Listening
}

interface Listening {
  (event: "error", listener: (error: Error) => void): unknown
  (event: "notice", listener: (notice: SqlNotice) => void): unknown
}

/** A message of `raise notice`, `raise warning` and the like. */
export interface SqlNotice {
  readonly severity?: string
  readonly message?: string
}

/** A connection outside any pool. */
export interface SqlSingleClient extends SqlQueryable {
  connect(): Promise<void>
  end(): Promise<void>
  on(event: "error", listener: (error: Error) => void): unknown
}

export interface SqlPool {
  connect(): Promise<SqlClient>
  end(): Promise<void>
  readonly on?: PoolListening
  readonly off?: PoolListening
  /** `pg.Pool` has the class and the options of its clients. */
  readonly Client?: new (
    options: never,
  ) => SqlSingleClient
  readonly options?: unknown
}

export type SqlRow = readonly (string | null)[]

/** Every value as the text that the server sent. Type parsers that the program has set for all queries don't apply. */
const AS_TEXT = { getTypeParser: () => (value: string) => value }

export async function rowsOf(
  client: SqlQueryable,
  text: string,
  values: readonly unknown[] = [],
): Promise<readonly SqlRow[]> {
  const { rows } = await client.query({ text, values, rowMode: "array", types: AS_TEXT })
  return rows as readonly SqlRow[]
}

/** A pool that the first run opens. After a close, the next run opens it again. */
export class LazyPool {
  readonly #make: () => Promise<OpenedPool>
  #opening: Promise<OpenedPool> | null = null
  #stopIgnoring: () => void = () => undefined

  constructor(make: () => Promise<OpenedPool>) {
    this.#make = make
  }

  async opened(): Promise<SqlPool> {
    this.#opening ??= this.#open().catch((error) => {
      this.#opening = null
      throw error
    })
    return (await this.#opening).pool
  }

  async close(): Promise<void> {
    const opening = this.#opening
    this.#opening = null
    // If it couldn't be opened, the run has reported that.
    const opened = await opening?.catch(() => null)
    if (opened === null || opened === undefined) return
    if (opened.isOwned) await opened.pool.end()
    else this.#stopIgnoring()
  }

  async #open(): Promise<OpenedPool> {
    const opened = await this.#make()
    this.#stopIgnoring = ignoreConnectionErrors(opened.pool)
    return opened
  }
}

export interface OpenedPool {
  readonly pool: SqlPool
  /** True: the task made the pool and ends it. */
  readonly isOwned: boolean
}
