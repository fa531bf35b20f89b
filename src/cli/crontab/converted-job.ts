import type { ScheduleEntry } from "../../config.ts"
import { lintCron } from "../../core/cron/lint.ts"
import { parseCron } from "../../core/cron/parse.ts"
import { BelfryError } from "../../core/errors.ts"
import type { CommandDefinition } from "../../tasks.ts"
import { type Understood, understand } from "./command-line.ts"
import type { CronJob } from "./crontab.ts"
import { idFor } from "./job-id.ts"

/** A job of a crontab as a schedule of the command task, with what has to be said about it. */
export interface ConvertedJob {
  readonly line: number
  readonly cron: string
  readonly timezone: string
  /** Null if there is no equivalent; the notes say why. */
  readonly entry: ScheduleEntry | null
  readonly command: CommandDefinition | null
  readonly notes: readonly string[]
}

export interface Conversion {
  /** Where the crontab names no zone. */
  readonly timezone: string
  readonly prefix: string
  readonly now: number
  /** The home folder of a user, or of the one who imports (null); null if it isn't known. */
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
  if (/^@reboot$/i.test(when)) return skipped("no equivalent: run it when the worker starts")
  const lints = lintsOf(when, timezone, about.now)
  if (typeof lints === "string") return skipped(lints)
  const understood = understand(job.command)
  const id = idFor(about.prefix + understood.name, job.comment, taken)
  const timeout = understood.timeout
  const entry: ScheduleEntry = {
    id,
    task: "command",
    cron: when,
    timezone,
    payload: { command: id },
    ...(understood.isExclusive ? { overlap: "skip" as const } : { overlap: "allow" as const }),
    // Cron itself makes up for nothing that it missed, and tries nothing again.
    catchUp: "none",
    retry: { attempts: 1 },
    ...(understood.jitterMs === null ? {} : { jitter: understood.jitterMs }),
    ...(timeout === null ? {} : { timeout }),
    ...(job.comment === "" ? {} : { description: job.comment }),
    tags: ["crontab"],
  }
  // Cron starts every command in the home folder of its user.
  const cwd = understood.cwd ?? job.variables["HOME"] ?? about.homeOf(job.user)
  const notes = [...understood.notes, ...folderNotes(job, understood.cwd, cwd), ...notesOf(job), ...lints]
  return { line, cron: when, timezone, entry, command: definitionOf(job, understood, cwd), notes }
}

/** What is odd about the expression; a text if it can't be used at all. */
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

function folderNotes({ user }: CronJob, said: string | null, cwd: string | null): readonly string[] {
  if (said !== null) return []
  return [cwd === null ? `the home folder of ${user} is unknown: set cwd` : `cwd ${cwd} (home)`]
}

function notesOf({ user, input, variables }: CronJob): readonly string[] {
  const [mail, zone, cronZone] = [variables["MAILTO"], variables["TZ"], variables["CRON_TZ"]]
  return [
    ...(cronZone === undefined ? [] : [`times in ${cronZone} (CRON_TZ, as cronie reads it)`]),
    ...(zone === undefined ? [] : [`TZ ${zone} is given to the command; it doesn't change the times`]),
    ...(user === null ? [] : [`ran as ${user}: set uid and gid, or run the worker as ${user}`]),
    ...(input === null ? [] : ["input after % is passed by printf"]),
    ...(mail === undefined || mail === "" ? [] : [`MAILTO ${mail}: alert on failure instead`]),
  ]
}

/** Not given to the command: cron's own. */
const CRON_VARIABLES = new Set([
  "CRON_TZ",
  "MAILTO",
  "MAILFROM",
  "SHELL",
  "RANDOM_DELAY",
  "CONTENT_TYPE",
  "START_HOURS_RANGE",
])

/** By `env` and a shell, as cron did it: a crontab's line may hold pipes, quotes and variables. */
function definitionOf(job: CronJob, understood: Understood, cwd: string | null): CommandDefinition {
  const shell = job.variables["SHELL"] ?? "/bin/sh"
  const variables = Object.entries(job.variables)
    .filter(([name]) => !CRON_VARIABLES.has(name))
    .map(([name, value]) => `${name}=${value}`)
  const feed = job.input === null ? "" : `printf '%s' ${quoted(job.input)} | `
  const script = `${feed}${understood.command}`
  const argv = [...(variables.length === 0 ? [] : ["/usr/bin/env", ...variables]), shell, "-c", script]
  const braces = bracesIn(argv)
  return {
    argv,
    // In `argv` braces mean an argument of the payload; here they are the shell's, so each stands for itself.
    ...(braces.length === 0
      ? {}
      : {
          args: Object.fromEntries(
            braces.map((name) => [name, { oneOf: [`{${name}}`], default: `{${name}}` }]),
          ),
        }),
    ...(cwd === null ? {} : { cwd }),
    // Cron has no limit; the command task's own would be an hour.
    timeout: understood.timeout ?? "24h",
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
