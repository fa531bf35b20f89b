import assert from "node:assert/strict"
import type { RunView, ScheduleView } from "belfry"
import { describe, test, vi } from "vitest"
import type { Check } from "../../../src/store/check.ts"
import { SCHEMA } from "../../../src/stores/redis/opening.ts"
import { type Terminal, terminal } from "../../cli/support.ts"
import { type ServerOptions, startRedis } from "../../support/redis.ts"
import { freshPrefix } from "../../support/redis-prefix.ts"
import { aClient, atTheEnd } from "./scratch.ts"

/** The program's calls have a deadline of five seconds. It is raised here, so that a busy machine does not fail a test. */
vi.mock(import("../../../src/runtime/clock.ts"), async (original) => {
  const clock = await original()
  const { setTimer } = clock.systemClock
  const patient: typeof setTimer = (delayMs, callback) =>
    setTimer(delayMs === 5_000 ? 120_000 : delayMs, callback)
  return { ...clock, systemClock: { ...clock.systemClock, setTimer: patient } }
})

/** A terminal with a store in a prefix of its own. */
function aTerminal(): { shell: Terminal; address: string; prefix: string; url: string } {
  const { url, prefix } = freshPrefix()
  const address = `${url}/0?prefix=${prefix}`
  return { shell: terminal({ env: { BELFRY_STORE: address } }), address, prefix, url }
}

async function aServer(options: ServerOptions): Promise<string> {
  const server = await startRedis(options)
  atTheEnd(() => server.stop())
  return server.url
}

/** What `doctor` reports for a server. With `isMade`, a store is created first. */
async function doctorOf(url: string, isMade = true): Promise<{ code: number; checks: readonly Check[] }> {
  const shell = terminal({ env: { BELFRY_STORE: url } })
  if (isMade) assert.equal((await shell.run("migrate")).code, 0)
  const { code, out } = await shell.run("doctor", "--json")
  return { code, checks: JSON.parse(out) }
}

const found = ({ checks }: { checks: readonly Check[] }, name: string) => {
  const check = checks.find((each) => each.name === name)
  return check && `${check.result}: ${check.message}`
}

describe("a store named by a Redis address", () => {
  test("is created by `start`, used by other commands meanwhile, and found again afterwards", async () => {
    const { shell, address } = aTerminal()
    shell.write("belfry.config.json", JSON.stringify({ commands: { hello: { argv: ["echo", "hello"] } } }))
    const ended = shell.run("start")
    const greeting = await shell.shows(/Ctrl-C stops it/)

    await shell.run(
      ...["schedule", "create", "greet", "--task", "command", "--cron", "0 0 1 1 *"],
      ...["--payload", '{"command":"hello"}'],
    )
    const followed = await shell.run("schedule", "trigger", "greet", "--follow")
    shell.signal("SIGTERM")

    assert.equal((await ended).code, 0)
    assert.match(greeting, new RegExp(`Store +${address.replace(/[?.]/g, "\\$&")} \\(new\\)`))
    assert.deepEqual([followed.code, /info +hello/.test(followed.out)], [0, true])
    const [schedule] = await shell.json<ScheduleView[]>("schedule", "list")
    const [run] = await shell.json<RunView[]>("run", "list")
    assert.deepEqual([schedule?.id, run?.state, run?.attempt], ["greet", "succeeded", 1])
  })

  test("is not created by commands that only read", async () => {
    const { shell, prefix, url } = aTerminal()

    const { code, err } = await shell.run("schedule", "list")
    const status = await shell.run("migrate", "status")

    assert.equal(code, 7)
    assert.match(err, /There is no store in redis:.*\n.*belfry start --store redis:/)
    assert.match(status.out, new RegExp(`no schema yet; it would be created at schema ${SCHEMA}\n`))
    assert.deepEqual(await aClient(url).keys(`{${prefix}}*`), [])
  })

  test("shows its schema after `migrate`", async () => {
    const { shell } = aTerminal()

    const made = await shell.run("migrate")
    const planned = await shell.run("migrate", "plan")

    assert.match(made.out, new RegExp(`was created at schema ${SCHEMA};`))
    assert.deepEqual([planned.code, planned.out.includes(`schema ${SCHEMA}, the newest`)], [0, true])
  })

  test("never shows its password, wherever the address has it", async () => {
    const shell = terminal()
    const open = await aServer({})
    await aClient(open).config("SET", "requirepass", "secret")
    const url = open.replace("redis://", "")

    const made = await shell.run("migrate", "--store", `redis://:secret@${url}`)
    const checked = await shell.run("doctor", "--store", `redis://${url}?password=secret`)
    const refused = await shell.run("run", "list", "--store", `redis://:wrong-secret@${url}`)

    assert.deepEqual([made.code, checked.code], [0, 0])
    assert.equal(refused.code, 7)
    assert.match(refused.err, /refuses this user or password/)
    for (const { out, err } of [made, checked, refused]) assert.doesNotMatch(out + err, /secret/)
  })

  test("that can't be reached is reported with the reason", async () => {
    const refused = await terminal().run("migrate", "--store", "redis://127.0.0.1:1")
    const unknown = await terminal().run("migrate", "--store", "redis://u:secret@nowhere.invalid/0")

    assert.deepEqual([refused.code, unknown.code], [7, 7])
    assert.match(refused.err, /Redis at 127\.0\.0\.1:1 can't be reached: .*ECONNREFUSED/)
    assert.match(unknown.err, /Redis at nowhere\.invalid.* can't be reached: .*(ENOTFOUND|EAI_AGAIN)/)
    assert.doesNotMatch(unknown.err, /secret/)
  })

  test("must have a prefix that is a plain name", async () => {
    const { url } = freshPrefix()

    const { code, err } = await terminal().run("migrate", "--store", `${url}?prefix=a/b`)

    assert.notEqual(code, 0)
    assert.match(err, /The prefix "a\/b" has to be a plain name/)
  })
})

describe("doctor rates the server's settings:", () => {
  test("no persistence is a warning", async () => {
    const health = await doctorOf(await aServer({}))

    assert.match(found(health, "server")!, /^ok: (Redis|Valkey) \d+\.\d+/)
    assert.match(found(health, "eviction")!, /^ok: noeviction/)
    assert.match(found(health, "persistence")!, /^warning: none: .* is gone$/)
  })

  test("snapshots only is a warning", async () => {
    const health = await doctorOf(await aServer({ settings: ["--save", "3600 1"] }))

    assert.match(found(health, "persistence")!, /^warning: snapshots only \(save 3600 1\)/)
  })

  test.each([
    ["always", /^ok: .*always: every confirmed write survives/],
    ["everysec", /^ok: .*everysec: a power cut may lose the last second/],
    ["no", /^warning: .* no: a power cut may lose half a minute/],
  ])("an append-only file with appendfsync %s is rated by what a power cut loses", async (fsync, words) => {
    const url = await aServer({ isKept: true, settings: ["--appendfsync", fsync] })

    assert.match(found(await doctorOf(url), "persistence")!, words)
  })

  test("an eviction policy that deletes keys is a problem", async () => {
    const url = await aServer({})
    await doctorOf(url)
    await aClient(url).config("SET", "maxmemory-policy", "allkeys-lru")

    const health = await doctorOf(url, false)

    assert.notEqual(health.code, 0)
    assert.ok(
      health.checks.some(({ result, message }) => result === "problem" && /allkeys-lru/.test(message)),
    )
  })

  test("settings that may not be read are shown as unknown", async () => {
    const url = await aServer({ isKept: true })
    await aClient(url).call("ACL", ["SETUSER", "guest", "on", ">pw", "~*", "&*", "+@all", "-config"])

    const health = await doctorOf(url.replace("redis://", "redis://guest:pw@"))

    assert.match(found(health, "eviction")!, /^ok: noeviction/)
    assert.match(found(health, "persistence")!, /^warning: appendonly, appendfsync unknown/)
  })
})
