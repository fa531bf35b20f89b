import { createScheduler, memory, type Store, silentLogger } from "../../src/index.ts"
import { commandTask } from "../../src/tasks.ts"

/** A worker for a test to kill. It performs one command and prints the result on its standard output. */
const IGNORE_SIGTERM = "trap '' TERM; while :; do sleep 1; done"

const command = commandTask({
  grace: "1s",
  retry: { attempts: 1 },
  commands: {
    family: {
      argv: [
        "sh",
        "-c",
        `echo guard $PPID; sh -c "${IGNORE_SIGTERM}" & echo grandchild $!; echo child $$; ${IGNORE_SIGTERM}`,
      ],
    },
    torrent: { argv: ["sh", "-c", "yes 'a line of quite ordinary output' | head -c 200000000"] },
    unbroken: { argv: ["head", "-c", "200000000", "/dev/zero"] },
  },
})
const [name = "", what = ""] = process.argv.slice(2)
const stored = memory()
// The memory of the worker is measured without that of the store in the same process.
const store: Store = what === "measure" ? { ...stored, appendLogs: async () => undefined } : stored
const scheduler = createScheduler({ store, tasks: [command], logger: silentLogger })
await scheduler.start()

async function perform(name: string) {
  const { runId } = await scheduler.enqueue(command, { payload: { command: name } })
  return runId!
}

/** Prints the lines of a run's log when they are stored. */
async function follow(runId: string): Promise<void> {
  for (let lines: readonly { message: string }[] = []; lines.length < 3; ) {
    lines = (await scheduler.runs.logs(runId)).items
    if (lines.length === 3) console.log(lines.map(({ message }) => message).join("\n"))
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

/** By how much the process grows while it performs a command, and the run's details. */
async function measure(): Promise<{ grownBy: number; details: unknown }> {
  globalThis.gc?.()
  const before = process.memoryUsage.rss()
  let peak = before
  const timer = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage.rss())
  }, 5)
  const runId = await perform(name)
  while ((await scheduler.runs.get(runId))!.state !== "succeeded")
    await new Promise((resolve) => setTimeout(resolve, 20))
  clearInterval(timer)
  const { details } = (await scheduler.runs.get(runId))!
  return { grownBy: peak - before, details }
}

if (what === "measure") {
  // The first is a warm-up: modules, buffers, compiled code. The heap may grow at any time, so the smallest result counts.
  await measure()
  const measured = [await measure(), await measure(), await measure()]
  console.log(JSON.stringify(measured.sort((a, b) => a.grownBy - b.grownBy)[0]))
  await scheduler.stop()
} else {
  const runId = await perform(name)
  await follow(runId)
  if (what === "cancel") {
    await scheduler.runs.cancel(runId)
    await scheduler.stop()
  }
  if (what === "stop") await scheduler.stop({ timeout: "100ms" })
  if (what === "exit") process.exit(0)
}
