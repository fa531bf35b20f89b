type Own = readonly [option: string, suggestion?: string]

/** Names that other schedulers and queues use, with Belfry's options for the same. The first that a table has is suggested. */
const FOREIGN_NAMES: ReadonlyMap<string, readonly Own[]> = new Map([
  ["tz", [["timezone"]]],
  ["pattern", [["cron"]]],
  ["jobId", [["id"]]],
  ["singletonKey", [["key"]]],
  ["scheduleId", [["schedule"], ["id"]]],
  ["startAfter", [["delay", "delay or at"], ["startsAt"]]],
  ["attempts", [["retry", "retry: { attempts }"]]],
  ["retryLimit", [["retry", "retry: { attempts }"]]],
  ["backoff", [["retry", "retry: { backoff }"]]],
  ["handler", [["run"]]],
  ["data", [["payload"]]],
  ["connectionString", [["url"]]],
])

/** What to write instead of a name from another library. Null: the table has no such option. */
export function foreignName(name: string, known: readonly string[]): string | null {
  const own = FOREIGN_NAMES.get(name)?.find(([option]) => known.includes(option))
  return own === undefined ? null : (own[1] ?? own[0])
}
