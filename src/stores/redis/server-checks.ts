import { type Check, ok, warning } from "../../core/check.ts"

/** How far a server can be relied on, in its own words. Null is what it doesn't tell. */
export interface ServerSettings {
  /** Such as "Redis 7.0.15" or "Valkey 8.1.1". */
  readonly version: string | null
  /** Its `maxmemory-policy`. */
  readonly eviction: string | null
  readonly isAppendOnly: boolean | null
  /** Its `appendfsync`: always, everysec or no. */
  readonly fsync: string | null
  /** Its `save`: when it makes snapshots, empty for never. */
  readonly snapshots: string | null
}

/** What a server's settings mean for the promises. */
export function checksOf(settings: ServerSettings): readonly Check[] {
  return [
    ok("server", settings.version ?? "doesn't say its version"),
    evictionCheck(settings.eviction),
    persistenceCheck(settings),
  ]
}

/** A store doesn't open on a server that says anything else. */
function evictionCheck(policy: string | null): Check {
  if (policy === "noeviction")
    return ok("eviction", "noeviction: a server that is full refuses, and forgets nothing")
  return warning(
    "eviction",
    `${policy ?? "the server doesn't say its maxmemory-policy"}: under any but noeviction, schedules and runs may vanish`,
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
      "the server doesn't say whether it keeps its data",
      "Ask its operator to set appendonly yes.",
    )
  if (!isAppendOnly) {
    const message =
      snapshots === ""
        ? "none: when the server restarts, every schedule and run is gone"
        : `snapshots only (save ${snapshots ?? "unknown"}): a crash loses all that was written since the last one`
    return warning(name, message, KEEP)
  }
  if (fsync === "always")
    return ok(name, "appendonly, appendfsync always: whatever was answered survives a power cut")
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
