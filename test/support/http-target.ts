import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"

export interface Received {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** A real server on loopback that answers with the given function and records the requests. */
export async function httpTarget(
  answer: (response: ServerResponse, received: Received, request: IncomingMessage) => void,
) {
  const received: Received[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const { method = "", url: path = "", headers } = request
    const got = { method, path, headers, body: Buffer.concat(chunks).toString() }
    received.push(got)
    answer(response, got, request)
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const { port } = server.address() as AddressInfo
  return {
    received,
    port,
    url: `http://127.0.0.1:${port}/hook`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

export function answering(status: number, headers: Record<string, string> = {}, body = "") {
  return (response: ServerResponse) => void response.writeHead(status, headers).end(body)
}
