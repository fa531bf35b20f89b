import type { Config } from "../../config.ts"
import { isActive } from "../../core/schedule-state.ts"
import type { ScheduleView } from "../../scheduler/views.ts"
import { problemIn } from "../checks/schedule-problem.ts"
import { hasUnsafe, printable } from "../printing/printable.ts"

/** Schedules as a crontab. What a crontab can't say stands there as a comment with the reason, so that nothing is lost unseen. */
export function crontabText(schedules: readonly ScheduleView[], config: Config): string {
  const lines = [
    "# Made by `belfry export --format crontab`. Cron makes up for nothing, retries nothing and keeps no record.",
  ]
  let zone = ""
  for (const schedule of schedules) {
    const jobs = jobsOf(schedule, config)
    lines.push("", `# ${schedule.id}${schedule.description === "" ? "" : `: ${schedule.description}`}`)
    if (typeof jobs === "string") {
      lines.push(`# not in a crontab: ${jobs} (${schedule.when}, task ${schedule.task})`)
      continue
    }
    // It holds for all the lines below it.
    if (schedule.timezone !== zone) lines.push(`CRON_TZ=${schedule.timezone}`)
    zone = schedule.timezone
    const { state } = schedule
    lines.push(...jobs.map((job) => (isActive(state) ? job : `# ${state}: ${job}`)))
  }
  // Cron runs each line as a command, so no stored text may begin one.
  return lines.map((line) => `${printable(line)}\n`).join("")
}

/** A line for each trigger, or why there is none. */
function jobsOf(schedule: ScheduleView, config: Config): readonly string[] | string {
  const problem = problemIn(schedule)
  if (problem !== null) return `it can't be planned: ${problem}`
  const jobs: string[] = []
  const command = commandOf(schedule, config)
  if ("why" in command) return command.why
  const lock =
    schedule.overlap.policy === "skip" ? `flock -n ${quoted(`/tmp/belfry-${schedule.id}.lock`)} ` : ""
  for (const trigger of schedule.triggers) {
    if (trigger.kind === "every") return "an interval isn't a pattern of the clock"
    if (trigger.kind === "at") return "it occurs once"
    if (trigger.kind === "unreadable") return trigger.why
    const why = strangeTo(trigger.cron, trigger.dayMatch)
    if (why !== null) return why
    // To cron a percent sign is the end of the line.
    const line = `${command.folder}${lock}${command.line}`.replaceAll("%", "\\%")
    jobs.push(`${trigger.cron.trim().replaceAll(/\s+/g, " ")} ${line}`)
  }
  if ([schedule.timezone, ...jobs].some(hasUnsafe)) return "it has a line break or another control character"
  return jobs
}

const PLAIN_FIELD = /^[\d*,/a-z-]+$/i
const DESCRIPTORS = /^@(hourly|daily|midnight|weekly|monthly|yearly|annually)$/i

function strangeTo(cron: string, dayMatch: "either" | "both"): string | null {
  if (DESCRIPTORS.test(cron)) return null
  const fields = cron.trim().split(/\s+/)
  if (fields.length !== 5) return "cron has five fields and no seconds"
  if (dayMatch === "both") return "cron takes either day, not both"
  const strange = fields.find(
    (field) => !PLAIN_FIELD.test(field) || /^(H|L)|[LW]$/i.test(field.replace(/jul$/i, "")),
  )
  return strange === undefined ? null : `cron doesn't know ${strange}`
}

type Line = { readonly folder: string; readonly line: string } | { readonly why: string }

function commandOf({ task, payload }: ScheduleView, config: Config): Line {
  const given = (typeof payload === "object" && payload !== null ? payload : {}) as Readonly<
    Record<string, unknown>
  >
  if (task === "http") return curlOf(given)
  const [commands, name] = [config.commands ?? {}, String(given["command"])]
  const definition = task === "command" && Object.hasOwn(commands, name) ? commands[name] : undefined
  if (definition === undefined)
    return { why: task === "command" ? "its command isn't in this configuration" : "its task is code" }
  const values = (given["args"] ?? {}) as Readonly<Record<string, unknown>>
  const argv = definition.argv.map((part) =>
    part.replaceAll(/\{([A-Za-z]\w*)\}/g, (whole, name: string) =>
      String((Object.hasOwn(values, name) ? values[name] : definition.args?.[name]?.default) ?? whole),
    ),
  )
  const folder = definition.cwd === undefined ? "" : `cd ${quoted(definition.cwd)} && `
  return { folder, line: argv.map(quoted).join(" ") }
}

function curlOf(payload: Readonly<Record<string, unknown>>): Line {
  const { url, ...rest } = payload
  const isPlain = Object.keys(rest).every((name) => name === "method" && rest[name] === "GET")
  if (!isPlain || typeof url !== "string") return { why: "its request is more than a GET" }
  // Anything else could be an option of curl, or a file.
  if (!/^https?:\/\//i.test(url)) return { why: "its URL is neither http nor https" }
  if (url.includes("{{")) return { why: "its URL refers to a variable of the worker" }
  // -g: brackets and braces of a URL stand for themselves.
  return { folder: "", line: `curl -fsSg -o /dev/null ${quoted(url)}` }
}

function quoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}
