import type { Duration } from "../../core/duration.ts"
import { MINUTE, SECOND } from "../../core/instant.ts"

/** What a crontab's command says about itself, with the wrappers that a scheduler makes unnecessary taken off. */
export interface Understood {
  readonly command: string
  /** What it could be called. */
  readonly name: string
  readonly cwd: string | null
  readonly timeout: Duration | null
  readonly jitterMs: number | null
  /** A lock says that it must not overlap with itself. */
  readonly isExclusive: boolean
  readonly notes: readonly string[]
}

const FLOCK =
  /^(?:\/\S*\/)?flock\s+((?:-\w+(?:\s+\d+(?:\.\d+)?)?\s+|--[\w-]+(?:[= ]\d+)?\s+)*)(\S+)\s+(?:-c\s+)?(.+)$/s
const TIMEOUT =
  /^(?:\/\S*\/)?timeout\s+((?:-[ks]\s*\S+\s+|--[\w-]+(?:=\S+)?\s+)*)(\d+(?:\.\d+)?[smhd]?)\s+(.+)$/s
const CD = /^cd\s+("[^"]*"|'[^']*'|[^\s;&|]+)\s*(?:&&|;)\s*(.+)$/s
const RANDOM_SLEEP =
  /^(?:\/\S*\/)?sleep\s+(?:\$\(\(\s*\$?\{?RANDOM\}?\s*%\s*(\d+)\s*\)\)|`[^`]*RANDOM\s*%\s*(\d+)[^`]*`)\s*(?:&&|;)\s*(.+)$/s
const NICE = /^(?:\/\S*\/)?(?:nice|ionice|chronic)(?:\s+-\w+(?:\s*-?\d+)?)*\s+(.+)$/s
const LOG =
  /\s*(?:(?:&>>?|>>?)\s*\S+(?:\s+2>\s*&1|\s+2>>?\s*\S+)?|\|\s*(?:\/\S*\/)?logger\b[^|;&]*|2>\s*&1)\s*$/
const HEALTH =
  /\s*(?:&&|;)\s*(?:\/\S*\/)?(?:curl|wget)\b[^;&|]*https?:\/\/\S*(?:hc-ping|healthchecks|cronitor|heartbeat|uptime|betterstack|deadmanssnitch|nosnch)[^;&|]*(?:>\s*\/dev\/null(?:\s+2>&1)?)?\s*$/i

export function understand(line: string): Understood {
  let command = line
  const notes: string[] = []
  let cwd: string | null = null
  let timeout: Duration | null = null
  let jitterMs: number | null = null
  let isExclusive = false
  // Wrappers come in any order and in any number; each turn takes one off.
  for (let turn = 0; turn < 10; turn++) {
    const before = command
    const sleep = RANDOM_SLEEP.exec(command)
    const directory = CD.exec(command)
    const lock = FLOCK.exec(command)
    const limit = TIMEOUT.exec(command)
    if (sleep !== null) {
      jitterMs = Math.min(Number(sleep[1] ?? sleep[2]) * SECOND, 24 * 60 * MINUTE)
      command = sleep[3]!
      notes.push(`jitter ${jitterMs / SECOND}s (sleep $RANDOM)`)
    } else if (directory !== null && isPlainPath(unquoted(directory[1]!))) {
      cwd = unquoted(directory[1]!)
      command = directory[2]!
      notes.push(`cwd ${cwd}`)
    } else if (lock !== null) {
      isExclusive = true
      command = unquoted(lock[3]!)
      notes.push("overlap: skip (flock)")
    } else if (limit !== null) {
      timeout = (/\d$/.test(limit[2]!) ? `${limit[2]}s` : limit[2]!) as Duration
      command = limit[3]!
      notes.push(`time-out ${timeout}`)
    }
    if (command === before) break
  }
  const health = HEALTH.exec(command)
  if (health !== null) {
    command = command.slice(0, health.index)
    notes.push("health check left out: alert on a missed or failed run instead")
  }
  const log = LOG.exec(command)
  if (log !== null) {
    command = command.slice(0, log.index)
    notes.push("output goes to the run's log")
  }
  return { command: command.trim(), name: nameOf(command), cwd, timeout, jitterMs, isExclusive, notes }
}

/** `cd ~` and `cd $HOME/x` need a shell: they stay in the command. */
function isPlainPath(path: string): boolean {
  return /^\/[\w./ @+-]*$/.test(path)
}

function unquoted(text: string): string {
  return /^(["'])(.*)\1$/s.exec(text.trim())?.[2] ?? text
}

const INTERPRETERS = new Set([
  "sh",
  "bash",
  "zsh",
  "dash",
  "env",
  "python",
  "python3",
  "php",
  "node",
  "ruby",
  "perl",
  "sudo",
  "nohup",
  "exec",
  "test",
  "artisan",
  "console",
  "manage.py",
  "npm",
  "npx",
  "yarn",
  "pnpm",
  "run",
])

/** The program, or what it interprets: `/opt/backup-db.sh` is `backup-db`. */
function nameOf(command: string): string {
  const plain = NICE.exec(command)?.[1] ?? command
  const words = plain
    .replaceAll(/["'()]/g, " ")
    .trim()
    .split(/\s+/)
  const word = words.find((each) => {
    const base = each.split("/").at(-1)!
    return !INTERPRETERS.has(base) && !/^-/.test(each) && !/^\w+=/.test(each) && /[a-z]/i.test(base)
  })
  return (word ?? "job")
    .split("/")
    .at(-1)!
    .replace(/\.(sh|bash|py|php|js|mjs|ts|rb|pl|bin)$/i, "")
}
