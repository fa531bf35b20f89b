import type { TaskView } from "../../scheduler/tasks.ts"
import type { Call } from "../parsing/command.ts"
import { showAll } from "../printing/output.ts"
import { tasksOf, withScheduler } from "../session/session.ts"

interface TaskRow extends TaskView {
  /** The task is in the configuration of this folder. */
  readonly isConfigured: boolean
}

export async function listTasks(call: Call): Promise<undefined> {
  await withScheduler(call, async ({ scheduler, loaded }) => {
    const configured = new Set((await tasksOf(loaded?.config ?? {}, call)).map(({ name }) => name))
    const known = await scheduler.tasks()
    const names = new Set(known.map(({ name }) => name))
    const here = [...configured].filter((name) => !names.has(name))
    const rows: readonly TaskRow[] = [...known, ...here.map((name) => ({ name, workers: 0, schedules: 0 }))]
      .map((task) => ({ ...task, isConfigured: configured.has(task.name) }))
      .sort((a, b) => (a.name < b.name ? -1 : 1))
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
