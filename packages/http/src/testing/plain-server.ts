import { afterEach } from 'vitest'
import type { Listener } from '../interfaces.ts'
import { listenPlain, RawClient } from './fake-server.ts'

/** The plain server of a test file, with raw clients. All end after each test. */
export function usePlainServer() {
  let listener: Listener | undefined
  const clients: RawClient[] = []
  afterEach(async () => {
    for (const client of clients.splice(0)) client.socket.destroy()
    await listener?.close({ graceMs: 50 })
    listener = undefined
  })
  const server = (): Listener => {
    if (listener === undefined) throw new Error('no server was started')
    return listener
  }
  return {
    server,
    async start(...args: Parameters<typeof listenPlain>): Promise<Listener> {
      listener = await listenPlain(...args)
      return listener
    },
    dial(): RawClient {
      const client = new RawClient(server().port)
      clients.push(client)
      return client
    },
  }
}
