import { BelfryError } from "../../core/errors.ts"
import { isCurrentSchema } from "../kit/schema-gate.ts"
import type { RedisClient, RedisOptions } from "./client.ts"
import type { Connection } from "./connection.ts"
import { refusalOf } from "./faults.ts"
import { KEYS } from "./lua/keys.ts"
import { scriptOf } from "./script.ts"

/** The version of the key layout. Other releases of Belfry may use the same keys. */
export const SCHEMA = 4

/** The oldest version of Redis that is supported. */
const OLDEST = { major: 6, minor: 2 }

// Returns the stored schema, after storing ours if there was none.
const MARK = scriptOf(
  [KEYS],
  `
call('HSETNX', prefix .. ':schema', 'version', ARGV[1])
return call('HGET', prefix .. ':schema', 'version')
`,
)

/** Checks that the server's settings are safe and that the schema of its keys is known. */
export async function examine(
  connection: Connection,
  client: Pick<RedisClient, "options">,
  options: RedisOptions,
): Promise<void> {
  await examineDatabase(connection, client)
  await examineNumbers(connection, options)
  await examineVersion(connection, options)
  await examineEviction(connection, options)
  const stored = Number(await connection.run<string>(MARK, [SCHEMA]))
  const where = `"${options.prefix}" on ${options.where}`
  if (!isCurrentSchema(stored, { known: SCHEMA, where })) {
    throw new BelfryError(
      "BELFRY_STORE_UNFIT",
      `The keys of "${options.prefix}" on ${options.where} are at schema ${stored}, from before the first release; this version knows ${SCHEMA}.`,
      { details: { stored, known: SCHEMA }, remedy: "Use another prefix, or remove these keys." },
    )
  }
}

/** If the server refuses the database, ioredis only emits an error event and goes on in database 0. So SELECT is sent again. */
export async function examineDatabase(
  connection: Connection,
  { options }: Pick<RedisClient, "options">,
): Promise<void> {
  if (typeof options?.db === "number" && options.db !== 0) await connection.command("select", options.db)
}

/** A client with `stringNumbers` returns instants as strings, and no comparison would find anything due. */
export async function examineNumbers(connection: Connection, { where }: RedisOptions): Promise<void> {
  const answer = await connection.command("eval", "return 1", 0)
  if (answer === 1) return
  throw new BelfryError(
    "BELFRY_STORE_UNFIT",
    `The client for ${where} returns the number 1 as ${JSON.stringify(answer)}. Pass a client without the option stringNumbers.`,
  )
}

async function examineVersion(connection: Connection, { where }: RedisOptions): Promise<void> {
  const info = String(await connection.command("info", "server"))
  const found = /^redis_version:(\d+)\.(\d+)\S*/m.exec(info)
  // If the server hides its version, an unsupported command in a script will fail instead.
  if (found === null) return
  const [major, minor] = [Number(found[1]), Number(found[2])]
  if (major > OLDEST.major || (major === OLDEST.major && minor >= OLDEST.minor)) return
  const text = `${where} is Redis ${major}.${minor}; Belfry needs ${OLDEST.major}.${OLDEST.minor} or later, or Valkey.`
  throw new BelfryError("BELFRY_STORE_UNFIT", text, { remedy: "Upgrade the server." })
}

/** A server that evicts keys would delete schedules and runs silently. */
async function examineEviction(connection: Connection, { where, onWarning }: RedisOptions): Promise<void> {
  let policy: string | undefined
  try {
    policy = ((await connection.command("config", "get", "maxmemory-policy")) as readonly string[])[1]
  } catch (error) {
    if (refusalOf((error as Error).cause) === null) throw error
    // Hosted servers often forbid CONFIG.
  }
  if (policy === "noeviction") return
  if (policy === undefined) {
    return onWarning(
      `${where} does not report its maxmemory-policy. Make sure it is "noeviction": any other may delete schedules and runs.`,
    )
  }
  throw new BelfryError(
    "BELFRY_STORE_UNFIT",
    `${where} has the maxmemory-policy "${policy}": when memory runs out, the server would delete schedules and runs.`,
    {
      details: { policy },
      remedy: "Set it, here and in the server's configuration file: CONFIG SET maxmemory-policy noeviction",
    },
  )
}
