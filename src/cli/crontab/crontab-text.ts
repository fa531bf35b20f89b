import type { Config } from "../../config.ts"
import type { ScheduleView } from "../../scheduler/views.ts"
import { printable } from "../printable.ts"
import { statusOf } from "../schedule-rows.ts"

/** Schedules as a crontab. What a crontab can't say stands there as a comment with the reason, so that nothing is lost unseen. */
export function crontabText(schedules: readonly ScheduleView[], config: Config): string {
  const lines = [
    "# Made by `belfry export --format crontab`. Cron makes up for nothing, retries nothing and keeps no record.",
  ]
  let zone = ""
  for (const schedule of schedules) {
    const jobs = jobsOf(schedule, config)
    lines.push(
      "",
      `# ${schedule.id}${schedule.description === "" ? "" : `: ${printable(schedule.description)}`}`,
    )
    if (typeof jobs === "string") {
      lines.push(
        `# not in a crontab: ${printable(jobs)} (${printable(schedule.when)}, task ${printable(schedule.task)})`,
      )
      continue
    }
    // It holds for all the lines below it.
    if (schedule.timezone !== zone) lines.push(`CRON_TZ=${schedule.timezone}`)
    zone = schedule.timezone
    const status = statusOf(schedule)
    lines.push(...jobs.map((job) => (status === "active" ? job : `# ${status}: ${job}`)))
  }
  return `${lines.join("\n")}\n`
}

/** A line for each trigger, or why there is none. */
function jobsOf(schedule: ScheduleView, config: Config): readonly string[] | string {
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
    jobs.push(`${trigger.cron} ${command.folder}${`${lock}${command.line}`.replaceAll("%", "\\%")}`)
  }
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
  const definition = task === "command" ? config.commands?.[String(given["command"])] : undefined
  if (definition === undefined)
    return { why: task === "command" ? "its command isn't in this configuration" : "its task is code" }
  const values = (given["args"] ?? {}) as Readonly<Record<string, unknown>>
  const argv = definition.argv.map((part) =>
    part.replaceAll(/\{([A-Za-z]\w*)\}/g, (whole, name: string) =>
      String(values[name] ?? definition.args?.[name]?.default ?? whole),
    ),
  )
  const unsafe = argv.some((part) => part.includes("\n"))
  if (unsafe) return { why: "its command has a line break" }
  const folder = definition.cwd === undefined ? "" : `cd ${quoted(definition.cwd)} && `
  return { folder, line: argv.map(quoted).join(" ") }
}

function curlOf(payload: Readonly<Record<string, unknown>>): Line {
  const { url, ...rest } = payload
  const isPlain =
    typeof url === "string" && Object.keys(rest).every((name) => name === "method" && rest[name] === "GET")
  return isPlain
    ? { folder: "", line: `curl -fsS -o /dev/null ${quoted(url)}` }
    : { why: "its request is more than a GET" }
}

function quoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}
