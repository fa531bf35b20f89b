import assert from "node:assert/strict"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { describe, type TestContext, test } from "vitest"

/** Runs the real program in separate processes. */
describe.concurrent("the program", () => {
  test("after kill -9 during a run, the next start takes the run over", async (context) => {
    const { belfry, slowIsQuick } = folderWithSlowTask(context)
    const first = belfry("start")
    await first.prints(/Ctrl-C stops it/)
    const { out } = await belfry("schedule", "trigger", "slow", "-o", "name").ended
    await first.prints(/started {4}slow\+/)

    first.child.kill("SIGKILL")
    await first.ended
    slowIsQuick()
    const second = belfry("start")
    const waited = await belfry("run", "wait", out.trim(), "--timeout", "1h").ended
    second.child.kill("SIGTERM")
    const ended = await second.ended

    assert.equal(waited.code, 0, waited.err)
    assert.match(ended.out, /started {4}slow\+.* {2}attempt [2-9]/)
    assert.equal(ended.code, 0, ended.err)
  })

  test("a second signal ends the program at once", async (context) => {
    const { belfry } = folderWithSlowTask(context)
    const program = belfry("start", "--stop-timeout", "1h")
    await program.prints(/Ctrl-C stops it/)
    await belfry("schedule", "trigger", "slow").ended
    await program.prints(/started {4}slow\+/)

    program.child.kill("SIGINT")
    await program.prints(/stopping/)
    program.child.kill("SIGINT")

    assert.equal((await program.ended).code, 130)
  })

  test("a closed pipe stops the program gracefully, without a worker left in the store", async (context) => {
    const { belfry } = folderWithSlowTask(context)
    const program = belfry("start", "--stop-timeout", "100ms")
    await program.prints(/Ctrl-C stops it/)
    program.child.stdout.destroy()
    await belfry("schedule", "trigger", "slow").ended

    const { code } = await program.ended
    const workers = await belfry("worker", "list", "--json").ended

    assert.equal(code, 0)
    assert.deepEqual(JSON.parse(workers.out), [])
  })
})

const ROOT = fileURLToPath(new URL("../..", import.meta.url))

/** A folder with a schedule whose command takes longer than any test, and a function that runs the program in it. */
function folderWithSlowTask({ onTestFinished }: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), "belfry-process-"))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
  const commands = { slow: { argv: ["sh", "-c", `test -e ${folder}/quick || sleep 10000`] } }
  const schedules = [{ id: "slow", task: "command", cron: "0 0 1 1 *", payload: { command: "slow" } }]
  // The next worker waits for the end of this lease.
  writeFileSync(join(folder, "belfry.config.json"), JSON.stringify({ commands, schedules, lease: "2s" }))

  const belfry = (...argv: string[]) => {
    // The working directory is the project, so that `tsx` is found. The environment names the test folder.
    const child = spawn(process.execPath, ["--import", "tsx", "src/cli.ts", ...argv], {
      cwd: ROOT,
      env: {
        ...process.env,
        BELFRY_STORE: join(folder, "belfry.db"),
        BELFRY_CONFIG: join(folder, "belfry.config.json"),
      },
    })
    onTestFinished(() => void child.kill("SIGKILL"))
    let [out, err] = ["", ""]
    child.stdout.on("data", (data) => {
      out += data
    })
    child.stderr.on("data", (data) => {
      err += data
    })
    const ended = once(child, "close").then(([code, signal]) => ({ code, signal, out, err }))
    const prints = (pattern: RegExp) =>
      new Promise<void>((resolve, reject) => {
        const check = () => {
          if (pattern.test(out + err)) resolve()
        }
        check()
        for (const stream of [child.stdout, child.stderr]) stream.on("data", check)
        child.once("close", () => reject(new Error(`${pattern} was never printed in:\n${out}${err}`)))
      })
    return { child, ended, prints }
  }
  return { belfry, slowIsQuick: () => writeFileSync(join(folder, "quick"), "") }
}
