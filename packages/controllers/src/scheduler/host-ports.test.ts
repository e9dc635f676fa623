import { describe, expect, it, vi } from 'vitest'
import { HostPorts } from './host-ports.ts'

function portsOf(
  ...ports: readonly { readonly hostPort: number; readonly hostIP?: string; readonly protocol?: string }[]
): HostPorts {
  const containers = [{ name: 'c', ports: ports.map((port) => ({ containerPort: port.hostPort, ...port })) }]
  return new HostPorts({ apiVersion: 'v1', kind: 'Pod', metadata: {}, spec: { containers } })
}

describe('host ports', () => {
  it.each([
    ['the same port', { hostPort: 80 }, { hostPort: 80 }, true],
    ['other ports', { hostPort: 80 }, { hostPort: 81 }, false],
    ['other protocols', { hostPort: 80 }, { hostPort: 80, protocol: 'UDP' }, false],
    ['other addresses', { hostPort: 80, hostIP: '10.0.0.1' }, { hostPort: 80, hostIP: '10.0.0.2' }, false],
    ['the same address', { hostPort: 80, hostIP: '10.0.0.1' }, { hostPort: 80, hostIP: '10.0.0.1' }, true],
    ['all addresses', { hostPort: 80, hostIP: '10.0.0.1' }, { hostPort: 80, hostIP: '0.0.0.0' }, true],
  ])('with %s', (_, a, b, conflict) => {
    expect(portsOf(a).conflictsWith(portsOf(b))).toBe(conflict)
    expect(portsOf(b, { hostPort: 9 }).conflictsWith(portsOf(a))).toBe(conflict)
  })

  it('take one lookup for each port of the smaller set', () => {
    const many = portsOf(...Array.from({ length: 10_000 }, (_, i) => ({ hostPort: i + 1 })))
    const few = portsOf(...Array.from({ length: 100 }, (_, i) => ({ hostPort: i + 20_000 })))
    const get = vi.spyOn(Map.prototype, 'get')
    expect([many.conflictsWith(few), few.conflictsWith(many)]).toEqual([false, false])
    const lookups = get.mock.calls.length
    get.mockRestore()
    expect(lookups).toBe(200)
  })
})
