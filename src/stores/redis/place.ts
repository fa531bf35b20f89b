import { placeOf as addressPlaceOf } from "../../core/address.ts"
import { BelfryError } from "../../core/errors.ts"
import { plain } from "../../core/shown.ts"

/** A cluster places a key by what stands in its first braces: so all keys of a prefix are on one node. */
export function taggedPrefix(prefix: string): string {
  const name = /^\{(.+)\}$/.exec(prefix)?.[1] ?? prefix
  if (/^[\w.:-]{1,100}$/.test(name)) return `{${name}}`
  const text = `The prefix "${prefix}" has to be a plain name: letters, digits and any of _ . : -`
  throw new BelfryError("BELFRY_STORE_UNFIT", text, {
    details: { option: "prefix", value: plain(prefix) },
    remedy: "Choose another prefix.",
  })
}

export interface RedisAddress {
  /** As the driver takes it. */
  readonly url: string
  readonly prefix: string | null
}

/** What an address may have after its question mark; all but the prefix are for the driver. */
const PARAMETERS: readonly string[] = ["prefix", "family", "username", "password"]

/**
 * `redis://localhost:6379/0?prefix=shop`: the prefix is ours, the rest is the driver's. The driver takes a database that it can't
 * read for 0, and a parameter that it doesn't know for nothing at all: both are refused here. Forms without a scheme are its own.
 */
export function addressOf(text: string): RedisAddress {
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(text)?.[1]?.toLowerCase()
  if (scheme === undefined) return { url: text, prefix: null }
  if (scheme !== "redis" && scheme !== "rediss") throw unfit(`begins with "${scheme}://"`)
  if (!URL.canParse(text)) throw unfit("can't be read")
  const url = new URL(text)
  // The driver decodes them, and throws what only JavaScript understands.
  if (![url.username, url.password, url.pathname].every(isDecodable))
    throw unfit('has a "%" that begins no character; write %25 for it')
  const database = url.pathname.slice(1)
  if (!/^\d*$/.test(database)) {
    throw unfit(`names the database "${decodeURIComponent(database)}", which is no whole number`)
  }
  const unknown = [...url.searchParams.keys()].filter((name) => !PARAMETERS.includes(name))
  if (unknown.length > 0) throw unfit(`has unknown parameters: ${unknown.join(", ")}`)
  const prefix = url.searchParams.get("prefix")
  url.searchParams.delete("prefix")
  return { url: url.href, prefix }
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}

function unfit(what: string): BelfryError {
  const remedy = "Write it like this: redis://user:password@localhost:6379/0?prefix=shop"
  const details = { option: "url" }
  return new BelfryError("BELFRY_STORE_UNFIT", `The address of the Redis server ${what}.`, {
    details,
    remedy,
  })
}

/** For messages: where the server is, without the password. */
export function placeOf(server: unknown): string {
  if (typeof server !== "string") return "the Redis server"
  const place = addressPlaceOf(server)
  // The driver understands other forms too, and says what is wrong with this one.
  return place === null ? "Redis" : `Redis at ${place}`
}
