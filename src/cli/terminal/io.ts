import { readFileSync, readlinkSync } from "node:fs"
import { homedir, hostname, userInfo } from "node:os"
import { type Clock, systemClock } from "../../runtime/clock.ts"
import type { Store } from "../../store/store.ts"

/** Everything that a command uses outside the program. A test provides its own. */
export interface Io {
  /** Standard output: the data, for other programs. */
  out(text: string): void
  /** Standard error: progress, hints, warnings and errors. */
  err(text: string): void
  readonly isOutTerminal: boolean
  readonly isErrTerminal: boolean
  /** True if a person can answer a question. */
  readonly canAsk: boolean
  /** Ctrl-D means no. Ctrl-C throws `Interrupted`. */
  ask(question: string): Promise<string>
  readInput(): Promise<string>
  /** Opens the text in the user's editor and returns the result. The file name tells the editor the file type. */
  edit(text: string, name: string): Promise<string>
  columns(): number
  rows(): number
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  readonly clock: Clock
  /** The time zone of the user. */
  readonly zone: string
  /** The name of the user, stored with changes. */
  readonly user: string
  /** The home folder of a user of this host, or of the current user (null). Null: unknown. */
  homeOf(user: string | null): string | null
  /** Calls the listener at each SIGINT and SIGTERM. Returns a function that removes the listener. */
  onSignal(listener: (signal: "SIGINT" | "SIGTERM") => void): () => void
  /** Calls the listener with each key press. Returns a function that removes the listener. */
  onKey(listener: (key: string) => void): () => void
  /** Ends the process at once. */
  exit(code: number): void
  /** Replaces the opening of stores, for tests. */
  readonly openStore?: (address: string) => Store
}

export function processIo(): Io {
  const { stdout, stderr, stdin, env } = process
  for (const stream of [stdout, stderr])
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code !== "EPIPE") throw error
      onClosedPipe()
    })
  return {
    out: (text) => void stdout.write(text),
    err: (text) => void stderr.write(text),
    isOutTerminal: stdout.isTTY === true || isSet(env["BELFRY_FORCE_TTY"]),
    isErrTerminal: stderr.isTTY === true,
    canAsk: stdin.isTTY === true && stderr.isTTY === true && !isSet(env["BELFRY_NO_PROMPT"]),
    ask,
    readInput,
    edit: async (text, name) => (await import("./editor.ts")).editedText(text, name, env),
    // A terminal with an unknown size reports 0.
    columns: () => stdout.columns || 120,
    rows: () => stdout.rows || 40,
    env,
    cwd: process.cwd(),
    clock: systemClock,
    // Getters, because the first use of Intl takes 16 ms and most commands don't need it.
    get zone() {
      return hostZone(env["TZ"])
    },
    get user() {
      return userName()
    },
    homeOf,
    onSignal,
    onKey,
    exit: (code) => process.exit(code),
  }
}

let isPipeClosed = false

/** A closed pipe (`| head`) is not an error. A command that handles signals, such as `start`, is stopped by a SIGTERM. */
function onClosedPipe(): void {
  if (process.listenerCount("SIGTERM") === 0) process.exit(0)
  // Later writes fail, too. Only one signal is sent, because a second one would end the process at once.
  if (!isPipeClosed) process.emit("SIGTERM", "SIGTERM")
  isPipeClosed = true
}

function isSet(value: string | undefined): boolean {
  return value !== undefined && value !== "" && value !== "0"
}

async function ask(question: string): Promise<string> {
  const { askOn } = await import("./ask.ts")
  return askOn(question, { input: process.stdin, output: process.stderr })
}

const INPUT_MAX_BYTES = 16 * 1_048_576

async function readInput(): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of process.stdin) {
    bytes += (chunk as Buffer).length
    if (bytes > INPUT_MAX_BYTES) throw new Error("Standard input is longer than 16 MiB.")
    chunks.push(chunk as Buffer)
  }
  return Buffer.concat(chunks).toString("utf8")
}

let knownZone: string | undefined

/** The zone according to Intl. Intl is not used if the host is set to UTC, as most servers are. */
function hostZone(named: string | undefined): string {
  knownZone ??= isUtcHost(named) ? "UTC" : intlZone()
  return knownZone
}

function intlZone(): string {
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone
  return zone === undefined || zone === "Etc/Unknown" || /^[+-]/.test(zone) ? "UTC" : zone
}

const UTC = /^(.*\/zoneinfo\/)?(Etc\/)?UTC$/

function isUtcHost(named: string | undefined): boolean {
  if (named !== undefined && named !== "") return UTC.test(named)
  try {
    return UTC.test(readlinkSync("/etc/localtime"))
  } catch {
    // Not a link, or another operating system. Intl is used.
    return false
  }
}

function userName(): string {
  try {
    return `${userInfo().username}@${hostname()}`
  } catch {
    // There is no entry for this user id, as in many containers.
    return `${process.env["USER"] ?? homedir()}@${hostname()}`
  }
}

function homeOf(user: string | null): string | null {
  if (user === null) return homedir()
  try {
    const entries = readFileSync("/etc/passwd", "utf8").split("\n")
    return entries.find((entry) => entry.startsWith(`${user}:`))?.split(":")[5] ?? null
  } catch {
    // This system has no such file.
    return null
  }
}

function onSignal(listener: (signal: "SIGINT" | "SIGTERM") => void): () => void {
  const interrupt = () => listener("SIGINT")
  const terminate = () => listener("SIGTERM")
  process.on("SIGINT", interrupt)
  process.on("SIGTERM", terminate)
  return () => {
    process.off("SIGINT", interrupt)
    process.off("SIGTERM", terminate)
  }
}

function onKey(listener: (key: string) => void): () => void {
  const { stdin } = process
  if (stdin.isTTY !== true) return () => undefined
  const onData = (data: Buffer) => listener(data.toString("utf8"))
  stdin.setRawMode(true)
  stdin.resume()
  stdin.on("data", onData)
  return () => {
    stdin.off("data", onData)
    stdin.setRawMode(false)
    stdin.pause()
  }
}
