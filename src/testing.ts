/** A scheduler and a virtual clock for users' tests: `belfry/testing`. */
export {
  createTestScheduler,
  type TestScheduler,
  type TestSchedulerOptions,
  waitForRun,
} from "./testing/test-scheduler.ts"
export { createVirtualClock, type VirtualClock } from "./testing/virtual-clock.ts"
