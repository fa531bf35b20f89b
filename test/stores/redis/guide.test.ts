import assert from "node:assert/strict"
import { execFile, spawn } from "node:child_process"
import { readFileSync } from "node:fs"
import { promisify } from "node:util"
import { createScheduler, defineTask, type Scheduler, silentLogger } from "belfry"
import { test } from "vitest"
import { type RedisServer, startRedis } from "../../support/redis.ts"
import { findProgram } from "../../support/server-programs.ts"
import { aClient, aStore, atTheEnd, until } from "./scratch.ts"

/** Runs every `redis-cli` block of the guide beside a running process. Only the port is changed. */

const GUIDE = readFileSync(new URL("../../../docs/guides/redis.md", import.meta.url), "utf8")
const BLOCKS = [...GUIDE.matchAll(/```sh\n([^`]*redis-cli[^`]*)```\n\n```\n([^`]*)```/g)].map(
  ([, commands, answer]) => ({ commands: commands!, answer: answer! }),
)

async function aServerAtWork(): Promise<{ server: RedisServer; scheduler: Scheduler }> {
  const server = await startRedis()
  atTheEnd(() => server.stop())
  const report = defineTask({
    name: "report",
    run({ log }) {
      log.info("Sending")
      return { success: true, message: "Sent" }
    },
  })
  const store = aStore(server.url)
  const scheduler = createScheduler({ store, tasks: [report], logger: silentLogger })
  atTheEnd(() => scheduler.stop())
  await scheduler.start()
  await scheduler.schedules.create("nightly-report", {
    task: report,
    // Twelve hours from now, so that it does not fire during the test.
    cron: `0 ${(new Date().getUTCHours() + 12) % 24} * * *`,
    startImmediately: true,
  })
  const client = aClient(server.url)
  const isDone = async () => {
    const [ids, logs] = [await client.zcard("{belfry}:worker-ids"), await client.keys("{belfry}:logs:*")]
    return ids === 1 && logs.length === 1 && (await scheduler.runs.count()).succeeded === 1
  }
  await until(isDone, "the first run has ended, and its worker is stored")
  return { server, scheduler }
}

/** The output as a terminal shows it. */
async function shown(commands: string, server: RedisServer): Promise<string> {
  const { stdout } = await promisify(execFile)("sh", ["-ec", typed(commands, server)])
  return stdout
}

/** The output of a subscriber after `happen`. The store is a subscriber too. */
async function subscriberOutput(
  command: string,
  server: RedisServer,
  happen: () => Promise<unknown>,
): Promise<string> {
  const client = aClient(server.url)
  const listener = spawn("sh", ["-ec", `exec ${typed(command, server)}`])
  atTheEnd(() => listener.kill())
  let output = ""
  listener.stdout.on("data", (data) => {
    output += data
  })
  const listeners = async () => Number((await client.pubsub("NUMSUB", "{belfry}:hints"))[1])
  await until(async () => (await listeners()) === 2, "the command has subscribed")
  await happen()
  // The end of an earlier run may be published before or after.
  const withoutEnds = () => output.replaceAll(/1\) "message"\n2\) .*\n3\) "ended"\n/g, "")
  await until(() => /"message"(.*\n){3}/.test(withoutEnds()), "a message arrives")
  return withoutEnds()
}

/** Valkey's client has the same output; a Valkey package lacks redis-cli. */
const CLIENT = findProgram("redis-cli") ?? findProgram("valkey-cli")!

function typed(commands: string, { port }: RedisServer): string {
  return commands
    .replaceAll(/redis-cli(?! --(raw|scan))/g, "$& --no-raw")
    .replaceAll("redis-cli", `${CLIENT} -p ${port}`)
}

/** Compares the output, except for instants and the parts that the guide replaces by "…". */
function assertShown(actual: string, guide: string): void {
  const plain = (text: string) =>
    text.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "INSTANT").replaceAll(/\b\d{13}\b/g, "MILLISECONDS")
  const pattern = plain(guide)
    .replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&")
    .replaceAll("…", ".*")
  assert.match(plain(actual), new RegExp(`^${pattern}$`))
}

test("the guide's commands print what the guide shows", async () => {
  const { server, scheduler } = await aServerAtWork()
  assert.equal(BLOCKS.length, 6)

  for (const { commands, answer } of BLOCKS) {
    if (commands.includes("UNLINK")) await scheduler.stop()
    const output = commands.includes("SUBSCRIBE")
      ? await subscriberOutput(commands, server, () => scheduler.schedules.trigger("nightly-report"))
      : await shown(commands, server)
    assertShown(firstLines(output, answer), answer)
  }
})

/** As many lines as the guide shows; more may have arrived. */
function firstLines(output: string, answer: string): string {
  const { length } = answer.split("\n")
  return `${output
    .split("\n")
    .slice(0, length - 1)
    .join("\n")}\n`
}

test("the guide names every field of a schedule and every kind of key", async () => {
  const { server } = await aServerAtWork()
  const client = aClient(server.url)
  const named = new Set([...GUIDE.matchAll(/`:?([\w-]+)[^`]*`/g)].map(([, name]) => name))

  const fields = Object.keys(await client.hgetall("{belfry}:schedules:nightly-report"))
  const kinds = (await client.keys("{belfry}:*")).map((key) => key.split(":")[1])

  assert.ok(fields.length > 7 && kinds.length > 10)
  assert.deepEqual(
    [...fields, ...kinds].filter((name) => !named.has(name)),
    [],
  )
})

test("the permissions that the guide names are sufficient", async () => {
  const { server } = await aServerAtWork()
  const permissions = /`(~\{belfry\}[^`]+)`/.exec(GUIDE)![1]!
  await aClient(server.url).call("ACL", ["SETUSER", "guest", "on", ">pw", ...permissions.split(" ")])
  const store = aStore(server.url.replace("redis://", "redis://guest:pw@"))
  const performed: string[] = []
  const other = defineTask({ name: "other", run: ({ run }) => void performed.push(run.id) })
  const scheduler = createScheduler({ store, tasks: [other], logger: silentLogger })
  atTheEnd(() => scheduler.stop())

  await scheduler.start()
  await scheduler.enqueue(other, { id: "as-a-guest" })

  await until(() => performed.includes("as-a-guest"), "the run is performed")
  assert.equal((await scheduler.runs.get("as-a-guest"))?.task, "other")
})
