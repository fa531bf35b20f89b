import {
  Agent,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type RequestOptions,
  request,
} from "node:http"
import { Agent as TlsAgent, request as tlsRequest } from "node:https"
import type { LookupFunction } from "node:net"
import { hostOf, portOf, type ResolvedAddress } from "./network.ts"

/** How much of an answer's body is kept. The rest is never received. */
export const BODY_MAX_BYTES = 64 * 1024
const HEADERS_MAX_BYTES = 16 * 1024

export interface HttpMessage {
  readonly url: URL
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | null
}

export interface HttpAnswer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  /** As received. A compressed body is never unpacked, because a small one can become any size. */
  readonly body: Buffer
  readonly isCut: boolean
}

/**
 * One request on a connection of its own, to a checked address. It uses `node:http` and not `fetch`, because `node:http` follows
 * no redirects, unpacks nothing, and connects to the given address without resolving the host again.
 */
export function exchange(
  message: HttpMessage,
  about: { addresses: readonly ResolvedAddress[]; signal: AbortSignal; ca: string | undefined },
): Promise<HttpAnswer> {
  const isTls = message.url.protocol === "https:"
  const agent = isTls ? new TlsAgent({ keepAlive: false }) : new Agent({ keepAlive: false })
  const options: RequestOptions & { ca?: string; rejectUnauthorized?: boolean } = {
    // Not the global agent, because it may use a proxy that the environment names.
    agent,
    host: hostOf(message.url),
    port: portOf(message.url),
    path: `${message.url.pathname}${message.url.search}`,
    method: message.method,
    headers: { ...message.headers, host: message.url.host },
    lookup: lookupOf(about.addresses),
    maxHeaderSize: HEADERS_MAX_BYTES,
    signal: about.signal,
    // Set explicitly, because an environment variable could turn the default off.
    ...(isTls && { rejectUnauthorized: true }),
    ...(isTls && about.ca !== undefined && { ca: about.ca }),
  }
  return new Promise<HttpAnswer>((resolve, reject) => {
    const sent = (isTls ? tlsRequest : request)(options)
    sent.on("error", reject)
    const onEarlyClose = () => reject(new Error("The connection was closed without an answer"))
    sent.on("close", onEarlyClose)
    sent.on("response", (response) => {
      // An answer that ends with its connection is still being read when the request closes.
      sent.off("close", onEarlyClose)
      receive(response).then(resolve, reject)
    })
    sent.end(message.body ?? undefined)
  }).finally(() => agent.destroy())
}

function lookupOf(addresses: readonly ResolvedAddress[]): LookupFunction {
  return (_hostname, options, answer) => {
    if (options.all === true) answer(null, [...addresses])
    else answer(null, addresses[0]!.address, addresses[0]!.family)
  }
}

/** Reads until the end or the limit, whichever comes first, then closes the connection. */
function receive(response: IncomingMessage): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let bytes = 0
    const finish = () => {
      const isCut = bytes > BODY_MAX_BYTES
      const body = Buffer.concat(chunks).subarray(0, BODY_MAX_BYTES)
      resolve({ status: response.statusCode!, headers: response.headers, body, isCut })
      response.destroy()
    }
    response.on("data", (chunk: Buffer) => {
      chunks.push(chunk)
      bytes += chunk.length
      if (bytes > BODY_MAX_BYTES) finish()
    })
    response.on("end", finish)
    response.on("error", reject)
    response.on("close", () => reject(new Error("The connection was closed before the end of the answer")))
  })
}
