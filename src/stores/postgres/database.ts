import { answerOf } from "../../runtime/deadline.ts"
import type { Timers } from "../kit/timers.ts"
import type { Pool, PoolClient, Queryable } from "./client.ts"
import { faultOf, isWorthRepeating, sqlstateOf } from "./faults.ts"
import type { Row } from "./rows.ts"
import { cancelStatement } from "./statement-cancel.ts"

export interface DatabaseOptions {
  readonly schema: string
  /** The longest time that a call may take, including the wait for a connection. */
  readonly deadlineMs: number
  /** The database's address for messages, without the password. */
  readonly where: string
}

/** Runs statements on the pool, on the reserved connection, or in a caller's transaction. */
export interface Runner {
  rows(text: string, values?: readonly unknown[]): Promise<readonly Row[]>
}

const TRIES = 6
const RETRY_MS = 5

/** Returns every value as the server's text. Type parsers that the program has set for `pg` (dates, big numbers) are not used. */
export const AS_TEXT = { getTypeParser: () => (value: string) => value }

/** Runs statements on a pool's connections, each with a deadline. */
export class Database implements Runner {
  readonly #pool: Pool
  readonly #options: DatabaseOptions
  readonly #timers: Timers
  readonly #texts: StatementTexts

  constructor(pool: Pool, options: DatabaseOptions, timers: Timers) {
    this.#pool = pool
    this.#options = options
    this.#timers = timers
    this.#texts = new StatementTexts(options.schema)
  }

  rows(text: string, values: readonly unknown[] = []): Promise<readonly Row[]> {
    return this.repeatedly(() => this.withClient((client) => this.#texts.query(client, text, values)))
  }

  /** Runs statements on the caller's connection. If a statement times out, the caller must call `abandon`. */
  on(client: Queryable, endsAt?: number): Runner {
    return {
      rows: (text, values = []) => this.withDeadline(this.#texts.query(client, text, values), endsAt),
    }
  }

  /**
   * Runs statements in a user's transaction. A statement that times out is cancelled, so that the user can roll back. The error
   * is thrown after the cancel, so that the cancel cannot hit a later statement.
   */
  inside(transaction: Queryable): Runner {
    const { rows } = this.on(transaction)
    return {
      rows: (text, values) =>
        rows(text, values).catch(async (error) => {
          if (!isAnswered(error)) await cancelStatement(transaction, this.#timers)
          throw error
        }),
    }
  }

  /**
   * Runs `work` on one connection of the pool, and returns it. Abandons the connection if it timed out or broke. `deadlineMs`
   * includes the wait for a connection.
   */
  async withClient<T>(
    work: (client: Queryable) => Promise<T>,
    deadlineMs: number = this.#options.deadlineMs,
  ): Promise<T> {
    const endsAt = this.#timers.monotonic() + deadlineMs
    const client = await this.borrowed(Math.min(endsAt, this.endsAt()))
    // A pool does not listen to connections in use. Without a listener, one that breaks would end the process. `work` fails too.
    client.on?.("error", ignored)
    const giveBack = (isUsable: boolean) => {
      client.off?.("error", ignored)
      client.release(!isUsable)
    }
    try {
      const result = await this.withDeadline(work(client), endsAt, deadlineMs)
      giveBack(true)
      return result
    } catch (error) {
      if (isAnswered(error)) giveBack(true)
      else void this.abandon(client, () => giveBack(false))
      throw error
    }
  }

  /**
   * Ends a connection that may be running a statement: first the statement, then the connection. Until then the connection keeps
   * its place in the pool, so the server never has more connections than the pool may open.
   */
  async abandon(client: Queryable, end: () => void): Promise<void> {
    await cancelStatement(client, this.#timers)
    end()
  }

  /** The deadline of a call that begins now. */
  endsAt(): number {
    return this.#timers.monotonic() + this.#options.deadlineMs
  }

  /** Settles by the deadline even if the network hangs. Translates errors of the driver and of the server. */
  withDeadline<T>(
    work: Promise<T>,
    endsAt: number = this.endsAt(),
    deadlineMs: number = this.#options.deadlineMs,
  ): Promise<T> {
    const { where } = this.#options
    const answer = work.catch((error) => {
      throw faultOf(error, where)
    })
    const remainingMs = endsAt - this.#timers.monotonic()
    return answerOf(this.#timers, answer, { where, deadlineMs, remainingMs })
  }

  /** Takes a connection from the pool. The caller must release it. */
  async borrowed(endsAt: number): Promise<PoolClient> {
    const connecting = connectTo(this.#pool)
    return this.withDeadline(connecting, endsAt).catch((error) => {
      // The connection may still arrive after the deadline; then it is returned to the pool.
      connecting.then((late) => late.release(), ignored)
      throw error
    })
  }

  /** Repeats what the server rolled back because of other sessions, such as a deadlock. */
  async repeatedly<T>(attempt: () => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries++) {
      try {
        return await attempt()
      } catch (error) {
        if (!isWorthRepeating((error as Error).cause) || tries >= TRIES) throw error
      }
      await this.#pause(RETRY_MS * tries * (0.5 + this.#timers.random()))
    }
  }

  #pause(delayMs: number): Promise<void> {
    return new Promise((resolve) => {
      this.#timers.setTimer(delayMs, resolve)
    })
  }
}

/** Whether the server answered with an error. Then the connection is usable; otherwise an answer may still arrive on it. */
export function isAnswered(error: unknown): boolean {
  return sqlstateOf((error as Error).cause) !== null
}

/** Turns an error that a pool throws synchronously, for example for an invalid URL, into a rejection. */
async function connectTo(pool: Pool): Promise<PoolClient> {
  return pool.connect()
}

/** The caller gets the error by another way. */
function ignored(): void {}

/** The texts of statements with the schema's name. Statements are not prepared: see `engineFunction`. */
class StatementTexts {
  readonly #schema: string
  readonly #known = new Map<string, string>()

  constructor(schema: string) {
    this.#schema = schema
  }

  async query(client: Queryable, text: string, values: readonly unknown[]): Promise<readonly Row[]> {
    const { rows } = await client.query({ text: this.#of(text), values, rowMode: "array", types: AS_TEXT })
    return rows as readonly Row[]
  }

  #of(text: string): string {
    let own = this.#known.get(text)
    if (own === undefined) {
      own = inSchema(text, this.#schema)
      this.#known.set(text, own)
    }
    return own
  }
}

/** Statements are written for the schema `belfry`. Replaces its name by that of another schema. */
export function inSchema(text: string, schema: string): string {
  if (schema === "belfry") return text
  return text
    .replaceAll(/\bbelfry\./g, `"${schema}".`)
    .replaceAll(/\bschema( if not exists)? belfry\b/g, `schema$1 "${schema}"`)
    .replaceAll("'belfry'", `'${schema}'`)
}
