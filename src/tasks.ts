/** Ready-made tasks: `belfry/tasks`. */

export type { ArgumentDefinition, CommandDefinition } from "./tasks/command/command-definition.ts"
export type { CommandCall, CommandPayload } from "./tasks/command/command-payload.ts"
export { type CommandDetails, type CommandTaskOptions, commandTask } from "./tasks/command/command-task.ts"
export type { ExpectedStatus, HttpCall, HttpMethod, HttpPayload } from "./tasks/http/http-payload.ts"
export type { HttpDetails } from "./tasks/http/http-result.ts"
export { type HttpTaskOptions, httpTask } from "./tasks/http/http-task.ts"
export type { Lookup, ResolvedAddress } from "./tasks/http/network.ts"
export { webhookIdOf } from "./tasks/http/webhook.ts"
