import { BelfryError } from "../../core/errors.ts"
import type { Pool, PoolClient, Queryable } from "./client.ts"
import { faultOf, isWorthRepeating, sqlstateOf } from "./faults.ts"
import type { Row } from "./rows.ts"
import { cancelStatement } from "./statement-cancel.ts"

/** The store's own waiting: a timer. The system's clock fits; so does a test's. */
export interface Waiting {
  setTimer(delayMs: number, callback: () => void): () => void
  monotonic(): number
  random(): number
}

export interface DatabaseOptions {
  readonly schema: string
  /** How long a call may take, waiting for a connection included. */
  readonly deadlineMs: number
  /** For messages: where the database is, without its password. */
  readonly where: string
}

/** Who runs statements: the pool, a reserved connection, or somebody's transaction. */
export interface Runner {
  rows(text: string, values?: readonly unknown[]): Promise<readonly Row[]>
}

const TRIES = 6
const RETRY_MS = 5

/** Every value as the text the server sent: what a program has set for all its queries (dates, big numbers) is not ours. */
export const AS_TEXT = { getTypeParser: () => (value: string) => value }

/** Statements on a pool's connections, each by a deadline. */
export class Database implements Runner {
  readonly #pool: Pool
  readonly #options: DatabaseOptions
  readonly #waiting: Waiting
  readonly #texts: Texts

  constructor(pool: Pool, options: DatabaseOptions, waiting: Waiting) {
    this.#pool = pool
    this.#options = options
    this.#waiting = waiting
    this.#texts = new Texts(options.schema)
  }

  rows(text: string, values: readonly unknown[] = []): Promise<readonly Row[]> {
    return this.#repeatedly(() => this.withClient((client) => this.#texts.query(client, text, values)))
  }

  /** Statements on a connection that the caller looks after: if one is given up, the caller calls `abandon`. */
  on(client: Queryable, endsAt?: number): Runner {
    return {
      rows: (text, values = []) => this.by(this.#texts.query(client, text, values), endsAt),
    }
  }

  /**
   * Statements in a user's transaction. One that is given up is cancelled, so that the user can roll back: to the transaction
   * that is an error like any other. The caller hears of it after the cancel, so that no later statement is cancelled.
   */
  inside(transaction: Queryable): Runner {
    const { rows } = this.on(transaction)
    return {
      rows: (text, values) =>
        rows(text, values).catch(async (error) => {
          if (!isAnswered(error)) await cancelStatement(transaction, this.#waiting)
          throw error
        }),
    }
  }

  /** One connection for the work, given back after it; abandoned if it fell silent or broke. */
  async withClient<T>(work: (client: Queryable) => Promise<T>): Promise<T> {
    const endsAt = this.endsAt()
    const client = await this.lent(endsAt)
    // A pool doesn't listen to what it has lent, and a connection that breaks would end the process. The work hears it.
    client.on?.("error", noted)
    const giveBack = (isWell: boolean) => {
      client.off?.("error", noted)
      client.release(!isWell)
    }
    try {
      const result = await this.by(work(client), endsAt)
      giveBack(true)
      return result
    } catch (error) {
      if (isAnswered(error)) giveBack(true)
      else void this.abandon(client, () => giveBack(false))
      throw error
    }
  }

  /**
   * Ends a connection on which a statement may be under way: first the statement, then the connection. Until then it keeps its
   * place in the pool, so the server never has more connections than the pool may open.
   */
  async abandon(client: Queryable, end: () => void): Promise<void> {
    await cancelStatement(client, this.#waiting)
    end()
  }

  /** When a call that begins now has to have ended. */
  endsAt(): number {
    return this.#waiting.monotonic() + this.#options.deadlineMs
  }

  /** Ends by the deadline, whatever the network does; what goes wrong is told in our words. */
  by<T>(work: Promise<T>, endsAt: number = this.endsAt()): Promise<T> {
    const { deadlineMs, where } = this.#options
    return new Promise((resolve, reject) => {
      const stop = this.#waiting.setTimer(Math.max(0, endsAt - this.#waiting.monotonic()), () => {
        const text = `${where} did not answer within ${deadlineMs / 1000} s.`
        reject(new BelfryError("BELFRY_STORE_UNAVAILABLE", text))
      })
      work.then(resolve, (error) => reject(faultOf(error, where))).finally(stop)
    })
  }

  /** A connection of the pool's; whoever asks gives it back. */
  async lent(endsAt: number): Promise<PoolClient> {
    const connecting = connectionOf(this.#pool)
    return this.by(connecting, endsAt).catch((error) => {
      // It may still come: nobody waits for it any more.
      connecting.then((late) => late.release(), noted)
      throw error
    })
  }

  async #repeatedly<T>(attempt: () => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries++) {
      try {
        return await attempt()
      } catch (error) {
        if (!isWorthRepeating((error as Error).cause) || tries >= TRIES) throw error
      }
      await this.#pause(RETRY_MS * tries * (0.5 + this.#waiting.random()))
    }
  }

  #pause(delayMs: number): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.setTimer(delayMs, resolve)
    })
  }
}

/** What the server refused leaves the connection as it was; after anything else an answer may still be on its way. */
export function isAnswered(error: unknown): boolean {
  return sqlstateOf((error as Error).cause) !== null
}

/** What a pool throws at once, such as that its URL is none, is told like any other fault. */
async function connectionOf(pool: Pool): Promise<PoolClient> {
  return pool.connect()
}

/** The caller is told by another way. */
function noted(): void {}

/** The statements' texts in the schema asked for. Nothing is prepared: see `engineFunction`. */
class Texts {
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

/** The texts say `belfry.` throughout; another schema's name takes its place. */
export function inSchema(text: string, schema: string): string {
  if (schema === "belfry") return text
  return text
    .replaceAll(/\bbelfry\./g, `"${schema}".`)
    .replaceAll(/\bschema( if not exists)? belfry\b/g, `schema$1 "${schema}"`)
    .replaceAll("'belfry'", `'${schema}'`)
}
