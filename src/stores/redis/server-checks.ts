import { type Check, ok, warning } from "../../store/check.ts"

/** The settings of a server that decide how safe its data is. Null: not reported. */
export interface ServerSettings {
  /** For example "Redis 7.0.15" or "Valkey 8.1.1". */
  readonly version: string | null
  /** Its `maxmemory-policy`. */
  readonly eviction: string | null
  readonly isAppendOnly: boolean | null
  /** Its `appendfsync`: always, everysec or no. */
  readonly fsync: string | null
  /** Its `save`: when it makes snapshots, empty for never. */
  readonly snapshots: string | null
}

/** Rates the settings by what Belfry promises. */
export function checksOf(settings: ServerSettings): readonly Check[] {
  return [
    ok("server", settings.version ?? "version not reported"),
    evictionCheck(settings.eviction),
    persistenceCheck(settings),
  ]
}

/** A store does not open on a server that reports another policy. */
function evictionCheck(policy: string | null): Check {
  if (policy === "noeviction")
    return ok("eviction", "noeviction: a full server refuses writes, and deletes nothing")
  return warning(
    "eviction",
    `${policy ?? "maxmemory-policy not reported"}: any policy but noeviction may delete schedules and runs`,
    "Set it: CONFIG SET maxmemory-policy noeviction",
  )
}

const KEEP = "Set it: CONFIG SET appendonly yes, and the same in the server's configuration file."

const FIRED_AGAIN = "its occurrences are fired again, with the same run ids"

function persistenceCheck({ isAppendOnly, fsync, snapshots }: ServerSettings): Check {
  const name = "persistence"
  if (isAppendOnly === null)
    return warning(
      name,
      "the server does not report whether it keeps its data",
      "Ask its operator to set appendonly yes.",
    )
  if (!isAppendOnly) {
    const message =
      snapshots === ""
        ? "none: when the server restarts, every schedule and run is gone"
        : `snapshots only (save ${snapshots ?? "unknown"}): a crash loses all writes since the last one`
    return warning(name, message, KEEP)
  }
  if (fsync === "always")
    return ok(name, "appendonly, appendfsync always: every confirmed write survives a power cut")
  if (fsync === "everysec")
    return ok(
      name,
      `appendonly, appendfsync everysec: a power cut may lose the last second or two; ${FIRED_AGAIN}`,
    )
  return warning(
    name,
    `appendonly, appendfsync ${fsync ?? "unknown"}: a power cut may lose half a minute; ${FIRED_AGAIN}`,
    "Set it: CONFIG SET appendfsync everysec, or always.",
  )
}
