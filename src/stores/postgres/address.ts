import { BelfryError } from "../../core/errors.ts"
import { hasBrokenPassword, placeOf } from "../../core/values/address.ts"

export interface PostgresAddress {
  /** In the form that the driver accepts. */
  readonly url: string
  readonly schema: string | null
  /** The server's address for messages, without the password. */
  readonly where: string
}

/** Belfry's own parameter. The others are for the driver, which ignores unknown ones; other programs may put theirs there too. */
const SCHEMA = "belfry_schema"

/** Reads `postgres://user:password@host/database?belfry_schema=jobs`, or a socket in the driver's own form. */
export function addressOf(text: string): PostgresAddress {
  if (!/^(postgres(ql)?:\/\/|socket:|\/)/i.test(text)) throw unfit('does not begin with "postgres://"')
  if (hasBrokenPassword(text)) {
    // The driver would take part of the password for the host, and show it in the error that the host is unknown.
    throw unfit(
      "has a password with an unencoded special character",
      "Encode it: / is %2F, @ is %40, # is %23.",
    )
  }
  const place = placeOf(text)
  // The driver accepts other forms too, and reports what is wrong with them.
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
