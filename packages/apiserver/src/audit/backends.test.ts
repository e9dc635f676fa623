import { fakeClock, seededRandom, stockProfile } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { bufferedAudit } from './buffered-backend.ts'
import type { AuditBackend, AuditEvent } from './interfaces.ts'
import { auditLog } from './log-backend.ts'
import { truncatedAudit } from './truncated-backend.ts'
import { auditWebhook } from './webhook-backend.ts'

const event = (auditID: string, rest: Partial<AuditEvent> = {}): AuditEvent => ({
  kind: 'Event',
  apiVersion: 'audit.k8s.io/v1',
  level: 'Metadata',
  auditID,
  stage: 'ResponseComplete',
  requestURI: '/api/v1/pods',
  verb: 'list',
  user: { username: 'jane', groups: ['dev'] },
  responseStatus: { metadata: {}, code: 200 },
  requestReceivedTimestamp: '2024-01-01T00:00:00.000000Z',
  stageTimestamp: '2024-01-01T00:00:00.000000Z',
  ...rest,
})
const ids = (events: readonly AuditEvent[]) => events.map(({ auditID }) => auditID).join('')

/** Collects batches. */
function collecting(process: AuditBackend['process'] = () => undefined) {
  const batches: string[] = []
  let closed = false
  const backend: AuditBackend = {
    process(events) {
      batches.push(ids(events))
      return process(events)
    },
    close: async () => {
      closed = true
    },
  }
  return { backend, batches, isClosed: () => closed }
}
const turns = async () => {
  for (let i = 0; i < 20; i++) await Promise.resolve()
}

describe('bufferedAudit', () => {
  const options = { bufferSize: 5, maxBatchSize: 3, maxBatchWaitMs: 1000, onLost: () => undefined }

  it('sends full batches at once, and partial ones after the maximum wait', async () => {
    const clock = fakeClock()
    const { backend, batches } = collecting()
    const buffer = bufferedAudit(backend, { ...options, clock })
    for (const id of 'abcd') buffer.process([event(id)])
    await turns()
    expect(batches).toEqual(['abc'])
    clock.advance(999)
    await turns()
    expect(batches).toEqual(['abc'])
    clock.advance(1)
    await turns()
    expect(batches).toEqual(['abc', 'd'])
  })

  it('drops events above the buffer size and reports an error', async () => {
    const clock = fakeClock()
    let release = () => {}
    const slow = new Promise<void>((resolve) => {
      release = resolve
    })
    const { backend, batches } = collecting(() => slow)
    const buffer = bufferedAudit(backend, { ...options, clock })
    for (const id of 'abcde') buffer.process([event(id)])
    expect(() => buffer.process([event('f')])).toThrow(expect.objectContaining({ code: 'BufferFull' }))
    release()
    await turns()
    buffer.process([event('g')])
    await turns()
    expect(batches).toEqual(['abc', 'deg'])
  })

  it('reports failed batches and continues', async () => {
    const clock = fakeClock()
    const lost: string[] = []
    let first = true
    const { backend, batches } = collecting(() => {
      if (!first) return
      first = false
      throw new Error('no')
    })
    const buffer = bufferedAudit(backend, { ...options, clock, bufferSize: 10, onLost: (events) => void lost.push(ids(events)) })
    for (const id of 'abcdef') buffer.process([event(id)])
    await turns()
    expect([lost, batches]).toEqual([['abc'], ['abc', 'def']])
  })

  it('throttles batches', async () => {
    const clock = fakeClock()
    const { backend, batches } = collecting()
    const buffer = bufferedAudit(backend, { ...options, clock, bufferSize: 100, maxBatchSize: 1, throttle: { qps: 2, burst: 2 } })
    for (const id of 'abcd') buffer.process([event(id)])
    await turns()
    expect(batches.join('')).toBe('ab')
    clock.advance(500)
    await turns()
    expect(batches.join('')).toBe('abc')
    clock.advance(500)
    await turns()
    expect(batches.join('')).toBe('abcd')
  })

  it('flushes without throttling on close', async () => {
    const clock = fakeClock()
    const { backend, batches, isClosed } = collecting()
    const buffer = bufferedAudit(backend, { ...options, clock, throttle: { qps: 1, burst: 1 } })
    for (const id of 'abcd') buffer.process([event(id)])
    await buffer.close?.()
    expect([batches, isClosed(), clock.pending]).toEqual([['abc', 'd'], true, 0])
  })
})

describe('auditLog', () => {
  const logged = async (given: AuditEvent, format: 'json' | 'legacy') => {
    let text = ''
    const sink = {
      async write(part: string) {
        text += part
      },
    }
    await auditLog(sink, { format }).process([given, given])
    return text.split('\n')
  }

  it('writes one JSON object per line', async () => {
    const [first, second, end] = await logged(event('a', { userAgent: 'evil\nagent' }), 'json')
    expect(JSON.parse(first ?? '')).toEqual(event('a', { userAgent: 'evil\nagent' }))
    expect([second, end]).toEqual([first, ''])
  })

  it('writes one line of key=value pairs in the legacy format', async () => {
    const given = event('a', {
      sourceIPs: ['10.0.0.1'],
      userAgent: 'x"\ny',
      impersonatedUser: { username: 'carl', groups: ['a', 'b'] },
      objectRef: { namespace: 'shop' },
    })
    const [first] = await logged(given, 'legacy')
    expect(first).toBe(
      '2024-01-01T00:00:00.000000Z AUDIT: id="a" stage="ResponseComplete" ip="10.0.0.1" method="list" user="jane" groups="dev" as="carl" asgroups="a","b" user-agent="x\\"\\ny" namespace="shop" uri="/api/v1/pods" response="200"',
    )
    const { responseStatus: _, ...received } = event('b', { user: {} })
    expect((await logged(received, 'legacy'))[0]).toContain('user="<none>" groups="<none>" as="<self>" asgroups="<lookup>"')
    expect((await logged(received, 'legacy'))[0]).toContain('response="<deferred>"')
  })
})

describe('auditWebhook', () => {
  const setup = (statuses: (number | Error)[]) => {
    const clock = fakeClock()
    const bodies: string[] = []
    const post = async (body: string) => {
      bodies.push(body)
      const next = statuses.shift() ?? 200
      if (next instanceof Error) throw next
      return next
    }
    const backend = auditWebhook({ post, clock, random: seededRandom(1), profile: stockProfile, initialBackoffMs: 1000 })
    return { clock, bodies, backend }
  }

  it('posts an EventList', async () => {
    const { backend, bodies } = setup([])
    await backend.process([event('a'), event('b')])
    expect(JSON.parse(bodies[0] ?? '')).toEqual({
      kind: 'EventList',
      apiVersion: 'audit.k8s.io/v1',
      metadata: {},
      items: [event('a'), event('b')],
    })
  })

  it('retries with exponential backoff', async () => {
    const { backend, bodies, clock } = setup([500, new Error('reset'), 200])
    const delivered = backend.process([event('a')])
    await turns()
    expect([bodies.length, clock.pending]).toEqual([1, 1])
    clock.advance(1200)
    await turns()
    expect(bodies).toHaveLength(2)
    clock.advance(1400)
    await turns()
    expect(bodies).toHaveLength(2)
    clock.advance(400)
    await delivered
    expect(bodies).toHaveLength(3)
  })

  it('gives up after five attempts, and at once on close', async () => {
    const { backend, bodies, clock } = setup([500, 500, 500, 500, 500, 500])
    const delivered = Promise.resolve(backend.process([event('a')])).catch((error: unknown) => error)
    for (let i = 0; i < 5; i++) {
      await turns()
      clock.advance(10_000)
    }
    expect(await delivered).toMatchObject({ code: 'NotDelivered', message: expect.stringContaining('status 500') })
    expect(bodies).toHaveLength(5)
    const closing = setup([500, 500])
    const last = Promise.resolve(closing.backend.process([event('a')])).catch((error: unknown) => error)
    await turns()
    await closing.backend.close?.()
    expect(await last).toMatchObject({ code: 'NotDelivered' })
    expect(closing.clock.pending).toBe(0)
  })
})

describe('truncatedAudit', () => {
  it('removes the bodies of large events, and drops events that are still too large', async () => {
    const { backend, batches } = collecting()
    const seen: AuditEvent[] = []
    const lost: string[] = []
    const keeping: AuditBackend = {
      ...backend,
      process(events) {
        seen.push(...events)
        return backend.process(events)
      },
    }
    const limited = truncatedAudit(keeping, {
      maxEventSize: 600,
      maxBatchSize: 800,
      apiDomain: 'k8s.io',
      onLost: ({ auditID }) => void lost.push(auditID),
    })
    await limited.process([
      event('a'),
      event('b', { requestObject: 'x'.repeat(1000), annotations: { k: 'v' } }),
      event('c', { requestURI: 'x'.repeat(1000) }),
      event('d'),
    ])
    expect(batches).toEqual(['ab', 'd'])
    expect(lost).toEqual(['c'])
    expect(seen[1]?.annotations).toEqual({ k: 'v', 'audit.k8s.io/truncated': 'true' })
    expect(seen[1]).not.toHaveProperty('requestObject')
  })
})
