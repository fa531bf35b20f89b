import assert from "node:assert/strict"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { describe, type TestContext, test } from "vitest"

/** The real program, in processes of its own. */
describe.concurrent("the program", () => {
  test("kill -9 in the middle loses nothing: the next start takes the run over", async (context) => {
    const { belfry, slowIsQuick } = place(context)
    const first = belfry("start")
    await first.says(/Ctrl-C stops it/)
    const { out } = await belfry("schedule", "trigger", "slow", "-o", "name").ended
    await first.says(/started {4}slow\+/)

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

  test("a second signal doesn't wait", async (context) => {
    const { belfry } = place(context)
    const program = belfry("start", "--stop-timeout", "1h")
    await program.says(/Ctrl-C stops it/)
    await belfry("schedule", "trigger", "slow").ended
    await program.says(/started {4}slow\+/)

    program.child.kill("SIGINT")
    await program.says(/stopping/)
    program.child.kill("SIGINT")

    assert.equal((await program.ended).code, 130)
  })

  test("a reader that goes away stops it gracefully: no worker is left behind", async (context) => {
    const { belfry } = place(context)
    const program = belfry("start", "--stop-timeout", "100ms")
    await program.says(/Ctrl-C stops it/)
    program.child.stdout.destroy()
    await belfry("schedule", "trigger", "slow").ended

    const { code } = await program.ended
    const workers = await belfry("worker", "list", "--json").ended

    assert.equal(code, 0)
    assert.deepEqual(JSON.parse(workers.out), [])
  })
})

const ROOT = fileURLToPath(new URL("../..", import.meta.url))

/** A folder with a schedule whose command takes longer than any test, and the program working there. */
function place({ onTestFinished }: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), "belfry-process-"))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
  const commands = { slow: { argv: ["sh", "-c", `test -e ${folder}/quick || sleep 10000`] } }
  const schedules = [{ id: "slow", task: "command", cron: "0 0 1 1 *", payload: { command: "slow" } }]
  // Whoever takes a run over waits for the end of this lease.
  writeFileSync(join(folder, "belfry.config.json"), JSON.stringify({ commands, schedules, lease: "2s" }))

  const belfry = (...argv: string[]) => {
    // `tsx` is found from the project's folder; the program works in the folder that the environment names.
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
    const says = (pattern: RegExp) =>
      new Promise<void>((resolve, reject) => {
        const look = () => {
          if (pattern.test(out + err)) resolve()
        }
        look()
        for (const stream of [child.stdout, child.stderr]) stream.on("data", look)
        child.once("close", () => reject(new Error(`${pattern} was never said in:\n${out}${err}`)))
      })
    return { child, ended, says }
  }
  return { belfry, slowIsQuick: () => writeFileSync(join(folder, "quick"), "") }
}
