/**
 * The keys that all records share, without the prefix, and their types. If one has another type every call fails, so the error
 * must name it. A key of one record does not fail calls: scripts skip it.
 */
const SHARED_KEYS: Readonly<Record<string, string>> = {
  due: "zset",
  versions: "string",
  schema: "hash",
  live: "hash",
  counts: "hash",
  running: "hash",
  unfinished: "zset",
  "history:created": "zset",
  "history:scheduled": "zset",
  "history:completed": "zset",
  "history:failed": "zset",
  "history:cancelled": "zset",
  "history:skipped": "zset",
  "schedule-ids": "zset",
  successes: "hash",
  shares: "hash",
  parked: "set",
  "worker-ids": "zset",
  "worker-beats": "zset",
}

type Call = (command: string, args: string[]) => Promise<unknown>

/** Describes the shared keys of this prefix that have the wrong type. Empty if there are none. */
export async function wrongKeys(prefix: string, call: Call): Promise<string> {
  const names = Object.keys(SHARED_KEYS)
  const types = await Promise.all(names.map((name) => call("type", [`${prefix}:${name}`])))
  return names
    .flatMap((name, index) => {
      const [type, expected] = [String(types[index]), SHARED_KEYS[name]!]
      return type === "none" || type === expected
        ? []
        : [`${prefix}:${name} is a ${type} instead of a ${expected}`]
    })
    .join("; ")
}
