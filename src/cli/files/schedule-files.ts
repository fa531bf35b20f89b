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

/** A schedule without an id or a task. */
export interface EntryProblem {
  /** The position in the file: `schedule 2 in s.yaml`. */
  readonly of: string
  readonly message: string
}

/**
 * The schedules of YAML and JSON files, of folders of them, and of standard input. `report` gets the schedules without an id or
 * a task. By default, they are refused.
 */
export async function readScheduleFiles(
  call: Call,
  paths: readonly string[],
  report: (problems: readonly EntryProblem[]) => void = refuse,
): Promise<readonly FileEntry[]> {
  if (paths.length === 0)
    throw new CliError(
      EXIT.usage,
      "No file was given.",
      "Give one: -f schedules.yaml, or -f - for standard input",
    )
  const found: FoundEntry[] = []
  for (const path of paths) {
    if (path === "-") found.push(...(await foundIn("standard input", await call.io.readInput())))
    else for (const file of filesAt(call.io.cwd, path)) found.push(...(await foundIn(file, readText(file))))
  }
  const problems = found.flatMap(problemsOf)
  if (problems.length > 0) report(problems)
  const entries = found.filter(isComplete)
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

export async function entriesIn(file: string, text: string): Promise<readonly FileEntry[]> {
  const found = await foundIn(file, text)
  const problems = found.flatMap(problemsOf)
  if (problems.length > 0) refuse(problems)
  return found.filter(isComplete)
}

interface FoundEntry {
  readonly file: string
  /** Counts from 1 within the file. */
  readonly position: number
  readonly entry: unknown
}

/** JSON is a subset of YAML, so one parser reads both. */
async function foundIn(file: string, text: string): Promise<readonly FoundEntry[]> {
  const { parseAllDocuments } = await import("yaml")
  const documents = parseAllDocuments(text)
  if (!Array.isArray(documents)) return []
  const entries = documents.flatMap((document) => {
    const [error] = document.errors
    if (error !== undefined)
      throw new CliError(
        EXIT.invalid,
        `${file} can't be read: ${error.message.split("\n")[0]}`,
        "Correct the file.",
      )
    // Nested aliases can expand exponentially, so their number is limited.
    const value: unknown = document.toJS({ maxAliasCount: 100 })
    return schedulesIn(file, value)
  })
  return entries.map((entry, index) => ({ file, position: index + 1, entry }))
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

function isComplete(found: FoundEntry): found is FoundEntry & FileEntry {
  const { id, task } = Object(found.entry) as Partial<ScheduleEntry>
  return typeof id === "string" && typeof task === "string"
}

function problemsOf(found: FoundEntry): readonly EntryProblem[] {
  if (isComplete(found)) return []
  const { id } = Object(found.entry) as Partial<ScheduleEntry>
  const of = `schedule ${found.position} in ${found.file}`
  if (typeof id === "string") return [{ of, message: `Schedule "${id}" in ${found.file} has no task.` }]
  return [{ of, message: `Schedule ${found.position} in ${found.file} has no id.` }]
}

function refuse(problems: readonly EntryProblem[]): never {
  const text = problems.map(({ message }) => message).join(" ")
  throw new CliError(EXIT.invalid, text, "Each schedule needs an id and a task, both strings.")
}
