/** The configuration of the stand-alone program: `belfry/config`. */
export { type Config, defineConfig, type ScheduleEntry } from "./cli/files/config.ts"
