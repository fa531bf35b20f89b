import { unquoted } from "./shell-words.ts"

/** The syntax of a crontab: lines with jobs, variables and comments. */

export interface CronJob {
  readonly line: number
  /** `0 3 * * *`, or a nickname such as `@daily`. */
  readonly when: string
  readonly user: string | null
  readonly command: string
  /** The text after `%`, for the standard input of the command. */
  readonly input: string | null
  /** The comment directly above the job. */
  readonly comment: string
  /** The variables set above the job, as cron passes them to the command. */
  readonly variables: Readonly<Record<string, string>>
}

export interface UnreadLine {
  readonly line: number
  readonly text: string
  readonly why: string
}

export interface Crontab {
  readonly jobs: readonly CronJob[]
  readonly unread: readonly UnreadLine[]
}

const NICKNAME = /^(@[a-z_]+)\s+(.+)$/i
const USER = /^([a-z_][\w.-]*\$?)\s+(.+)$/i
const VARIABLES_MAX = 1_000

export function parseCrontab(text: string, { hasUsers }: { hasUsers: boolean }): Crontab {
  const jobs: CronJob[] = []
  const unread: UnreadLine[] = []
  // Consecutive jobs share this object until another variable is set.
  let variables: Readonly<Record<string, string>> = {}
  let comment: string[] = []
  for (const [index, raw] of text.split(/\r?\n/).entries()) {
    const line = index + 1
    const trimmed = raw.trim()
    const variable = variableIn(trimmed)
    if (trimmed === "") comment = []
    else if (trimmed.startsWith("#")) comment.push(trimmed.replace(/^#+\s?/, ""))
    else if (variable !== null) {
      if (Object.keys(variables).length >= VARIABLES_MAX)
        unread.push({ line, text: trimmed, why: `more than ${VARIABLES_MAX} variables` })
      else variables = { ...variables, [variable.name]: variable.value }
      comment = []
    } else {
      const job = jobOf(trimmed, hasUsers)
      if (typeof job === "string") unread.push({ line, text: trimmed, why: job })
      else jobs.push({ ...job, line, comment: proseOf(comment), variables })
      comment = []
    }
  }
  return { jobs, unread }
}

/** `A=b` is a variable. The first field of a job begins with a digit, `*` or `@`. */
function variableIn(line: string): { readonly name: string; readonly value: string } | null {
  const index = line.indexOf("=")
  if (index < 0 || /^[\d*@#]/.test(line)) return null
  const name = line.slice(0, index).trim()
  const isName = /^(?:[A-Za-z_]\w*|"[^"]+"|'[^']+')$/.test(name)
  return isName ? { name: unquoted(name), value: unquoted(line.slice(index + 1).trim()) } : null
}

function jobOf(
  line: string,
  hasUsers: boolean,
): Pick<CronJob, "when" | "user" | "command" | "input"> | string {
  const [, when, rest] = NICKNAME.exec(line) ?? fieldsIn(line) ?? []
  if (when === undefined || rest === undefined) return "not a job: it needs five fields and a command"
  const named = hasUsers ? USER.exec(rest) : null
  if (hasUsers && named === null) return "no command after the user"
  const { command, input } = atPercent((named?.[2] ?? rest).trim())
  return { when: when.trim().replaceAll(/\s+/g, " "), user: named?.[1] ?? null, command, input }
}

/** The line, its first five fields, and the rest. */
function fieldsIn(line: string): readonly string[] | null {
  const field = /\S+\s+/y
  for (let count = 0; count < 5; count++) if (!field.test(line)) return null
  return field.lastIndex < line.length
    ? [line, line.slice(0, field.lastIndex), line.slice(field.lastIndex)]
    : null
}

/** The first unescaped `%` ends the command. The rest is its input; each further `%` is a line break. */
function atPercent(text: string): { command: string; input: string | null } {
  const parts = text.split(/(?<!\\)%/)
  const plain = parts.map((part) => part.replaceAll("\\%", "%"))
  const [command = "", ...input] = plain
  return { command: command.trim(), input: input.length === 0 ? null : input.join("\n") }
}

/** The comment without commented-out jobs, rulers and field headers. */
function proseOf(lines: readonly string[]): string {
  const prose = lines.map((line) => line.trim()).filter((line) => line !== "" && !isNoise(line))
  return prose.slice(-3).join(" ").slice(0, 300)
}

function isNoise(line: string): boolean {
  const isRule = /^[-=*#_~\s]+$/.test(line)
  const isHeader = /^(m(in(ute)?)?\s+h(our)?\s|\.-{3}|\|\s|\*\s+\*\s+\*)/i.test(line)
  const isJob = /^(@\w+|[\d*/,-]+(\s+[\d*/,A-Za-z-]+){4})\s+\S/.test(line)
  return isRule || isHeader || isJob
}

/** `/etc/crontab` and `cron.d` have a user column: the command of every job begins with a known user name. */
export function looksLikeSystem(text: string): boolean {
  const jobs = parseCrontab(text, { hasUsers: false }).jobs
  return jobs.length > 0 && jobs.every(({ command }) => USERS.test(command))
}

const USERS =
  /^(root|daemon|bin|sys|nobody|www-data|postgres|mysql|backup|mail|news|git|deploy|ubuntu|debian|admin|munin|smmsp|logcheck|amavis|[a-z][\w-]*-data)\s+\S/
