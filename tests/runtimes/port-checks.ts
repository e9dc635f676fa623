import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createApiServer } from '@krmkit/apiserver'
import { type Client, createClient, createFetchTransport, createRemoteClient } from '@krmkit/client'
import { createFetchHandler, listen, selfSigned } from '@krmkit/http'
import { ConfigMap } from '@krmkit/kinds/core/v1'
import { memoryStorage } from '@krmkit/storage'
import type { PortCheckName } from './check-names.ts'

/** Checks for runtimes with ports. */

type FetchHandler = (request: Request) => Promise<Response>

interface Served {
  readonly url: string
  close(): Promise<void>
}

/** The servers for fetch handlers, by the global that has them. */
interface FetchHosts {
  readonly Deno?: {
    serve(
      options: { hostname: string; port: number; onListen(): void },
      handle: FetchHandler,
    ): { readonly addr: { readonly port: number }; shutdown(): Promise<void> }
  }
  readonly Bun?: {
    serve(options: { hostname: string; port: number; fetch: FetchHandler }): {
      readonly port: number
      stop(now: boolean): Promise<void>
    }
  }
}

const hostname = '127.0.0.1'
const { Deno, Bun } = globalThis as FetchHosts

async function serveFetch(handle: FetchHandler): Promise<Served | undefined> {
  if (Deno !== undefined) {
    const server = Deno.serve({ hostname, port: 0, onListen: () => undefined }, handle)
    return { url: `http://${hostname}:${server.addr.port}`, close: () => server.shutdown() }
  }
  if (Bun !== undefined) {
    const server = Bun.serve({ hostname, port: 0, fetch: handle })
    return { url: `http://${hostname}:${server.port}`, close: () => server.stop(true) }
  }
  return undefined
}

/** Writes and watches through a client. */
async function useClient(client: Client): Promise<void> {
  const watch = client.watch(ConfigMap, { namespace: 'default' })
  await client.create(ConfigMap, { metadata: { name: 'a', namespace: 'default' }, data: { color: 'grün' } })
  const { value } = await watch.next()
  await watch.return?.()
  if (value?.object.data?.['color'] !== 'grün') throw new Error(`unexpected event ${JSON.stringify(value)}`)
  await client[Symbol.asyncDispose]()
}

export const portChecks: Readonly<Record<PortCheckName, () => Promise<void>>> = {
  'serves fetch requests on a port': async () => {
    const server = await createApiServer({ storage: memoryStorage() })
    const served = await serveFetch(createFetchHandler(server))
    if (served !== undefined) {
      await useClient(createClient(createFetchTransport({ server: served.url })))
      await served.close()
    }
    await server.close()
  },
  'listens without TLS': async () => {
    const server = await createApiServer({ storage: memoryStorage() })
    const listener = await listen(server, { tls: false })
    await useClient(createRemoteClient({ server: listener.url }))
    await listener.close({ graceMs: 100 })
    await server.close()
  },
  'listens with TLS': async () => {
    const server = await createApiServer({ storage: memoryStorage() })
    const folder = await mkdtemp(join(tmpdir(), 'krmkit-'))
    const listener = await listen(server, { tls: selfSigned(folder) })
    await useClient(createRemoteClient({ server: listener.url, ca: listener.authority ?? '' }))
    await listener.close({ graceMs: 100 })
    await server.close()
    await rm(folder, { recursive: true })
  },
  'refuses TLS where certificates of clients cannot be read': async () => {
    const server = await createApiServer({ storage: memoryStorage() })
    const folder = await mkdtemp(join(tmpdir(), 'krmkit-'))
    const refusal = await listen(server, { tls: selfSigned(folder) }).then(
      async (listener) => {
        await listener.close({ graceMs: 100 })
        return 'it listens'
      },
      (error: Error) => error.message,
    )
    await server.close()
    await rm(folder, { recursive: true })
    if (!refusal.includes('Bun.serve')) throw new Error(refusal)
  },
}
