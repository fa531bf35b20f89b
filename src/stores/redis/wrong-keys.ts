/**
 * The few keys that belong to all records, by what they end with, and what each holds. One that holds something else stops every
 * call, so the error has to say which it is. The key of a single record does not: the scripts pass over it.
 */
const SHARED: Readonly<Record<string, string>> = {
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

/** The keys of this prefix that aren't what they should be, in words; nothing if it is none of these. */
export async function wrongKeys(prefix: string, call: Call): Promise<string> {
  const names = Object.keys(SHARED)
  const types = await Promise.all(names.map((name) => call("type", [`${prefix}:${name}`])))
  return names
    .flatMap((name, index) => {
      const [type, expected] = [String(types[index]), SHARED[name]!]
      return type === "none" || type === expected
        ? []
        : [`${prefix}:${name} is a ${type} instead of a ${expected}`]
    })
    .join("; ")
}
