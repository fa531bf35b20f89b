import type { DetailsOf } from "../task/output.ts"
import type { AnyTask, Task } from "../task/task.ts"
import type { Journal } from "./journal.ts"
import type { Listing } from "./listing.ts"
import type { Overview } from "./overview.ts"
import type { EnqueueArguments, EnqueuedRun, EnqueueOptions } from "./runs/enqueue.ts"
import type { Runs } from "./runs/runs.ts"
import type { Schedules } from "./schedules/schedules.ts"
import type { Found } from "./search.ts"
import type { StatisticsQuery, StatisticsView } from "./statistics.ts"
import type { TaskView } from "./tasks.ts"
import type { WorkerView } from "./views.ts"

/** What can be asked and done from anywhere. A `Scheduler` in the process is one; what needs no process of its own is here. */
export interface Client {
  readonly schedules: Schedules
  readonly runs: Runs
  readonly journal: Journal

  /** One run of a task, now or later, without a schedule. Calls that are made at the same time travel together. */
  enqueue<Input, Given extends AnyTask>(
    task: Given & Task<Input, unknown>,
    ...rest: EnqueueArguments<Input>
  ): Promise<EnqueuedRun<DetailsOf<ReturnType<Given["run"]>>>>
  /** By name, for a task that other processes define: its payload is checked when it runs. */
  enqueue(task: string, options?: EnqueueOptions): Promise<EnqueuedRun>

  /** Many runs of a task. All are checked before any is stored; the answers are in their order. */
  enqueueMany<Input, Given extends AnyTask>(
    task: Given & Task<Input, unknown>,
    runs: readonly EnqueueOptions<Input>[],
  ): Promise<readonly EnqueuedRun<DetailsOf<ReturnType<Given["run"]>>>[]>
  enqueueMany(task: string, runs: readonly EnqueueOptions[]): Promise<readonly EnqueuedRun[]>

  /** Every process that fires or works, by id. Each says itself by when it is to be heard of again: one that wasn't is silent. */
  workers(page?: { limit?: number; cursor?: string }): Listing<WorkerView>

  /** Every task that a worker offers or a schedule names, by name. */
  tasks(): Promise<readonly TaskView[]>

  /** How runs have gone, of all, of a task or of a schedule: counts, durations and lateness, in buckets of time. */
  statistics(query?: StatisticsQuery): Promise<StatisticsView>

  /** How it all stands, and what somebody should see to. */
  overview(): Promise<Overview>

  /** Schedules, runs and tasks by what somebody typed, at most so many of each (10). */
  search(text: string, options?: { limit?: number }): Promise<Found>
}
