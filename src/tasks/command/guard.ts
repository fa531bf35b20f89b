/**
 * The process between a worker and a command, run as `node -e`. Its purpose is to outlive the worker until the command is
 * stopped. The kernel closes the worker's end of a pipe however the worker ends, even by `kill -9`. The guard sees that and
 * stops the command's whole process group. A worker that wants to stop a command closes the same pipe, so there is only one way
 * to stop, and it is always in use.
 *
 * The guard reads one line from standard input, a `GuardOrder`. It writes each `GuardReport` to descriptor 3, one JSON per line.
 * The command inherits descriptors 1 and 2, so its output goes to the worker without passing through the guard.
 */
export const GUARD_SOURCE = [
  "const { spawn } = require('node:child_process')",
  "const { readdirSync, readFileSync, writeSync } = require('node:fs')",
  "let text = '', child, order, stopping = false, reported = false",
  // If the worker is gone, the report has no reader.
  "const say = (report) => { try { writeSync(3, JSON.stringify(report) + '\\n') } catch {} }",
  "const signalGroup = (signal) => { try { return process.kill(-child.pid, signal) } catch { return false } }",
  // Linux counts dead processes as members until they are reaped, which a container's first process may never do.
  "const isMember = (pid) => {",
  "  try {",
  "    const stat = readFileSync('/proc/' + pid + '/stat', 'latin1')",
  "    const [state, , group] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')",
  "    return Number(group) === child.pid && state !== 'Z'",
  "  } catch { return false }",
  "}",
  "const isAlone = () => !signalGroup(0) ||",
  "  (process.platform === 'linux' && !readdirSync('/proc').some((name) => Number(name) > 0 && isMember(name)))",
  "const report = (end) => { if (!reported) { reported = true; say(end) } }",
  "function stop() {",
  "  if (stopping) return",
  "  stopping = true",
  "  if (!child || !child.pid) process.exit()",
  "  signalGroup('SIGTERM')",
  "  setTimeout(() => signalGroup('SIGKILL'), order.graceMs)",
  "  setTimeout(() => process.exit(), order.graceMs + 500)",
  "  setInterval(() => { if (reported && isAlone()) process.exit() }, 25)",
  "}",
  "function start() {",
  "  const { argv, cwd, env, uid, gid } = order",
  // Detached: the command gets its own session and process group. The group's id is the command's process id.
  "  const options = { cwd, env, uid, gid, detached: true, stdio: ['ignore', 1, 2] }",
  "  try { child = spawn(argv[0], argv.slice(1), options) }",
  "  catch (error) { say({ error: error.code || error.message }); process.exit() }",
  "  child.on('error', (error) => { report({ error: error.code || error.message }); process.exit() })",
  "  child.on('exit', (exitCode, signal) => {",
  "    report({ exitCode, signal })",
  // Processes that a command leaves behind in its group are stopped, too.
  "    isAlone() ? process.exit() : stop()",
  "  })",
  "  if (child.pid) say({ pid: child.pid })",
  "}",
  "process.stdin.on('data', (chunk) => {",
  "  if (order) return",
  "  text += chunk",
  "  const end = text.indexOf('\\n')",
  "  if (end >= 0) { order = JSON.parse(text.slice(0, end)); start() }",
  "})",
  "for (const event of ['end', 'close', 'error']) process.stdin.on(event, stop)",
  "for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, stop)",
].join("\n")

export interface GuardOrder {
  readonly argv: readonly string[]
  readonly cwd?: string
  readonly env: Readonly<Record<string, string>>
  readonly uid?: number
  readonly gid?: number
  readonly graceMs: number
}

export type GuardReport =
  | { readonly pid: number }
  | { readonly exitCode: number | null; readonly signal: NodeJS.Signals | null }
  | { readonly error: string }
