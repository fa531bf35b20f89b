import { setTimeout as sleep } from "node:timers/promises"
import { Redis } from "ioredis"
import { startRedis } from "../support/redis.ts"
import type { Ledger, LedgerRun } from "./ledger.ts"
import type { Place } from "./place.ts"

/** A server that writes every change to disk before it answers. */
export async function redisPlace(): Promise<Place> {
  const server = await startRedis({ isKept: true })
  return {
    address: server.url,
    async killServer(downMs) {
      await server.kill()
      await sleep(downMs)
      await server.restart()
    },
    ledger: () => ledgerOf(server.url),
    close: () => server.stop(),
  }
}

async function ledgerOf(url: string): Promise<Ledger> {
  const client = new Redis(url)
  try {
    const runs: LedgerRun[] = []
    for (const key of await client.keys(`${RUNS}*`)) runs.push(await runAt(client, key))
    const nextRunAt = new Map<string, number>()
    for (const key of await client.keys(`${SCHEDULES}*`))
      nextRunAt.set(key.slice(SCHEDULES.length), Date.parse((await client.hget(key, "next_run"))!))
    return { runs, nextRunAt, faults: await faultsIn(client, runs) }
  } finally {
    client.disconnect()
  }
}

const RUNS = "{belfry}:runs:"
const SCHEDULES = "{belfry}:schedules:"

async function runAt(client: Redis, key: string): Promise<LedgerRun> {
  const id = key.slice(RUNS.length)
  const fields = await client.hgetall(key)
  const ended = (await client.lrange(`{belfry}:attempts:${id}`, 0, -1)).map((text) => JSON.parse(text))
  // If the last attempt ended together with its run, its outcome is in the run itself.
  const last = [Number(fields["attempt"]), fields["worker_id"], null, null, null, fields["outcome"]]
  const all = fields["outcome"] === undefined ? ended : [...ended, last]
  const missed: { count: number } | undefined = JSON.parse(fields["more"] ?? "{}").missed
  return {
    id,
    scheduleId: fields["schedule_id"]!,
    scheduledFor: Date.parse(fields["scheduled_for"]!),
    state: fields["state"]!,
    attempt: Number(fields["attempt"] ?? 0),
    standsFor: fields["state"] === "skipped" ? (missed?.count ?? 1) : 1,
    attempts: all.map(([attempt, workerId, , , , outcome]) => ({ attempt, workerId, outcome })),
  }
}

/** All runs have ended: the keys of unfinished runs must be gone, and the histories must list exactly the stored runs. */
async function faultsIn(client: Redis, runs: readonly LedgerRun[]): Promise<readonly string[]> {
  const faults: string[] = []
  for (const pattern of ["queue:*", "waiting:*", "unfinished:*", "unfinished", "live", "running"])
    for (const key of await client.keys(`{belfry}:${pattern}`)) faults.push(`${key} is left`)
  const ids = runs.map(({ id }) => id).sort()
  for (const index of ["created", "scheduled", "completed"]) {
    const listed = (await client.zrange(`{belfry}:history:${index}`, "0", "-1")).sort()
    if (listed.join() !== ids.join()) faults.push(`history:${index} doesn't hold exactly the runs`)
  }
  for (const state of ["succeeded", "skipped", "running"]) {
    const counted = Number(await client.hget("{belfry}:counts", `${state}:all`))
    const stored = runs.filter((run) => run.state === state).length
    if (counted !== stored) faults.push(`${counted} runs are counted as ${state}, but ${stored} are stored`)
  }
  return faults
}
