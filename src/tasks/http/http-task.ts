import { inspect } from "node:util"
import { BelfryError } from "../../core/errors.ts"
import { checked, type OptionSource, type OptionType } from "../../core/options/checked.ts"
import { TASK_NAME } from "../../core/options/limits.ts"
import {
  asGiven,
  callback,
  duration,
  integer,
  list,
  objectWith,
  text,
} from "../../core/options/option-types.ts"
import type { RetryOptions } from "../../core/options/options.ts"
import { RETRY } from "../../core/options/policies.ts"
import type { Duration } from "../../core/time/duration.ts"
import { SECOND } from "../../core/time/instant.ts"
import type { Json } from "../../core/values/json.ts"
import { type Clock, systemClock } from "../../runtime/clock.ts"
import { DoNotRetry } from "../../task/retry-errors.ts"
import { defineTask, type Task } from "../../task/task.ts"
import type { TaskContext } from "../../task/task-context.ts"
import { Environment } from "./environment.ts"
import { exchange, type HttpAnswer, type HttpMessage } from "./http-exchange.ts"
import { type HttpCall, type HttpPayload, httpPayloadSchema, isHeaderValue } from "./http-payload.ts"
import { detailsOf, resultOf } from "./http-result.ts"
import { hostOf, type Lookup, type NetworkPolicy, networkPolicy } from "./network.ts"
import type { Redaction } from "./redaction.ts"
import { parseSecrets, signatureOf, webhookIdOf } from "./webhook.ts"

export interface HttpTaskOptions {
  /** Default `http`. */
  readonly name?: string
  /** For a payload without a timeout, and the longest timeout that a payload may set. Default 30 s. */
  readonly timeout?: Duration
  readonly retry?: RetryOptions
  /** Addresses, networks and host names that may be called although they are not public. */
  readonly allowNet?: readonly string[]
  /** Ports that may be called besides 80, 443 and the ports from 1024 upwards that no known service uses. */
  readonly allowPorts?: readonly number[]
  /** The environment variables that payloads may refer to. */
  readonly env?: readonly string[]
  /** Certificates to trust instead of Node's own, as PEM. */
  readonly ca?: string
  /** Resolves host names. Default: the system's resolver. */
  readonly lookup?: Lookup
  /** For tests. */
  readonly clock?: Clock
}

const ENTRIES_MAX = 10_000

export const HTTP_TASK_OPTIONS = {
  name: TASK_NAME,
  timeout: duration({ min: 1 }),
  retry: asGiven<RetryOptions>(RETRY),
  allowNet: list(text({ min: 1, max: 300 }), { max: ENTRIES_MAX }),
  allowPorts: list(integer(1, 65_535), { max: ENTRIES_MAX }),
  env: list(text({ min: 1, max: 1_000 }), { max: ENTRIES_MAX }),
  ca: text({ min: 1, max: 10_000_000 }),
  lookup: callback<Lookup>(),
  clock: objectWith<Clock>(["now", "monotonic", "setTimer"], "a clock"),
} satisfies Record<keyof HttpTaskOptions, OptionType<unknown>>

const SOURCE: OptionSource = { code: "BELFRY_TASK_INVALID", subject: "httpTask" }

/** A task that calls a URL. Its options, not its payloads, decide which addresses it may reach and which secrets it may send. */
export function httpTask(options: HttpTaskOptions = {}): Task<HttpPayload, HttpCall> {
  const given = checked(options, HTTP_TASK_OPTIONS, SOURCE)
  const { name = "http", timeout: timeoutMs = 30 * SECOND, retry, ca, clock = systemClock } = given
  const env = new Set(given.env ?? [])
  const policy = networkPolicy(given)
  const setup: Setup = { policy, env, ca, clock }
  return defineTask({
    name,
    payload: httpPayloadSchema({ timeoutMs, env, refusalOf: policy.refusalOf }),
    ...(retry !== undefined && { retry }),
    run: (context) => call(context, setup),
  })
}

interface Setup {
  readonly policy: NetworkPolicy
  readonly env: ReadonlySet<string>
  readonly ca: string | undefined
  readonly clock: Clock
}

async function call(context: TaskContext<HttpCall>, setup: Setup): Promise<unknown> {
  const { payload, log } = context
  const { clock } = setup
  const environment = new Environment(setup.env, process.env)
  const startedAt = clock.monotonic()
  // The URL with its references, so that no value of a variable gets into a message.
  const shown = `${payload.method} ${payload.url}`
  const message = messageOf(context, environment, clock)
  const answer = await withTimeout(context, clock, (signal) => send(message, signal, setup)).catch(
    (error) => {
      throw withoutSecrets(error, shown, environment.redaction)
    },
  )
  const details = detailsOf(answer, environment.redaction)
  const tookMs = Math.round(clock.monotonic() - startedAt)
  log.info(`${shown} answered ${answer.status} in ${tookMs} ms`, { headers: details.headers })
  return resultOf(details, { call: shown, expected: payload.expectStatus, clock })
}

async function send(message: HttpMessage, signal: AbortSignal, { policy, ca }: Setup): Promise<HttpAnswer> {
  const addresses = await unlessAborted(policy.resolve(message.url), signal)
  return exchange(message, { addresses, signal, ca })
}

function messageOf(context: TaskContext<HttpCall>, environment: Environment, clock: Clock): HttpMessage {
  const { payload, run } = context
  const text = environment.fillUrl(payload.url)
  if (!URL.canParse(text))
    throw new DoNotRetry(`"${payload.url}" is not a URL after its variables are filled in.`)
  const url = new URL(text)
  environment.hideHost(payload.url, hostOf(url))
  const body = payload.body === null ? null : bodyOf(payload.body, environment)
  const id = webhookIdOf(run.id)
  const timestamp = Math.floor(clock.now() / 1_000)
  const keys = payload.secret === null ? [] : parseSecrets(environment.read(payload.secret), payload.secret)
  return {
    url,
    method: payload.method,
    body: body?.text ?? null,
    headers: {
      accept: "*/*",
      "accept-encoding": "identity",
      "user-agent": "belfry",
      ...(body !== null && {
        "content-type": body.type,
        "content-length": `${Buffer.byteLength(body.text)}`,
      }),
      ...headersOf(payload.headers, environment),
      "idempotency-key": id,
      "webhook-id": id,
      "webhook-timestamp": `${timestamp}`,
      ...(keys.length > 0 && {
        "webhook-signature": signatureOf({ id, timestamp, body: body?.text ?? "" }, keys),
      }),
    },
  }
}

function bodyOf(body: Json, environment: Environment): { text: string; type: string } {
  return typeof body === "string"
    ? { text: environment.fill(body), type: "text/plain; charset=utf-8" }
    : { text: JSON.stringify(environment.fillJson(body)), type: "application/json" }
}

function headersOf(
  headers: Readonly<Record<string, string>>,
  environment: Environment,
): Readonly<Record<string, string>> {
  const filled = Object.entries(headers).map(([name, template]) => {
    const value = environment.fill(template)
    if (isHeaderValue(value)) return [name.toLowerCase(), value]
    throw new BelfryError(
      "BELFRY_SECRET_INVALID",
      `A variable in header "${name}" contains characters that are not allowed in a header.`,
    )
  })
  return Object.fromEntries(filled)
}

/** Aborts at the run's signal or after the timeout, without waiting for a resolver or server any longer. */
async function withTimeout<Result>(
  { payload, signal }: TaskContext<HttpCall>,
  clock: Clock,
  perform: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const either = new AbortController()
  const follow = () => either.abort(signal.reason)
  if (signal.aborted) follow()
  signal.addEventListener("abort", follow, { once: true })
  const timedOut = new Error(`No answer within ${payload.timeoutMs} ms`)
  const cancelTimer = clock.setTimer(payload.timeoutMs, () => either.abort(timedOut))
  try {
    return await perform(either.signal)
  } catch (error) {
    // The error of an aborted request doesn't say why it was aborted.
    throw either.signal.aborted ? either.signal.reason : error
  } finally {
    cancelTimer()
    signal.removeEventListener("abort", follow)
  }
}

function unlessAborted<Result>(promise: Promise<Result>, signal: AbortSignal): Promise<Result> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason)
    if (signal.aborted) abort()
    signal.addEventListener("abort", abort, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort))
  })
}

/** An error that can be stored. Its cause is kept only if it contains none of the values that were filled in. */
function withoutSecrets(error: unknown, shown: string, redaction: Redaction): unknown {
  if (!(error instanceof Error)) return error
  // Includes the causes, and the properties that Node adds, such as `hostname`.
  const text = inspect(error, { depth: 8 })
  const isClean = redaction.text(text) === text
  const message = `${shown}: ${redaction.text(error.message || String((error as NodeJS.ErrnoException).code))}`
  const options = isClean ? { cause: error } : {}
  const isDenied = error instanceof BelfryError && error.code === "BELFRY_HTTP_DENIED"
  return isDenied ? new DoNotRetry(message, options) : new Error(message, options)
}
