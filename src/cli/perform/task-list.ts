import type { Call } from "../parsing/command.ts"
import { showAll } from "../printing/output.ts"
import { allWorkers, isOnline } from "../printing/worker-rows.ts"
import { allSchedules } from "../session/lookups.ts"
import { tasksOf, withScheduler } from "../session/session.ts"

interface TaskRow {
  readonly name: string
  /** Online workers that offer it. */
  readonly workers: number
  readonly schedules: number
  /** The configuration here has it. */
  readonly isConfigured: boolean
}

export async function listTasks(call: Call): Promise<undefined> {
  await withScheduler(call, async ({ scheduler, loaded }) => {
    const workers = (await allWorkers(scheduler)).filter(isOnline)
    const schedules = await allSchedules(scheduler)
    const configured = new Set((await tasksOf(loaded?.config ?? {}, call)).map(({ name }) => name))
    const names = new Set([
      ...configured,
      ...workers.flatMap(({ tasks }) => tasks),
      ...schedules.map(({ task }) => task),
    ])
    const rows: readonly TaskRow[] = [...names].sort().map((name) => ({
      name,
      workers: workers.filter(({ tasks }) => tasks.includes(name)).length,
      schedules: schedules.filter(({ task }) => task === name).length,
      isConfigured: configured.has(name),
    }))
    await showAll(call, rows, {
      columns: [
        { header: "TASK", text: ({ name }) => name, paint: () => "bold", isId: true },
        {
          header: "WORKERS",
          text: ({ workers }) => String(workers),
          isRight: true,
          paint: ({ workers, schedules }) => (workers === 0 && schedules > 0 ? "red" : null),
        },
        { header: "SCHEDULES", text: ({ schedules }) => String(schedules), isRight: true },
        { header: "HERE", text: ({ isConfigured }) => (isConfigured ? "yes" : "no") },
      ],
      nameOf: ({ name }) => name,
    })
  })
  return undefined
}
