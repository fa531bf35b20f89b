import { checkedValue } from "../../core/options/checked.ts"
import { address as ADDRESS, required } from "../../core/options/option-types.ts"
import { systemClock } from "../../runtime/clock.ts"
import type { Check } from "../../store/check.ts"
import type { Inspection } from "../../store/inspection.ts"
import { storeSource } from "../kit/options.ts"
import { Connection } from "./connection.ts"
import { refusalOf } from "./faults.ts"
import { SCHEMA } from "./opening.ts"
import { clientFor } from "./own-client.ts"
import { addressOf, placeOf, taggedPrefix } from "./place.ts"
import { DEADLINE_MS } from "./redis.ts"
import { checksOf, type ServerSettings } from "./server-checks.ts"

/** Checks the server of a store, over a new connection. Changes nothing. */
export async function inspect(address: string): Promise<Inspection> {
  checkedValue(address, required(ADDRESS), { source: storeSource("inspect"), option: "address" })
  const { url, prefix: named } = addressOf(address)
  const prefix = taggedPrefix(named ?? "belfry")
  const client = await clientFor(url, DEADLINE_MS)
  const options = { prefix, where: placeOf(address), deadlineMs: DEADLINE_MS, onWarning: () => undefined }
  const connection = new Connection(client, true, options, systemClock)
  client.on("error", connection.onError)
  try {
    const stored = await connection.command("hget", `${prefix}:schema`, "version")
    return {
      schema: { stored: Number(stored), known: SCHEMA },
      checks: await serverChecks(connection),
    }
  } finally {
    client.disconnect()
  }
}

async function serverChecks(connection: Connection): Promise<readonly Check[]> {
  const info = fieldsOf(String(await connection.command("info")))
  const settings: ServerSettings = {
    version: versionOf(info),
    eviction: info.get("maxmemory_policy") ?? null,
    isAppendOnly: info.has("aof_enabled") ? info.get("aof_enabled") === "1" : null,
    fsync: await settingOf(connection, "appendfsync"),
    snapshots: await settingOf(connection, "save"),
  }
  return checksOf(settings)
}

/** The lines of the form `name:value`; the other lines are headings. */
function fieldsOf(info: string): ReadonlyMap<string, string> {
  return new Map([...info.matchAll(/^(\w+):(.*?)\r?$/gm)].map(([, name, value]) => [name!, value!]))
}

/** Valkey reports its own version, and the version of Redis that it is compatible with. */
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
    // Hosted servers often forbid CONFIG.
    return null
  }
}
