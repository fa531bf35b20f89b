import { BelfryError } from "../../core/errors.ts"
import type { RedisClient, RedisOptions } from "./client.ts"
import type { Connection } from "./connection.ts"
import { refusalOf } from "./faults.ts"
import { KEYS } from "./lua/keys.ts"
import { scriptOf } from "./script.ts"

/** What the keys look like; a number of its own, since another version of Belfry may come to the same keys. */
export const SCHEMA = 4

const OLDEST = { major: 6, minor: 2 }

// Answers the schema that is there, which is ours if there was none.
const MARK = scriptOf(
  KEYS,
  `
call('HSETNX', prefix .. ':schema', 'version', ARGV[1])
return call('HGET', prefix .. ':schema', 'version')
`,
)

/** Looks whether this server can be relied on, and whether its keys are of a kind we know. */
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
  if (stored > SCHEMA) {
    throw new BelfryError(
      "BELFRY_STORE_SCHEMA_NEWER",
      `The keys of "${options.prefix}" on ${options.where} are at schema ${stored}; this version knows ${SCHEMA}.`,
      { details: { stored, known: SCHEMA } },
    )
  }
  if (stored < SCHEMA) {
    throw new BelfryError(
      "BELFRY_STORE_UNFIT",
      `The keys of "${options.prefix}" on ${options.where} are at schema ${stored}, from before the first release; this version knows ${SCHEMA}.`,
      { details: { stored, known: SCHEMA }, remedy: "Take another prefix, or remove these keys." },
    )
  }
}

/** A driver whose database the server refuses tells its listeners only, and goes on with database 0. */
export async function examineDatabase(
  connection: Connection,
  { options }: Pick<RedisClient, "options">,
): Promise<void> {
  if (typeof options?.db === "number" && options.db !== 0) await connection.command("select", options.db)
}

/** A client that gives numbers as text would make every instant a text, and nothing would be due. */
export async function examineNumbers(connection: Connection, { where }: RedisOptions): Promise<void> {
  const answer = await connection.command("eval", "return 1", 0)
  if (answer === 1) return
  throw new BelfryError(
    "BELFRY_STORE_UNFIT",
    `The client for ${where} gives the number 1 as ${JSON.stringify(answer)}. Pass a client without the option stringNumbers.`,
  )
}

async function examineVersion(connection: Connection, { where }: RedisOptions): Promise<void> {
  const info = String(await connection.command("info", "server"))
  const found = /^redis_version:(\d+)\.(\d+)\S*/m.exec(info)
  // A server that hides it is taken at its word: a script that it doesn't know will say so.
  if (found === null) return
  const [major, minor] = [Number(found[1]), Number(found[2])]
  if (major > OLDEST.major || (major === OLDEST.major && minor >= OLDEST.minor)) return
  const text = `${where} is Redis ${major}.${minor}; Belfry needs ${OLDEST.major}.${OLDEST.minor} or later, or Valkey.`
  throw new BelfryError("BELFRY_STORE_UNFIT", text, { remedy: "Upgrade the server." })
}

/** A server that may throw away keys to make room would take schedules and runs, and nobody would know. */
async function examineEviction(connection: Connection, { where, onWarning }: RedisOptions): Promise<void> {
  let policy: string | undefined
  try {
    policy = ((await connection.command("config", "get", "maxmemory-policy")) as readonly string[])[1]
  } catch (error) {
    if (refusalOf((error as Error).cause) === null) throw error
    // Hosted servers often forbid the command.
  }
  if (policy === "noeviction") return
  if (policy === undefined) {
    return onWarning(
      `${where} doesn't tell its maxmemory-policy. Make sure that it is "noeviction": under any other, schedules and runs may vanish.`,
    )
  }
  throw new BelfryError(
    "BELFRY_STORE_UNFIT",
    `${where} has the maxmemory-policy "${policy}": short of memory it would throw away schedules and runs.`,
    {
      details: { policy },
      remedy: "Set it, here and in the server's configuration file: CONFIG SET maxmemory-policy noeviction",
    },
  )
}
