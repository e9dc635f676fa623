import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { describe as describeRequest, judge } from './fuzz/judge.ts'
import { type Draft, requestAt } from './fuzz/requests.ts'
import { type FuzzedServer, startInProcess } from './fuzz/transports.ts'

/**
 * Hostile requests of every kind against a server without a socket: never a 500, a hang, or a request as another user, and
 * rejections are Status documents. `npm run fuzz` sends a million of them over every transport. Failures print the seed.
 */

const requests = 16_000
const seed = Number(process.env['FUZZ_SEED'] ?? 20_261_121)

describe('hostile requests', () => {
  let server: FuzzedServer
  beforeAll(async () => {
    server = await startInProcess()
  })
  afterAll(() => server[Symbol.asyncDispose]())

  it(`only ever get proper answers (${requests} requests, seed ${seed})`, { timeout: 240_000 }, async () => {
    const seen = new Map<number, number>()
    for (let i = 0; i < requests; i++) {
      const draft = requestAt(seed, i, 'in-process')
      const answer = await server.send(draft)
      seen.set(answer.status, (seen.get(answer.status) ?? 0) + 1)
      const wrong = judge(draft, answer)
      if (wrong !== undefined || server.faults().length > 0)
        expect.unreachable(`${wrong}\n${describeRequest(draft, answer)}\n${server.faults().join('\n')}`)
      if (answer.status >= 400 && answer.text.startsWith('{'))
        expect(JSON.parse(answer.text), describeRequest(draft, answer)).toMatchObject({
          kind: 'Status',
          code: answer.status,
          status: 'Failure',
        })
    }
    // Some requests stored objects and some were rejected.
    expect(seen.get(200) ?? 0).toBeGreaterThan(500)
    expect(seen.get(201) ?? 0).toBeGreaterThan(50)
    expect(seen.get(400) ?? 0).toBeGreaterThan(500)
    const alive: Draft = {
      ...requestAt(seed, 0, 'in-process'),
      method: 'GET',
      path: '/readyz',
      query: '',
      headers: [['authorization', Buffer.from('Bearer admin-token-0123456789')]],
      body: new Uint8Array(0),
    }
    expect(await server.send(alive)).toMatchObject({ status: 200, text: 'ok' })
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
    expect(Object.keys(Object.prototype)).toEqual([])
  })

  it('generates the same request for the same seed and number', () => {
    expect(requestAt(seed, 7, 'http2')).toEqual(requestAt(seed, 7, 'http2'))
    expect(requestAt(seed, 7, 'http2')).not.toEqual(requestAt(seed, 8, 'http2'))
  })
})
