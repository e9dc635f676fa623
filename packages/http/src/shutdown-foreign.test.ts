import { EventEmitter } from 'node:events'
import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { describe, expect, it } from 'vitest'
import { defaultListenLimits } from './listen-options.ts'
import { ListenerContext } from './listener-context.ts'
import { shutdown } from './shutdown.ts'

/**
 * Shutdown of servers that are not implemented by node: Bun's `http.Server` is not a `net.Server`, and lacks some of its methods or has
 * empty ones.
 */

interface Behavior {
  /** What `close` does with its callback. */
  readonly onClose: (callback: () => void) => void
  readonly methods?: readonly ('closeIdleConnections' | 'closeAllConnections')[]
}

function foreignServer({ onClose, methods = [] }: Behavior) {
  const calls: string[] = []
  const server = Object.assign(new EventEmitter(), {
    close(callback: () => void) {
      calls.push('close')
      onClose(callback)
    },
    ...Object.fromEntries(methods.map((name) => [name, () => void calls.push(name)])),
  })
  return { server: server as unknown as Server, calls }
}

const context = () =>
  new ListenerContext({
    handle: () => Promise.reject(new Error('unused')),
    limits: defaultListenLimits,
    goaway: undefined,
    onError: undefined,
  })

function openSocket() {
  const socket = {
    writableLength: 0,
    destroyed: false,
    destroy() {
      socket.destroyed = true
    },
  }
  return socket
}

describe('shutdown of a server that is no net.Server', () => {
  it('uses the close method of the server, whose callback ends it', async () => {
    const { server, calls } = foreignServer({ onClose: (callback) => queueMicrotask(callback) })
    await shutdown({ server, sockets: new Set(), sessions: new Set(), context: context(), graceMs: 60_000 })
    expect(calls[0]).toBe('close')
  })

  it('ends with an error of the callback, as for a server that does not run', async () => {
    const notRunning = Object.assign(new Error('Server is not running.'), { code: 'ERR_SERVER_NOT_RUNNING' })
    const { server } = foreignServer({
      onClose: (callback) => queueMicrotask(() => (callback as (error: Error) => void)(notRunning)),
    })
    await shutdown({ server, sockets: new Set(), sessions: new Set(), context: context(), graceMs: 60_000 })
  })

  it('ends after the grace period when the callback is never called', async () => {
    for (const methods of [[], ['closeIdleConnections', 'closeAllConnections']] as const) {
      const { server, calls } = foreignServer({ onClose: () => undefined, methods })
      const socket = openSocket()
      const sockets = new Set([socket as unknown as Socket])
      await shutdown({ server, sockets, sessions: new Set(), context: context(), graceMs: 30 })
      expect(socket.destroyed).toBe(true)
      expect(calls.includes('closeAllConnections')).toBe(methods.length > 0)
    }
  })
})
