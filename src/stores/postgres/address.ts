import { hasBrokenPassword, placeOf } from "../../core/address.ts"
import { BelfryError } from "../../core/errors.ts"

export interface PostgresAddress {
  /** As the driver takes it. */
  readonly url: string
  readonly schema: string | null
  /** For messages: where the server is, without its password. */
  readonly where: string
}

/** Ours. All others are for the driver, which passes over what it doesn't know: other programs keep theirs in the same address. */
const SCHEMA = "belfry_schema"

/** `postgres://user:password@host/database?belfry_schema=jobs`, or a socket in the driver's own form. */
export function addressOf(text: string): PostgresAddress {
  if (!/^(postgres(ql)?:\/\/|socket:|\/)/i.test(text)) throw unfit('does not begin with "postgres://"')
  if (hasBrokenPassword(text)) {
    // Part of it would be taken for the host, and shown in messages as one that can't be found.
    throw unfit(
      "has a password with a character in it that ends it",
      "Encode it: / is %2F, @ is %40, # is %23.",
    )
  }
  const place = placeOf(text)
  // Where the driver understands a form that isn't an address, it says what is wrong with it.
  const where = place === null ? "PostgreSQL" : `PostgreSQL at ${place}`
  if (!URL.canParse(text)) return { url: text, schema: null, where }
  const url = new URL(text)
  const unknown = [...url.searchParams.keys()].filter((name) => /^belfry/i.test(name) && name !== SCHEMA)
  if (unknown.length > 0) throw unfit(`has unknown parameters: ${unknown.join(", ")}`)
  const schema = url.searchParams.get(SCHEMA)
  if (schema === null) return { url: text, schema, where }
  url.searchParams.delete(SCHEMA)
  return { url: url.href, schema, where }
}

const FORM = `Write it like this: postgres://user:password@host/database?${SCHEMA}=belfry`

function unfit(what: string, remedy = FORM): BelfryError {
  const text = `The address of the PostgreSQL server ${what}.`
  return new BelfryError("BELFRY_STORE_UNFIT", text, { details: { option: "url" }, remedy })
}
