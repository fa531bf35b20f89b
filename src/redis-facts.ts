import { systemClock } from "./engine/clock.ts"
import { Connection } from "./stores/redis/connection.ts"
import { refusalOf } from "./stores/redis/faults.ts"
import { SCHEMA } from "./stores/redis/opening.ts"
import { clientFor } from "./stores/redis/own-client.ts"
import { addressOf, taggedPrefix } from "./stores/redis/place.ts"

/** How far a server can be relied on, in its own words. Null is what it doesn't tell. */
export interface RedisFacts {
  /** Such as "Redis 7.0.15" or "Valkey 8.1.1". */
  readonly version: string | null
  /** As every database's: 0 where Belfry has never been. */
  readonly schema: { readonly stored: number; readonly known: number }
  /** Its `maxmemory-policy`. */
  readonly eviction: string | null
  readonly isAppendOnly: boolean | null
  /** Its `appendfsync`: always, everysec or no. */
  readonly fsync: string | null
  /** Its `save`: when it makes snapshots, empty for never. */
  readonly snapshots: string | null
}

/** Asks a server about itself, over a connection that is made for it. Changes nothing. */
export async function factsOfServer(address: string, where: string): Promise<RedisFacts> {
  const { url, prefix: named } = addressOf(address)
  const prefix = taggedPrefix(named ?? "belfry")
  const client = await clientFor(url, DEADLINE_MS)
  const options = { prefix, where, deadlineMs: DEADLINE_MS, onWarning: () => undefined }
  const connection = new Connection(client, true, options, systemClock)
  client.on("error", connection.onError)
  try {
    const info = fieldsOf(String(await connection.command("info")))
    const stored = await connection.command("hget", `${prefix}:schema`, "version")
    return {
      version: versionOf(info),
      schema: { stored: Number(stored), known: SCHEMA },
      eviction: info.get("maxmemory_policy") ?? null,
      isAppendOnly: info.has("aof_enabled") ? info.get("aof_enabled") === "1" : null,
      fsync: await settingOf(connection, "appendfsync"),
      snapshots: await settingOf(connection, "save"),
    }
  } finally {
    client.disconnect()
  }
}

const DEADLINE_MS = 5_000

/** Lines of `name:value`; others are headings. */
function fieldsOf(info: string): ReadonlyMap<string, string> {
  return new Map([...info.matchAll(/^(\w+):(.*?)\r?$/gm)].map(([, name, value]) => [name!, value!]))
}

/** Valkey gives the version of Redis that it stands in for, and its own. */
function versionOf(info: ReadonlyMap<string, string>): string | null {
  const [valkey, redis] = [info.get("valkey_version"), info.get("redis_version")]
  if (valkey !== undefined) return `Valkey ${valkey}`
  return redis === undefined ? null : `Redis ${redis}`
}

async function settingOf(connection: Connection, name: string): Promise<string | null> {
  try {
    return ((await connection.command("config", "get", name)) as readonly string[])[1] ?? null
  } catch (error) {
    if (refusalOf((error as Error).cause) === null) throw error
    // Hosted servers often forbid the command.
    return null
  }
}
