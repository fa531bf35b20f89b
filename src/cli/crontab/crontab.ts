/** A crontab as it is written: lines of jobs, of variables, and of comments. */

export interface CronJob {
  readonly line: number
  /** `0 3 * * *`, or a nickname such as `@daily`. */
  readonly when: string
  readonly user: string | null
  readonly command: string
  /** What `%` begins: fed to the command's standard input. */
  readonly input: string | null
  /** The comment right above, or at the end of the line. */
  readonly comment: string
  /** Variables set above it, as cron would give them to the command. */
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

const VARIABLE = /^\s*([A-Za-z_]\w*|"[^"]+"|'[^']+')\s*=\s*(.*?)\s*$/
const NICKNAME = /^\s*(@[a-z_]+)\s+(.+)$/i
const FIELDS = /^\s*((?:\S+\s+){5})(.+)$/
const USER = /^([a-z_][\w.-]*\$?)\s+(.+)$/i

export function parseCrontab(text: string, { hasUsers }: { hasUsers: boolean }): Crontab {
  const jobs: CronJob[] = []
  const unread: UnreadLine[] = []
  const variables: Record<string, string> = {}
  let comment: string[] = []
  for (const [index, raw] of text.split(/\r?\n/).entries()) {
    const line = index + 1
    const trimmed = raw.trim()
    if (trimmed === "") comment = []
    else if (trimmed.startsWith("#")) comment.push(trimmed.replace(/^#+\s?/, ""))
    else if (isVariable(trimmed)) {
      const [, name, value] = VARIABLE.exec(trimmed)!
      variables[unquoted(name!)] = unquoted(value!)
      comment = []
    } else {
      const job = jobOf(trimmed, hasUsers)
      if (typeof job === "string") unread.push({ line, text: trimmed, why: job })
      else jobs.push({ ...job, line, comment: proseOf(comment), variables: { ...variables } })
      comment = []
    }
  }
  return { jobs, unread }
}

/** `A=b` is a variable; a job's first field has digits, stars or an at sign. */
function isVariable(line: string): boolean {
  return VARIABLE.test(line) && !/^[\d*@]/.test(line)
}

function jobOf(
  line: string,
  hasUsers: boolean,
): Pick<CronJob, "when" | "user" | "command" | "input"> | string {
  const [, when, rest] = NICKNAME.exec(line) ?? FIELDS.exec(line) ?? []
  if (when === undefined || rest === undefined) return "not a job: fewer than five fields and a command"
  const named = hasUsers ? USER.exec(rest) : null
  if (hasUsers && named === null) return "no command after the user"
  const { command, input } = atPercent((named?.[2] ?? rest).trim())
  return { when: when.trim().replaceAll(/\s+/g, " "), user: named?.[1] ?? null, command, input }
}

/** The first `%` that isn't escaped ends the command; the rest is its input, each further `%` a new line. */
function atPercent(text: string): { command: string; input: string | null } {
  const parts = text.split(/(?<!\\)%/)
  const plain = parts.map((part) => part.replaceAll("\\%", "%"))
  const [command = "", ...input] = plain
  return { command: command.trim(), input: input.length === 0 ? null : input.join("\n") }
}

function unquoted(text: string): string {
  return /^(["'])(.*)\1$/.exec(text)?.[2] ?? text
}

/** Jobs that were switched off, rules and field headers are no prose. */
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

/** `/etc/crontab` and `cron.d` have a column for the user: all of their jobs have a name there that isn't a program's. */
export function looksLikeSystem(text: string): boolean {
  const jobs = parseCrontab(text, { hasUsers: false }).jobs
  return jobs.length > 0 && jobs.every(({ command }) => USERS.test(command))
}

const USERS =
  /^(root|daemon|bin|sys|nobody|www-data|postgres|mysql|backup|mail|news|git|deploy|ubuntu|debian|admin|munin|smmsp|logcheck|amavis|[a-z][\w-]*-data)\s+\S/
