/**
 * What runs between the worker and a command, as `node -e`: a process whose only work is to outlive the worker for a
 * moment. The kernel closes the worker's end of a pipe however the worker ends, `kill -9` included; the guard sees it
 * and stops the command's whole process group. A worker that wants to stop a command closes the same pipe, so there is
 * one way to stop and it is always in use.
 *
 * On its standard input it reads one line, a `GuardOrder`. On descriptor 3 it says, one JSON each line, a `GuardReport`.
 * The command inherits descriptors 1 and 2, so its output goes to the worker without passing through here.
 */
export const GUARD_SOURCE = [
  "const { spawn } = require('node:child_process')",
  "const { readdirSync, readFileSync, writeSync } = require('node:fs')",
  "let text = '', child, order, stopping = false, reported = false",
  // The worker may be gone: then nobody is there to be told.
  "const say = (report) => { try { writeSync(3, JSON.stringify(report) + '\\n') } catch {} }",
  "const signalGroup = (signal) => { try { return process.kill(-child.pid, signal) } catch { return false } }",
  // Linux counts the dead as members until they are reaped, which a container's first process may never do.
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
  // Detached: a session and a process group of its own, whose id is the command's process id.
  "  const options = { cwd, env, uid, gid, detached: true, stdio: ['ignore', 1, 2] }",
  "  try { child = spawn(argv[0], argv.slice(1), options) }",
  "  catch (error) { say({ error: error.code || error.message }); process.exit() }",
  "  child.on('error', (error) => { report({ error: error.code || error.message }); process.exit() })",
  "  child.on('exit', (exitCode, signal) => {",
  "    report({ exitCode, signal })",
  // What a command leaves behind in its group ends with it.
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
