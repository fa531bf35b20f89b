import { hasBrokenPassword, placeOf } from "../../core/address.ts"
import { BelfryError } from "../../core/errors.ts"

export interface PostgresAddress {
  /** As the driver takes it. */
  readonly url: string
  readonly schema: string | null
  /** For messages: where the server is, without its password. */
  readonly where: string
}

/**
 * What an address may have after its question mark: the schema is ours, the rest is PostgreSQL's and the driver's. The driver takes
 * a parameter that it doesn't know for nothing at all.
 */
const PARAMETERS: ReadonlySet<string> = new Set([
  "schema",
  ...[
    "application_name",
    "fallback_application_name",
    "options",
    "client_encoding",
    "encoding",
    "replication",
  ],
  ...[
    "host",
    "hostaddr",
    "port",
    "user",
    "password",
    "passfile",
    "dbname",
    "db",
    "database",
    "service",
    "requirepeer",
  ],
  ...["connect_timeout", "statement_timeout", "lock_timeout", "query_timeout", "tcp_user_timeout"],
  ...["idle_in_transaction_session_timeout", "target_session_attrs", "load_balance_hosts", "pgbouncer"],
  ...["keepalives", "keepalives_idle", "keepalives_interval", "keepalives_count"],
  ...[
    "ssl",
    "sslmode",
    "sslcert",
    "sslkey",
    "sslrootcert",
    "sslpassword",
    "sslcrl",
    "sslnegotiation",
    "sslsni",
  ],
  ...["ssl_min_protocol_version", "ssl_max_protocol_version", "channel_binding", "uselibpqcompat"],
  ...["gssencmode", "krbsrvname", "gsslib"],
])

/** `postgres://user:password@host/database?schema=jobs`, or a socket in the driver's own form. */
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
  const unknown = [...url.searchParams.keys()].filter((name) => !PARAMETERS.has(name))
  if (unknown.length > 0) throw unfit(`has unknown parameters: ${unknown.join(", ")}`)
  const schema = url.searchParams.get("schema")
  return { url: schema === null ? text : withoutSchema(url), schema, where }
}

function withoutSchema(url: URL): string {
  url.searchParams.delete("schema")
  return url.href
}

const FORM = "Write it like this: postgres://user:password@host/database?schema=belfry"

function unfit(what: string, remedy = FORM): BelfryError {
  const text = `The address of the PostgreSQL server ${what}.`
  return new BelfryError("BELFRY_STORE_UNFIT", text, { details: { option: "url" }, remedy })
}
