/** As much of `pg` as Belfry uses: a pool or a client that has this shape fits, wrapped or not. */

export interface Query {
  readonly text: string
  readonly values?: readonly unknown[]
  readonly rowMode?: "array"
  readonly types?: { getTypeParser(): (value: string) => unknown }
}

export interface Queryable {
  query(query: Query): Promise<{ readonly rows: readonly unknown[] }>
}

export interface PoolClient extends Queryable {
  /** With true, or an error: the connection is not used again. */
  release(destroy?: boolean): void
  readonly on?: Listening
  readonly off?: Listening
}

interface Listening {
  (event: "error", listener: (error: Error) => void): unknown
  (event: "notice", listener: (notice: object) => void): unknown
}

export interface Pool {
  connect(): Promise<PoolClient>
  end(): Promise<void>
  on?(event: "error", listener: (error: Error) => void): unknown
  off?(event: "error", listener: (error: Error) => void): unknown
  /** `pg.Pool` keeps what its clients are made from. */
  readonly Client?: new (
    options: never,
  ) => SingleClient
  readonly options?: unknown
}

/** A connection of its own, beside any pool. */
export interface SingleClient extends Queryable {
  connect(): Promise<void>
  end(): Promise<void>
  on(event: "error", listener: (error: Error) => void): unknown
  on(event: "end", listener: () => void): unknown
  on(event: "notification", listener: (message: { channel: string; payload?: string }) => void): unknown
}
