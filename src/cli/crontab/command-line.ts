import type { Duration } from "../../core/time/duration.ts"
import { MINUTE, SECOND } from "../../core/time/instant.ts"
import { programName } from "./program-name.ts"
import { isControl, type ShellWord, shellWords, unquoted } from "./shell-words.ts"

/** A command of a crontab, without the wrappers that a scheduler makes unnecessary. */
export interface ParsedCommand {
  readonly command: string
  /** A name for the command. */
  readonly name: string
  readonly cwd: string | null
  readonly timeout: Duration | null
  readonly jitterMs: number | null
  /** The command used a lock, so its runs must not overlap. */
  readonly isExclusive: boolean
  readonly notes: readonly string[]
}

/** The settings of a recognised wrapper, and the command without it. */
interface Unwrapped extends Partial<Pick<ParsedCommand, "cwd" | "timeout" | "jitterMs" | "isExclusive">> {
  readonly command: string
  readonly note: string
}

type Wrapper = (line: string, words: readonly ShellWord[]) => Unwrapped | null

export function parseCommand(line: string): ParsedCommand {
  let found: Omit<ParsedCommand, "name"> = { command: line, ...NOTHING }
  // Wrappers may be nested in any order. Each pass removes one.
  for (let pass = 0; pass < 10; pass++) {
    const words = shellWords(found.command)
    const unwrapped = unwrapFirst(WRAPPERS, found.command, words)
    if (unwrapped === null) break
    const { note, ...about } = unwrapped
    found = { ...found, ...about, notes: [...new Set([...found.notes, note])] }
  }
  const command = found.command.trim()
  return { ...found, command, name: programName(command) }
}

const NOTHING = { cwd: null, timeout: null, jitterMs: null, isExclusive: false, notes: [] }

function unwrapFirst(
  wrappers: readonly Wrapper[],
  line: string,
  words: readonly ShellWord[],
): Unwrapped | null {
  for (const wrapper of wrappers) {
    const unwrapped = wrapper(line, words)
    if (unwrapped !== null) return unwrapped
  }
  return null
}

const RANDOM = [
  /^\$\(\(\s*\$?\{?RANDOM\}?\s*%\s*(\d+)\s*\)\)$/,
  /^`expr\s+\$\{?RANDOM\}?\s*%\s*(\d+)\s*`$/,
] as const
const RANDOM_MAX_LENGTH = 100

/** `sleep $((RANDOM % 300)); …` */
function withoutSleep(line: string, words: readonly ShellWord[]): Unwrapped | null {
  const [sleep, time, then, next] = words
  if (next === undefined || !isProgram(sleep!, "sleep") || !isThen(then!)) return null
  if (time!.text.length > RANDOM_MAX_LENGTH) return null
  const seconds = RANDOM.map((pattern) => pattern.exec(time!.text)?.[1]).find((each) => each !== undefined)
  if (seconds === undefined) return null
  const jitterMs = Math.min(Number(seconds) * SECOND, 24 * 60 * MINUTE)
  return { command: line.slice(next.start), jitterMs, note: `jitter ${jitterMs / SECOND}s (sleep $RANDOM)` }
}

/** `cd /srv/shop && …`. A folder that needs a shell, such as `cd ~` and `cd $HOME/x`, stays in the command. */
function withoutFolder(line: string, words: readonly ShellWord[]): Unwrapped | null {
  const [cd, folder, then, next] = words
  if (next === undefined || cd!.text !== "cd" || folder!.isOperator || !isThen(then!)) return null
  const cwd = unquoted(folder!.text)
  return /^\/[\w./ @+-]*$/.test(cwd) ? { command: line.slice(next.start), cwd, note: `cwd ${cwd}` } : null
}

const FLOCK_VALUES = ["-w", "--wait", "--timeout", "-E", "--conflict-exit-code"]

/** `flock -n FILE …` and `flock -n FILE -c '…'`. The lock stays if it covers only a part of the line. */
function withoutLock(line: string, words: readonly ShellWord[]): Unwrapped | null {
  if (words.length === 0 || !isProgram(words[0]!, "flock")) return null
  const file = afterOptions(words, FLOCK_VALUES)
  const isLine = words[file + 1]?.text === "-c"
  const first = words[isLine ? file + 2 : file + 1]
  if (first === undefined || words[file]!.isOperator || words.slice(file).some(isControl)) return null
  if (isLine && first !== words.at(-1)) return null
  const command = isLine ? unquoted(first.text) : line.slice(first.start)
  return { command, isExclusive: true, note: "overlap: skip (flock)" }
}

const TIMEOUT_VALUES = ["-k", "--kill-after", "-s", "--signal"]

/** `timeout 10m …`. The limit stays if it covers only a part of the line. */
function withoutTimeout(line: string, words: readonly ShellWord[]): Unwrapped | null {
  if (words.length === 0 || !isProgram(words[0]!, "timeout")) return null
  const index = afterOptions(words, TIMEOUT_VALUES)
  const [limit, first] = [words[index]?.text ?? "", words[index + 1]]
  const isLimit = /^\d{1,9}(?:\.\d{1,3})?[smhd]?$/.test(limit) && Number.parseFloat(limit) > 0
  if (first === undefined || !isLimit || words.slice(index).some(isControl)) return null
  const timeout = (/\d$/.test(limit) ? `${limit}s` : limit) as Duration
  return { command: line.slice(first.start), timeout, note: `timeout ${timeout}` }
}

/** The index of the first word after the program that is neither an option nor its value. */
function afterOptions(words: readonly ShellWord[], withValue: readonly string[]): number {
  let index = 1
  while (index < words.length && words[index]!.text.startsWith("-"))
    index += withValue.includes(words[index]!.text) ? 2 : 1
  return index
}

/**
 * `>> /var/log/x.log 2>&1`, `> /dev/null`, `| logger -t x`. A redirection to any other file stays, because that file is the
 * output of the job.
 */
function withoutLog(line: string, words: readonly ShellWord[]): Unwrapped | null {
  const note = "output goes to the run's log"
  const upTo = (index: number) => (index > 0 ? { command: line.slice(0, words[index - 1]!.end), note } : null)
  const pipe = words.findLastIndex(isControl)
  const program = words[pipe + 1]
  if (words[pipe]?.text === "|" && program !== undefined && isProgram(program, "logger")) return upTo(pipe)
  const last = words.length - 1
  if (words[last]?.text === "2>&1") return upTo(last)
  const target = words[last]
  if (target === undefined || target.isOperator || !isLogFile(unquoted(target.text))) return null
  return /^(?:[12]?>>?|&>>?)$/.test(words[last - 1]?.text ?? "") ? upTo(last - 1) : null
}

function isLogFile(path: string): boolean {
  return path === "/dev/null" || path.startsWith("/var/log/") || path.endsWith(".log")
}

const WRAPPERS: readonly Wrapper[] = [withoutLog, withoutSleep, withoutFolder, withoutLock, withoutTimeout]

function isProgram({ text, isOperator }: ShellWord, name: string): boolean {
  return !isOperator && (text === name || (text.startsWith("/") && text.endsWith(`/${name}`)))
}

function isThen({ text }: ShellWord): boolean {
  return text === "&&" || text === ";"
}
