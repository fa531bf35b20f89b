import assert from "node:assert/strict"
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, test } from "vitest"

/** The real program, in processes of its own. */

const PROGRAM = fileURLToPath(new URL("../../src/cli.ts", import.meta.url))
const folder = mkdtempSync(join(tmpdir(), "belfry-process-"))
const children: ChildProcess[] = []
afterAll(() => {
  for (const child of children) child.kill("SIGKILL")
  rmSync(folder, { recursive: true, force: true })
})

function belfry(...argv: string[]) {
  const child = spawn(process.execPath, ["--import", "tsx", PROGRAM, ...argv], {
    // `tsx` is found from here; the program works in the folder that the environment names.
    cwd: fileURLToPath(new URL("../..", import.meta.url)),
    env: {
      ...process.env,
      BELFRY_STORE: join(folder, "belfry.db"),
      BELFRY_CONFIG: join(folder, "belfry.config.json"),
    },
  })
  children.push(child)
  let [out, err] = ["", ""]
  child.stdout.on("data", (data) => {
    out += data
  })
  child.stderr.on("data", (data) => {
    err += data
  })
  const ended = once(child, "close").then(([code, signal]) => ({ code, signal, out, err }))
  const says = async (pattern: RegExp) => {
    while (!pattern.test(out + err))
      await Promise.race([once(child.stdout, "data"), once(child.stderr, "data")])
  }
  return { child, ended, says }
}

test("kill -9 in the middle loses nothing: the next start takes the run over", {
  timeout: 60_000,
}, async () => {
  const commands = { slow: { argv: ["sh", "-c", `test -e ${folder}/second || sleep 60`] } }
  const schedules = [{ id: "slow", task: "command", cron: "0 0 1 1 *", payload: { command: "slow" } }]
  writeFileSync(join(folder, "belfry.config.json"), JSON.stringify({ commands, schedules, lease: "1s" }))
  const first = belfry("start")
  await first.says(/Ctrl-C stops it/)
  const { out } = await belfry("schedule", "trigger", "slow", "-o", "name").ended
  await first.says(/started/)

  first.child.kill("SIGKILL")
  await first.ended
  writeFileSync(join(folder, "second"), "")
  const second = belfry("start")
  const waited = await belfry("run", "wait", out.trim(), "--timeout", "40s").ended
  second.child.kill("SIGTERM")
  const ended = await second.ended

  assert.equal(waited.code, 0, waited.err)
  assert.match(ended.out, /started {4}slow\+.* {2}attempt 2/)
  assert.equal(ended.code, 0, ended.err)
})

test("a second signal doesn't wait", { timeout: 60_000 }, async () => {
  rmSync(join(folder, "second"), { force: true })
  const program = belfry("start")
  await program.says(/Ctrl-C stops it/)
  await belfry("schedule", "trigger", "slow").ended
  await program.says(/started/)

  program.child.kill("SIGINT")
  await program.says(/Stopping/)
  program.child.kill("SIGINT")

  assert.equal((await program.ended).code, 130)
})

test("a reader that goes away stops it gracefully: no worker is left behind", {
  timeout: 60_000,
}, async () => {
  const program = belfry("start", "--stop-timeout", "1s")
  await program.says(/Ctrl-C stops it/)
  program.child.stdout.destroy()
  await belfry("schedule", "trigger", "slow", "--overlap", "allow").ended

  const { code } = await program.ended
  const workers = await belfry("worker", "list", "--json").ended

  assert.equal(code, 0)
  assert.deepEqual(
    (JSON.parse(workers.out) as { pid: number }[]).filter(({ pid }) => pid === program.child.pid),
    [],
  )
})
