import { createHash, createHmac } from "node:crypto"
import { BelfryError } from "../../core/errors.ts"
import { notAllowed, type OptionPath } from "../../core/options/checked.ts"

/** Many receivers keep no more than 255 characters of an idempotency key. */
const ID_MAX_LENGTH = 200

const RUN_ID_OPTION: OptionPath = {
  source: { code: "BELFRY_RUN_INVALID", subject: "webhookIdOf" },
  option: "runId",
}

/**
 * A run's id as `webhook-id` and `Idempotency-Key`: letters, digits and `-` stay, every other byte of its UTF-8 becomes
 * `_` and two hexadecimal digits. Different runs have different ids, and all attempts of a run have the same id.
 */
export function webhookIdOf(runId: string): string {
  if (typeof runId !== "string") throw notAllowed(runId, "the id of a run", RUN_ID_OPTION)
  const encoded = [...Buffer.from(runId)].map(encodeByte).join("")
  if (encoded.length <= ID_MAX_LENGTH) return encoded
  const digest = createHash("sha256").update(runId).digest("hex")
  // An encoded id never contains "__", so a shortened id can't equal the full id of another run.
  return `${encoded.slice(0, ID_MAX_LENGTH - digest.length - 2)}__${digest}`
}

function encodeByte(byte: number): string {
  const character = String.fromCharCode(byte)
  return /[A-Za-z0-9-]/.test(character) ? character : `_${byte.toString(16).toUpperCase().padStart(2, "0")}`
}

export interface WebhookMessage {
  readonly id: string
  /** Seconds since 1970. */
  readonly timestamp: number
  readonly body: string
}

/** `webhook-signature` of Standard Webhooks 1.0.0: one signature for each secret, so that secrets can be rotated. */
export function signatureOf({ id, timestamp, body }: WebhookMessage, keys: readonly Buffer[]): string {
  return keys
    .map((key) => `v1,${createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64")}`)
    .join(" ")
}

/** The keys in `whsec_… whsec_…`. The text itself is never part of an error. */
export function parseSecrets(text: string, variable: string): readonly Buffer[] {
  const keys = text.split(" ").filter(Boolean).map(keyOf)
  if (keys.length > 0 && keys.length <= SECRETS_MAX && keys.every((key) => key !== null)) return keys
  throw new BelfryError(
    "BELFRY_SECRET_INVALID",
    `The environment variable ${variable} holds no signing secret: write "whsec_" and the base64 of 24 to 64 bytes. Separate several secrets, at most ${SECRETS_MAX}, by spaces.`,
  )
}

const SECRETS_MAX = 8

function keyOf(secret: string): Buffer | null {
  const encoded = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(secret)?.[1]
  if (encoded === undefined) return null
  const key = Buffer.from(encoded, "base64")
  return key.length >= 24 && key.length <= 64 ? key : null
}
