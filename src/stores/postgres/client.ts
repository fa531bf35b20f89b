/** The part of `pg` that Belfry uses. Any pool or client of this shape fits, also a wrapped one. */

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
  /** With true or an error, the pool closes the connection instead of reusing it. */
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
  readonly on?: PoolListening
  readonly off?: PoolListening
  /** `pg.Pool` exposes the class and the options of its clients. */
  readonly Client?: new (
    options: never,
  ) => SingleClient
  readonly options?: unknown
}

export interface PoolListening {
  (event: "error", listener: (error: Error) => void): unknown
  (event: "connect", listener: (client: PoolClient) => void): unknown
}

/** A connection outside the pool. */
export interface SingleClient extends Queryable {
  connect(): Promise<void>
  end(): Promise<void>
  on(event: "error", listener: (error: Error) => void): unknown
  on(event: "end", listener: () => void): unknown
  on(event: "notification", listener: (message: { channel: string; payload?: string }) => void): unknown
}
