import type { DetailsOf } from "../task/output.ts"
import type { AnyTask, Task } from "../task/task.ts"
import type { Journal } from "./journal.ts"
import type { Listing } from "./listing.ts"
import type { Overview } from "./overview.ts"
import type { EnqueueArguments, EnqueuedRun, EnqueueOptions } from "./runs/enqueue.ts"
import type { Runs } from "./runs/runs.ts"
import type { Schedules } from "./schedules/schedules.ts"
import type { SearchResult } from "./search.ts"
import type { StatisticsQuery, StatisticsView } from "./statistics.ts"
import type { TaskView } from "./tasks.ts"
import type { WorkerView } from "./views.ts"

/** The operations that need no running process. `Scheduler` extends this interface with `start`, `stop` and the loops. */
export interface Client {
  /** Creates, reads and changes schedules. */
  readonly schedules: Schedules
  /** Reads and changes runs. */
  readonly runs: Runs
  /** Reads the journal: who changed what, when and why. */
  readonly journal: Journal

  // TypeScript 7 reports only the error of the last overload. The overload for a task is last, so that a wrong payload is named.
  /**
   * Creates one run of a task that another process defines, by the task's name. The payload is checked when the run starts.
   * A name that no process defines is no error: the run waits. A name very similar to a task of this process is logged once.
   */
  enqueue(task: string, options?: EnqueueOptions): Promise<EnqueuedRun>
  /**
   * Creates one run of a task, now or later, without a schedule. Calls made at the same time are sent to the store in one
   * batch.
   */
  enqueue<Input, Given extends AnyTask>(
    task: Given & Task<Input, unknown>,
    ...rest: EnqueueArguments<Input>
  ): Promise<EnqueuedRun<DetailsOf<ReturnType<Given["run"]>>>>

  /** Creates many runs of a task that another process defines, by the task's name. */
  enqueueMany(task: string, runs: readonly EnqueueOptions[]): Promise<readonly EnqueuedRun[]>
  /** Creates many runs of a task. All are checked before any is stored. The results are in the order of `runs`. */
  enqueueMany<Input, Given extends AnyTask>(
    task: Given & Task<Input, unknown>,
    runs: readonly EnqueueOptions<Input>[],
  ): Promise<readonly EnqueuedRun<DetailsOf<ReturnType<Given["run"]>>>[]>

  /**
   * Lists every process that fires schedules, performs runs or both, ordered by id, with its `roles`. Only a process with the
   * role `work` is a worker. A process is silent if it missed the time it announced for its next heartbeat.
   */
  workers(page?: { limit?: number; cursor?: string }): Listing<WorkerView>

  /** Every task that a worker offers or a schedule names, ordered by name. */
  tasks(): Promise<readonly TaskView[]>

  /** Counts, durations and lateness of runs in buckets of time: of all runs, of one task or of one schedule. */
  statistics(query?: StatisticsQuery): Promise<StatisticsView>

  /** The current counts of schedules, runs and workers, and the problems that need attention. */
  overview(): Promise<Overview>

  /** Finds schedules, runs and tasks by a text. `limit` is per kind; default 10. */
  search(text: string, options?: { limit?: number }): Promise<SearchResult>
}
