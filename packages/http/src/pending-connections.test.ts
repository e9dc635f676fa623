import { EventEmitter } from 'node:events'
import type { Socket } from 'node:net'
import { describe, expect, it } from 'vitest'
import { PendingConnections } from './pending-connections.ts'

class FakeSocket extends EventEmitter {
  readonly remoteAddress: string | undefined
  readonly remotePort: number | undefined
  destroyed = false

  constructor(address: string | undefined, port: number | undefined) {
    super()
    this.remoteAddress = address
    this.remotePort = port
  }

  destroy(): void {
    this.destroyed = true
    this.emit('close')
  }
}
const socketOf = (address: string | undefined, port: number | undefined) => new FakeSocket(address, port) as FakeSocket & Socket

describe('PendingConnections', () => {
  it('closes the oldest of an address above its bound', () => {
    const pending = new PendingConnections({ pendingConnections: 100, pendingConnectionsPerAddress: 2 })
    const other = socketOf('::1', 1)
    const own = [1, 2, 3].map((port) => socketOf('127.0.0.1', port))
    for (const socket of [other, ...own]) pending.add(socket)
    expect([other, ...own].map(({ destroyed }) => destroyed)).toEqual([false, true, false, false])
    expect(pending.size).toBe(3)
  })

  it('closes the oldest of all above the total bound', () => {
    const pending = new PendingConnections({ pendingConnections: 2, pendingConnectionsPerAddress: 2 })
    const sockets = ['a', 'b', 'c'].map((address) => socketOf(address, 1))
    for (const socket of sockets) pending.add(socket)
    expect(sockets.map(({ destroyed }) => destroyed)).toEqual([true, false, false])
  })

  it('does not count settled or closed connections', () => {
    const pending = new PendingConnections({ pendingConnections: 1, pendingConnectionsPerAddress: 1 })
    const sockets = [1, 2, 3].map((port) => socketOf('a', port))
    pending.add(sockets[0]!)
    pending.settle({ remoteAddress: 'a', remotePort: 1 })
    pending.add(sockets[1]!)
    sockets[1]!.destroy()
    pending.add(sockets[2]!)
    pending.add(socketOf(undefined, undefined))
    expect([pending.size, sockets[0]!.destroyed, sockets[2]!.destroyed]).toEqual([1, false, false])
    expect(pending.find({ remoteAddress: 'a', remotePort: 3 })).toBe(sockets[2])
  })
})
