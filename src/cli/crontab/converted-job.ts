import { lintCron } from "../../core/cron/lint.ts"
import { parseCron } from "../../core/cron/parse.ts"
import { BelfryError } from "../../core/errors.ts"
import type { CommandDefinition } from "../../tasks.ts"
import type { ScheduleEntry } from "../files/config.ts"
import { type ParsedCommand, parseCommand } from "./command-line.ts"
import type { CronJob } from "./crontab.ts"
import { idFor } from "./job-id.ts"

/** A job of a crontab as a schedule of the command task, with notes about the conversion. */
export interface ConvertedJob {
  readonly line: number
  readonly cron: string
  readonly timezone: string
  /** Null: there is no equivalent. The notes give the reason. */
  readonly entry: ScheduleEntry | null
  readonly command: CommandDefinition | null
  readonly notes: readonly string[]
}

export interface Conversion {
  /** The time zone if the crontab names none. */
  readonly timezone: string
  readonly prefix: string
  readonly now: number
  /** The home folder of a user, or of the current user (null). Null: unknown. */
  homeOf(user: string | null): string | null
}

export function convertJobs(jobs: readonly CronJob[], about: Conversion): readonly ConvertedJob[] {
  const taken = new Map<string, number>()
  return jobs.map((job) => convert(job, about, taken))
}

function convert(job: CronJob, about: Conversion, taken: Map<string, number>): ConvertedJob {
  const { when, line } = job
  const timezone = job.variables["CRON_TZ"] ?? about.timezone
  const skipped = (why: string): ConvertedJob => ({
    line,
    cron: when,
    timezone,
    entry: null,
    command: null,
    notes: [why],
  })
  if (/^@reboot$/i.test(when)) return skipped("no equivalent; run the command when the worker starts")
  const lints = lintsOf(when, timezone, about.now)
  if (typeof lints === "string") return skipped(lints)
  const parsed = parseCommand(job.command)
  const id = idFor(about.prefix + parsed.name, job.comment, taken)
  const timeout = parsed.timeout
  const entry: ScheduleEntry = {
    id,
    task: "command",
    cron: when,
    timezone,
    payload: { command: id },
    ...(parsed.isExclusive ? { overlap: "skip" as const } : { overlap: "allow" as const }),
    // Like cron: missed occurrences are not caught up, and failures are not retried.
    catchUp: "none",
    retry: { attempts: 1 },
    ...(parsed.jitterMs === null ? {} : { jitter: parsed.jitterMs }),
    ...(timeout === null ? {} : { timeout }),
    ...(job.comment === "" ? {} : { description: job.comment }),
    tags: ["crontab"],
  }
  // Cron starts every command in the home folder of its user.
  const cwd = parsed.cwd ?? job.variables["HOME"] ?? about.homeOf(job.user)
  const notes = [...parsed.notes, ...folderNotes(job, parsed.cwd, cwd), ...notesOf(job), ...lints]
  return { line, cron: when, timezone, entry, command: definitionOf(job, parsed, cwd), notes }
}

/** The lints of the expression, or a text if the expression is invalid. */
function lintsOf(when: string, timezone: string, now: number): readonly string[] | string {
  try {
    const cron = parseCron(when, { timezone })
    return lintCron(cron, now)
      .filter(({ severity }) => severity !== "info")
      .map(({ code, message }) => `${code} ${message}`)
  } catch (error) {
    if (!(error instanceof BelfryError)) throw error
    return error.message
  }
}

function folderNotes({ user }: CronJob, given: string | null, cwd: string | null): readonly string[] {
  if (given !== null) return []
  return [cwd === null ? `the home folder of ${user} is unknown; set cwd` : `cwd ${cwd} (home)`]
}

function notesOf({ user, input, variables }: CronJob): readonly string[] {
  const [mail, zone, cronZone] = [variables["MAILTO"], variables["TZ"], variables["CRON_TZ"]]
  return [
    ...(cronZone === undefined ? [] : [`times are in ${cronZone} (CRON_TZ, as in cronie)`]),
    ...(zone === undefined ? [] : [`TZ ${zone} is passed to the command and does not change the times`]),
    ...(user === null ? [] : [`ran as ${user}; set uid and gid, or run the worker as ${user}`]),
    ...(input === null ? [] : ["input after % is passed by printf"]),
    ...(mail === undefined || mail === "" ? [] : [`MAILTO ${mail}: alert on failure instead`]),
  ]
}

/** Variables for cron itself. They are not passed to the command. */
const CRON_VARIABLES = new Set([
  "CRON_TZ",
  "MAILTO",
  "MAILFROM",
  "SHELL",
  "RANDOM_DELAY",
  "CONTENT_TYPE",
  "START_HOURS_RANGE",
])

/** Runs the line by `env` and a shell, as cron does, because it may contain pipes, quotes and variables. */
function definitionOf(job: CronJob, parsed: ParsedCommand, cwd: string | null): CommandDefinition {
  const shell = job.variables["SHELL"] ?? "/bin/sh"
  const variables = Object.entries(job.variables)
    .filter(([name]) => !CRON_VARIABLES.has(name))
    .map(([name, value]) => `${name}=${value}`)
  const pipeIn = job.input === null ? "" : `printf '%s' ${quoted(job.input)} | `
  const script = `${pipeIn}${parsed.command}`
  const argv = [...(variables.length === 0 ? [] : ["/usr/bin/env", ...variables]), shell, "-c", script]
  const braces = bracesIn(argv)
  return {
    argv,
    // In `argv`, braces mean an argument of the payload. Here they belong to the shell, so each is mapped to itself.
    ...(braces.length === 0
      ? {}
      : {
          args: Object.fromEntries(
            braces.map((name) => [name, { oneOf: [`{${name}}`], default: `{${name}}` }]),
          ),
        }),
    ...(cwd === null ? {} : { cwd }),
    // Cron has no limit. The default of the command task is one hour.
    timeout: parsed.timeout ?? "24h",
  }
}

function bracesIn(argv: readonly string[]): readonly string[] {
  return [
    ...new Set(argv.flatMap((part) => [...part.matchAll(/\{([A-Za-z]\w*)\}/g)].map((match) => match[1]!))),
  ]
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
