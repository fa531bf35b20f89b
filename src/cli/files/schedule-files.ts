import { existsSync, readdirSync, readFileSync, statSync } from "node:fs"
import { extname, isAbsolute, join } from "node:path"
import { CliError } from "../cli-error.ts"
import { EXIT } from "../exit-codes.ts"
import type { Call } from "../parsing/command.ts"
import type { ScheduleEntry } from "./config.ts"

export interface FileEntry {
  readonly file: string
  readonly entry: ScheduleEntry
}

/** The schedules of YAML and JSON files, of folders of them, and of standard input. */
export async function readScheduleFiles(call: Call, paths: readonly string[]): Promise<readonly FileEntry[]> {
  if (paths.length === 0)
    throw new CliError(
      EXIT.usage,
      "No file was given.",
      "Give one: -f schedules.yaml, or -f - for standard input",
    )
  const entries: FileEntry[] = []
  for (const path of paths) {
    if (path === "-") entries.push(...(await entriesIn("standard input", await call.io.readInput())))
    else
      for (const file of filesAt(call.io.cwd, path)) entries.push(...(await entriesIn(file, readText(file))))
  }
  const seen = new Map<string, string>()
  for (const { file, entry } of entries) {
    const before = seen.get(entry.id)
    if (before !== undefined)
      throw new CliError(
        EXIT.invalid,
        `Schedule "${entry.id}" is in ${before} and again in ${file}.`,
        "Keep one of them.",
      )
    seen.set(entry.id, file)
  }
  return entries
}

const READABLE = new Set([".yaml", ".yml", ".json"])

function filesAt(cwd: string, path: string): readonly string[] {
  const full = isAbsolute(path) ? path : join(cwd, path)
  if (!existsSync(full)) throw new CliError(EXIT.notFound, `There is no file ${path}.`, "Check -f.")
  if (!statSync(full).isDirectory()) return [full]
  const files = readdirSync(full)
    .filter((name) => READABLE.has(extname(name)))
    .sort()
  if (files.length === 0)
    throw new CliError(EXIT.notFound, `The folder ${path} has no .yaml, .yml or .json file.`, "Check -f.")
  return files.map((name) => join(full, name))
}

function readText(file: string): string {
  try {
    return readFileSync(file, "utf8")
  } catch (cause) {
    throw new CliError(
      EXIT.notFound,
      `The file ${file} can't be read: ${String(cause)}`,
      "Check its permissions.",
      cause,
    )
  }
}

/** JSON is a subset of YAML, so one parser reads both. */
export async function entriesIn(file: string, text: string): Promise<readonly FileEntry[]> {
  const { parseAllDocuments } = await import("yaml")
  const documents = parseAllDocuments(text)
  if (!Array.isArray(documents)) return []
  return documents.flatMap((document) => {
    const [error] = document.errors
    if (error !== undefined)
      throw new CliError(
        EXIT.invalid,
        `${file} can't be read: ${error.message.split("\n")[0]}`,
        "Correct the file.",
      )
    // Nested aliases can expand exponentially, so their number is limited.
    const value: unknown = document.toJS({ maxAliasCount: 100 })
    return schedulesIn(file, value).map((entry) => ({ file, entry: checkedEntry(file, entry) }))
  })
}

/** `{ schedules: […] }`, a list, or a single schedule. */
function schedulesIn(file: string, value: unknown): readonly unknown[] {
  if (value === null || value === undefined) return []
  if (Array.isArray(value)) return value
  if (typeof value === "object") {
    const { schedules } = value as { schedules?: unknown }
    if (Array.isArray(schedules)) return schedules
    if ("id" in value) return [value]
  }
  throw new CliError(
    EXIT.invalid,
    `${file} contains no schedules.`,
    "Write { schedules: [{ id, task, cron, … }] }, as `belfry export` does.",
  )
}

function checkedEntry(file: string, entry: unknown): ScheduleEntry {
  const { id, task } = (typeof entry === "object" && entry !== null ? entry : {}) as Partial<ScheduleEntry>
  if (typeof id === "string" && typeof task === "string") return entry as ScheduleEntry
  const missing =
    typeof id === "string" ? `Schedule "${id}" in ${file} has no task.` : `A schedule in ${file} has no id.`
  throw new CliError(EXIT.invalid, missing, "Each schedule needs an id and a task, both strings.")
}
