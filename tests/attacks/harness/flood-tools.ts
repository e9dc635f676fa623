import { createServer, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import type { IssuedCertificate } from '@krmkit/authentication/testing'
import { wireClient } from './client.ts'
import { openTls } from './http1.ts'
import { type AttackedProcess, tokens } from './server-process.ts'

/** Tools for floods: idle connections, services that never respond, and callers that must be served meanwhile. */

/** Accepts connections and never responds. */
export interface SilentService extends AsyncDisposable {
  readonly port: number
  /** Number of connections so far. */
  accepted(): number
}

export async function silentService(certificate?: IssuedCertificate): Promise<SilentService> {
  const sockets = new Set<Socket>()
  let accepted = 0
  const take = (socket: Socket) => {
    accepted++
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.on('close', () => sockets.delete(socket))
    socket.resume()
  }
  const server: Server =
    certificate === undefined
      ? createServer(take)
      : createTlsServer({ cert: certificate.certificate, key: certificate.key }, take)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    accepted: () => accepted,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Opens connections that send `bytes` and then stay idle. */
export async function openSilently(
  port: number,
  count: number,
  bytes: (index: number) => Uint8Array,
): Promise<{ close(): void }> {
  const sockets: Socket[] = []
  let next = 0
  const work = async () => {
    for (let i = next++; i < count; i = next++) {
      const socket = await openTls({ port }, 'http/1.1')
      socket.on('error', () => undefined)
      socket.resume()
      socket.write(bytes(i))
      sockets.push(socket)
    }
  }
  await Promise.all(Array.from({ length: 16 }, work))
  return {
    close() {
      for (const socket of sockets) socket.destroy()
    },
  }
}

/** How long callers that must be served may wait. */
const servedMs = 1000

/**
 * Sends a write as the administrator and a read as a node, `rounds` times.
 *
 * @returns undefined when each gets a prompt response; otherwise the problem.
 */
export async function servedMeanwhile(process: AttackedProcess, rounds = 5): Promise<string | undefined> {
  const client = wireClient(process.url, { token: tokens.admin, timeoutMs: 5000 })
  try {
    for (let i = 0; i < rounds; i++) {
      const body = JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { generateName: 'served-' } })
      const headers = { 'content-type': 'application/json' }
      const write = await client.send({
        method: 'POST',
        target: '/api/v1/namespaces/default/configmaps?dryRun=All',
        headers,
        body,
      })
      if (write.status !== 201 || write.ms > servedMs)
        return `a write of the administrator: ${write.status} after ${Math.round(write.ms)} ms`
      const read = await client.send({ method: 'GET', target: '/api/v1/nodes/n1', token: tokens.node })
      if ((read.status !== 404 && read.status !== 403) || read.ms > servedMs)
        return `a read of the node: ${read.status} after ${Math.round(read.ms)} ms`
    }
    return undefined
  } finally {
    client.close()
  }
}
