import { readFileSync, readlinkSync } from "node:fs"
import { homedir, hostname, userInfo } from "node:os"
import { type Clock, systemClock } from "../../runtime/clock.ts"
import type { Store } from "../../store/store.ts"

/** All that a command may touch of the world around it, so that a test can be that world. */
export interface Io {
  /** Data: what another program may read. */
  out(text: string): void
  /** Everything else: progress, hints, warnings, errors. */
  err(text: string): void
  readonly isOutTerminal: boolean
  readonly isErrTerminal: boolean
  /** Somebody can answer a question. */
  readonly canAsk: boolean
  /** Ctrl-D is a no; Ctrl-C throws `Interrupted`. */
  ask(question: string): Promise<string>
  readInput(): Promise<string>
  /** The text as somebody's editor leaves it; the name tells the editor what it is. */
  edit(text: string, name: string): Promise<string>
  columns(): number
  rows(): number
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  readonly clock: Clock
  /** The viewer's zone. */
  readonly zone: string
  /** Who asks, for the record. */
  readonly user: string
  /** The home folder of a user of this host, or of the one who asks (null); null if it isn't known. */
  homeOf(user: string | null): string | null
  /** Calls back at each SIGINT and SIGTERM until it is called off; without it they end the process as always. */
  onSignal(listener: (signal: "SIGINT" | "SIGTERM") => void): () => void
  /** Single keys, as long as it isn't called off. */
  onKey(listener: (key: string) => void): () => void
  /** Ends the process at once. */
  exit(code: number): void
  /** Another door to the store named by a test. */
  readonly openStore?: (address: string) => Store
}

export function processIo(): Io {
  const { stdout, stderr, stdin, env } = process
  for (const stream of [stdout, stderr])
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code !== "EPIPE") throw error
      onReaderGone()
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
    // A terminal that doesn't know its size says 0.
    columns: () => stdout.columns || 120,
    rows: () => stdout.rows || 40,
    env,
    cwd: process.cwd(),
    clock: systemClock,
    // Asked for only where they are needed: the first use of Intl takes 16 ms.
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

let isReaderGone = false

/** A reader that goes away (`| head`) is no error. What listens for signals, such as `start`, may end in its own way. */
function onReaderGone(): void {
  if (process.listenerCount("SIGTERM") === 0) process.exit(0)
  // Each later write fails as well; a second signal would mean "at once".
  if (!isReaderGone) process.emit("SIGTERM", "SIGTERM")
  isReaderGone = true
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

/** As Intl says it. Where the host plainly says UTC, as servers do, Intl needn't be asked. */
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
    // No link, or another system: Intl knows.
    return false
  }
}

function userName(): string {
  try {
    return `${userInfo().username}@${hostname()}`
  } catch {
    // No entry for this user id, as in many containers.
    return `${process.env["USER"] ?? homedir()}@${hostname()}`
  }
}

function homeOf(user: string | null): string | null {
  if (user === null) return homedir()
  try {
    const entries = readFileSync("/etc/passwd", "utf8").split("\n")
    return entries.find((entry) => entry.startsWith(`${user}:`))?.split(":")[5] ?? null
  } catch {
    // No such file on this system.
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
  const hear = (data: Buffer) => listener(data.toString("utf8"))
  stdin.setRawMode(true)
  stdin.resume()
  stdin.on("data", hear)
  return () => {
    stdin.off("data", hear)
    stdin.setRawMode(false)
    stdin.pause()
  }
}
