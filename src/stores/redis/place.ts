import { BelfryError } from "../../core/errors.ts"
import { placeOf as addressPlaceOf } from "../../core/values/address.ts"
import { plain } from "../../core/values/shown.ts"

/** A cluster hashes only the text in the first braces of a key, so all keys of a prefix are on one node. */
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
  /** In the form that the driver accepts. */
  readonly url: string
  readonly prefix: string | null
}

/** The query parameters that an address may have. All but `prefix` are for the driver. */
const PARAMETERS: readonly string[] = ["prefix", "family", "username", "password"]

/**
 * Reads `redis://localhost:6379/0?prefix=shop`. The prefix is ours, the rest is for the driver. The driver would use database 0
 * for an invalid one, and ignore unknown parameters, so both are refused here. Forms without a scheme are passed on unchecked.
 */
export function addressOf(text: string): RedisAddress {
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(text)?.[1]?.toLowerCase()
  if (scheme === undefined) return { url: text, prefix: null }
  if (scheme !== "redis" && scheme !== "rediss") throw unfit(`begins with "${scheme}://"`)
  if (!URL.canParse(text)) throw unfit("can't be read")
  const url = new URL(text)
  // The driver decodes these parts, and would throw a bare URIError.
  if (![url.username, url.password, url.pathname].every(isDecodable))
    throw unfit('has a "%" that does not begin an encoded character; write it as %25')
  const database = url.pathname.slice(1)
  if (!/^\d*$/.test(database)) {
    throw unfit(`names the database "${decodeURIComponent(database)}", which is not a whole number`)
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

/** The server's address for messages, without the password. */
export function placeOf(server: unknown): string {
  if (typeof server !== "string") return "the Redis server"
  const place = addressPlaceOf(server)
  // The driver accepts other forms too, and reports what is wrong with this one.
  return place === null ? "Redis" : `Redis at ${place}`
}
