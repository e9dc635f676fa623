import { describe, expect, it } from 'vitest'
import type { ApiResponse } from '../interfaces.ts'
import { done, stateOf } from '../testing/sample-server.ts'
import { inFlight } from './in-flight.ts'

const pods = '/api/v1/namespaces/ns/pods'

/** Holds requests until they are let go. */
function gate() {
  const waiting: (() => void)[] = []
  return {
    next: () => new Promise<ApiResponse>((resolve) => waiting.push(() => resolve(done))),
    open: () => {
      for (const go of waiting.splice(0)) go()
    },
  }
}

describe('requests in flight', () => {
  it('reads and writes have limits of their own; above them 429 and when to come back', async () => {
    const filter = inFlight({ readOnly: 2, mutating: 1 })
    const { next, open } = gate()
    const held = [filter(stateOf(pods), next), filter(stateOf('/version'), next), filter(stateOf(pods, { method: 'POST' }), next)]
    const refused = { code: 429, reason: 'TooManyRequests', status: { details: { retryAfterSeconds: 1 } } }
    await expect(filter(stateOf(pods), next)).rejects.toMatchObject(refused)
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'])
      await expect(filter(stateOf(`${pods}/a`, { method }), next)).rejects.toMatchObject(refused)
    open()
    await Promise.all(held)
    expect(await filter(stateOf(pods), async () => done)).toBe(done)
  })

  it('watches do not count', async () => {
    const filter = inFlight({ readOnly: 1, mutating: 1 })
    const { next, open } = gate()
    const held = [filter(stateOf(pods), next), filter(stateOf(`${pods}?watch=1`), next), filter(stateOf(`${pods}?watch=1`), next)]
    open()
    await Promise.all(held)
  })

  it('a request that fails gives its place back', async () => {
    const filter = inFlight({ readOnly: 1, mutating: 0 })
    await expect(filter(stateOf(pods), () => Promise.reject(new Error('x')))).rejects.toThrow('x')
    expect(await filter(stateOf(pods), async () => done)).toBe(done)
  })

  it('0 is no limit', async () => {
    const filter = inFlight({ readOnly: 0, mutating: 0 })
    const { next, open } = gate()
    const held = Array.from({ length: 500 }, () => filter(stateOf(pods), next))
    open()
    expect(await Promise.all(held)).toHaveLength(500)
  })
})
