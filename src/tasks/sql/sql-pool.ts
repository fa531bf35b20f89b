/** As much of `pg` as the sql task uses: a pool that has this shape fits, wrapped or not. */

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
  /** With true: the connection is not used again. */
  release(destroy?: boolean): void
  readonly on?: Listening
  readonly off?: Listening
}

interface Listening {
  (event: "error", listener: (error: Error) => void): unknown
  (event: "notice", listener: (notice: SqlNotice) => void): unknown
}

/** What `raise notice` and its like send. */
export interface SqlNotice {
  readonly severity?: string
  readonly message?: string
}

/** A connection of its own, beside any pool. */
export interface SqlSingleClient extends SqlQueryable {
  connect(): Promise<void>
  end(): Promise<void>
  on(event: "error", listener: (error: Error) => void): unknown
}

export interface SqlPool {
  connect(): Promise<SqlClient>
  end(): Promise<void>
  on?(event: "error", listener: (error: Error) => void): unknown
  off?(event: "error", listener: (error: Error) => void): unknown
  /** `pg.Pool` keeps what its clients are made from. */
  readonly Client?: new (
    options: never,
  ) => SqlSingleClient
  readonly options?: unknown
}

export type SqlRow = readonly (string | null)[]

/** Every value as the text the server sent: what a program has set for all its queries is not ours. */
const AS_TEXT = { getTypeParser: () => (value: string) => value }

export async function rowsOf(
  client: SqlQueryable,
  text: string,
  values: readonly unknown[] = [],
): Promise<readonly SqlRow[]> {
  const { rows } = await client.query({ text, values, rowMode: "array", types: AS_TEXT })
  return rows as readonly SqlRow[]
}

/** A pool that is opened by its first run, and again after it was closed. */
export class LazyPool {
  readonly #make: () => Promise<OpenedPool>
  #opening: Promise<OpenedPool> | null = null

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
    // One that couldn't be opened has told its run so.
    const opened = await opening?.catch(() => null)
    if (opened === null || opened === undefined) return
    if (opened.isOurs) await opened.pool.end()
    else opened.pool.off?.("error", ignored)
  }

  async #open(): Promise<OpenedPool> {
    const opened = await this.#make()
    // Without a listener, an idle connection that the server ends would end the process.
    opened.pool.on?.("error", ignored)
    return opened
  }
}

export interface OpenedPool {
  readonly pool: SqlPool
  /** Ours to end. */
  readonly isOurs: boolean
}

/** The pool has taken the connection out already; the next run makes another. */
function ignored(): void {}
