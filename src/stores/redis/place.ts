import { placeOf as addressPlaceOf } from "../../core/address.ts"
import { BelfryError } from "../../core/errors.ts"

/** A cluster places a key by what stands in its first braces: so all keys of a prefix are on one node. */
export function taggedPrefix(prefix: string): string {
  const name = /^\{(.+)\}$/.exec(prefix)?.[1] ?? prefix
  if (/^[\w.:-]{1,100}$/.test(name)) return `{${name}}`
  const text = `The prefix "${prefix}" has to be a plain name: letters, digits and any of _ . : -`
  throw new BelfryError("BELFRY_STORE_UNFIT", text)
}

/** For messages: where the server is, without the password. */
export function placeOf(server: unknown): string {
  if (typeof server !== "string") return "the Redis server"
  const place = addressPlaceOf(server)
  // The driver understands other forms too, and says what is wrong with this one.
  return place === null ? "Redis" : `Redis at ${place}`
}
