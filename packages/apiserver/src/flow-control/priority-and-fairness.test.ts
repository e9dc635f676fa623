import type { ApiResponse } from '@krmkit/protocol'
import { describe, expect, it } from 'vitest'
import { type Asking, requestOf, sampleServer } from '../testing/sample-server.ts'
import {
  configMap,
  configMaps,
  flowControlPath,
  gate,
  jane,
  joe,
  levelOf,
  limitedServer,
  queuing,
  schemaOf,
  turn,
} from './testing/limited-server.ts'

const headersOf = ({ headers }: { readonly headers: Readonly<Record<string, unknown>> }) => [
  headers['x-kubernetes-pf-flowschema-uid'],
  headers['x-kubernetes-pf-prioritylevel-uid'],
]

describe('flow control headers', () => {
  it('name flow schema and priority level of every request, failed ones included', async () => {
    const { ask, create } = await limitedServer()
    expect(headersOf(await ask('/api/v1/namespaces', { user: jane }))).toEqual([undefined, undefined])
    const own = (await create(schemaOf('own', 'few'))).json
    expect(headersOf(await ask('/api/v1/namespaces', { user: jane }))).toEqual([undefined, undefined])
    const few = (await create(levelOf('few'))).json
    const expected = [own.metadata.uid, few.metadata.uid]
    expect(headersOf(await ask('/api/v1/namespaces', { user: jane }))).toEqual(expected)
    const missing = await ask('/api/v1/namespaces/none', { user: jane })
    expect([missing.status, ...headersOf(missing)]).toEqual([404, ...expected])
    expect(headersOf(await ask('/version', { user: jane }))).toEqual(expected)
    expect(headersOf(await ask('/api/v1/namespaces'))).toEqual([undefined, undefined])
    await ask(`${flowControlPath}/prioritylevelconfigurations/few`, { method: 'DELETE' })
    expect(headersOf(await ask('/api/v1/namespaces', { user: jane }))).toEqual([undefined, undefined])
  })

  it('are set for watches, but not for other long-running requests', async () => {
    const { server, create, ask } = await limitedServer()
    await create(levelOf('few'))
    const own = (await create(schemaOf('own', 'few'))).json
    const gone = new AbortController()
    const watch = await server.handle(requestOf('/api/v1/namespaces?watch=1', { user: jane, signal: gone.signal }))
    expect(headersOf(watch)[0]).toBe(own.metadata.uid)
    gone.abort()
    expect(headersOf(await ask(`/api/v1/namespaces/default/pods/none/log`, { user: jane }))).toEqual([undefined, undefined])
  })

  it('are absent without flow control', async () => {
    const { ask } = await sampleServer()
    await ask(`${flowControlPath}/prioritylevelconfigurations`, { method: 'POST', body: levelOf('few') })
    await ask(`${flowControlPath}/flowschemas`, { method: 'POST', body: schemaOf('own', 'few') })
    expect(headersOf(await ask('/api/v1/namespaces', { user: jane }))).toEqual([undefined, undefined])
  })
})

describe('flow control limits', () => {
  it('reject requests above the seats of the level with a Status, Retry-After and the headers, except for administrators', async () => {
    const { authorizer, open, held } = gate()
    const { ask, create, metric, server } = await limitedServer({ authorizer })
    await create(levelOf('few'))
    const own = (await create(schemaOf('own', 'few'))).json
    // 12 seats, 1 share of 6.
    const running = [0, 1].map(() => server.handle(requestOf('/version', { user: jane })))
    await turn()
    expect(held()).toBe(2)
    const refused = await ask('/version', { user: jane })
    expect(refused).toMatchObject({
      status: 429,
      json: {
        reason: 'TooManyRequests',
        message: 'Too many requests, please try again later.',
        details: { retryAfterSeconds: 1 },
      },
      headers: { 'retry-after': '1', 'content-type': 'application/json' },
    })
    expect(headersOf(refused)[0]).toBe(own.metadata.uid)
    expect((await ask('/version')).status).toBe(200)
    const flow = ['flow_schema="own"', 'priority_level="few"']
    expect(await metric('apiserver_flowcontrol_rejected_requests_total', ...flow, 'reason="concurrency-limit"')).toBe(1)
    expect(await metric('apiserver_flowcontrol_current_executing_requests', ...flow)).toBe(2)
    open()
    await Promise.all(running)
    expect(await metric('apiserver_flowcontrol_current_executing_seats', ...flow)).toBe(0)
    expect(await metric('apiserver_flowcontrol_dispatched_requests_total', ...flow)).toBe(2)
  })

  it('dispatch a small flow while a large one waits, for at most a quarter of the timeout', async () => {
    const { authorizer, open, held } = gate()
    const { ask, create, server, clock, metric } = await limitedServer({ authorizer })
    await create(levelOf('few', { limitResponse: { type: 'Queue', queuing } }))
    await create(schemaOf('own', 'few'))
    const elephant = Array.from({ length: 20 }, () => server.handle(requestOf('/version', { user: jane })))
    await turn()
    expect(held()).toBe(2)
    let answered = false
    const mouse = ask('/version', { user: joe }).finally(() => (answered = true))
    await turn()
    expect(await metric('apiserver_flowcontrol_current_inqueue_requests', 'flow_schema="own"')).toBe(19)
    expect(await metric('apiserver_current_inqueue_requests', 'readOnly')).toBe(19)
    // The large flow has a hand of 4 queues: the small flow is dispatched after the first request of each, not after all 18.
    for (let served = 0; !answered && served < 6; served += 2) {
      clock.advance(10)
      open()
      await turn()
    }
    expect(answered && (await mouse).status).toBe(200)
    expect(await metric('apiserver_flowcontrol_current_inqueue_requests', 'flow_schema="own"')).toBeGreaterThan(10)
    clock.advance(15_000)
    while (held() > 0) {
      open()
      await turn()
    }
    const codes = (await Promise.all(elephant)).map(({ status }) => status)
    expect(codes.filter((code) => code === 429).length).toBeGreaterThan(10)
    expect(await metric('apiserver_flowcontrol_rejected_requests_total', 'reason="time-out"')).toBeGreaterThan(10)
  })

  it('remove requests of disconnected clients from queues', async () => {
    const { authorizer, open } = gate()
    const { create, server, metric } = await limitedServer({ authorizer })
    await create(levelOf('few', { limitResponse: { type: 'Queue', queuing } }))
    await create(schemaOf('own', 'few'))
    const running = [0, 1].map(() => server.handle(requestOf('/version', { user: jane })))
    const gone = new AbortController()
    const waiting = server.handle(requestOf('/version', { user: joe, signal: gone.signal }))
    await turn()
    gone.abort()
    expect((await waiting).status).toBe(429)
    expect(await metric('apiserver_flowcontrol_rejected_requests_total', 'reason="cancelled"')).toBe(1)
    open()
    await Promise.all(running)
  })

  it('can be raised while requests wait, and serve them at once', async () => {
    const { authorizer, open, held } = gate()
    const { ask, create, server } = await limitedServer({ authorizer })
    await create(levelOf('few', { limitResponse: { type: 'Queue', queuing } }))
    await create(schemaOf('own', 'few'))
    const responses = Array.from({ length: 6 }, () => server.handle(requestOf('/version', { user: jane })))
    await turn()
    expect(held()).toBe(2)
    const patch = { spec: { limited: { nominalConcurrencyShares: 100 } } }
    const headers = { 'content-type': 'application/merge-patch+json' }
    await ask(`${flowControlPath}/prioritylevelconfigurations/few`, { method: 'PATCH', body: patch, headers })
    await turn()
    expect(held()).toBe(6)
    await ask(`${flowControlPath}/prioritylevelconfigurations/few`, { method: 'DELETE' })
    open()
    expect((await Promise.all(responses)).map(({ status }) => status)).toEqual(responses.map(() => 200))
    const { text } = await ask('/metrics')
    expect(text).not.toContain('"few"')
  })

  it('require a positive number of seats', async () => {
    await expect(sampleServer({ flowControl: true, limits: { readOnlyInFlight: 0, mutatingInFlight: 0 } })).rejects.toThrow(
      RangeError,
    )
  })
})

describe('bodies being received', () => {
  /** A write whose body arrives when it is released. */
  function slowWrite(asking: Asking, name: string) {
    let arrive: () => void = () => undefined
    const request = requestOf(configMaps, { method: 'POST', body: configMap(name), ...asking })
    const body = (limit: number) =>
      new Promise<Uint8Array>((resolve) => {
        arrive = () => resolve(request.body(limit))
      })
    return { request: { ...request, body, isBodyReceived: false }, arrive: () => arrive() }
  }

  it('hold no seats: 205 slow writes of one client leave all seats free, and are served after arrival', async () => {
    const { ask, server, metric } = await limitedServer()
    const writes = Array.from({ length: 205 }, (_, i) => slowWrite({ user: jane }, `slow-${i}`))
    const answers: Promise<ApiResponse>[] = []
    for (const { request } of writes) {
      answers.push(server.handle(request))
      await turn()
    }
    expect(await metric('apiserver_flowcontrol_current_executing_seats', 'priority_level="catch-all"')).toBe(0)
    expect((await ask(configMaps, { method: 'POST', body: configMap('quick'), user: joe })).status).toBe(201)
    expect((await ask(configMaps, { method: 'POST', body: configMap('admin') })).status).toBe(201)
    for (const { arrive } of writes) {
      arrive()
      await turn()
    }
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual(answers.map(() => 201))
    const dispatched = 'apiserver_flowcontrol_dispatched_requests_total'
    expect(await metric(dispatched, 'priority_level="catch-all"')).toBe(206)
  })

  it('cause 429 when they arrive and no seat is free', async () => {
    const { authorizer, open } = gate()
    const { server, create, metric } = await limitedServer({ authorizer })
    await create(levelOf('few'))
    await create(schemaOf('own', 'few'))
    const { request, arrive } = slowWrite({ user: joe }, 'late')
    const answer = server.handle(request)
    await turn()
    const running = [0, 1].map(() => server.handle(requestOf('/version', { user: jane })))
    await turn()
    arrive()
    expect(await answer).toMatchObject({ status: 429, headers: { 'retry-after': '1' } })
    open()
    await Promise.all(running)
    expect(await metric('apiserver_flowcontrol_current_executing_seats', 'priority_level="few"')).toBe(0)
  })

  it('cause no pause when they arrive with the head', async () => {
    const { ask, metric } = await limitedServer()
    await ask(configMaps, { method: 'POST', body: configMap('quick'), user: joe })
    expect(await metric('apiserver_flowcontrol_request_execution_seconds_count', 'priority_level="catch-all"')).toBe(1)
  })
})

describe('watches', () => {
  it('hold seats until the initial state has been sent, for 5 seconds at most', async () => {
    const { server, ask, metric, clock } = await limitedServer()
    await ask(configMaps, { method: 'POST', body: configMap('a') })
    const seats = () => metric('apiserver_flowcontrol_current_executing_seats', 'priority_level="catch-all"')
    const gone = new AbortController()
    const watch = (search: string) => server.handle(requestOf(`${configMaps}?${search}`, { user: jane, signal: gone.signal }))
    const { json } = await ask(configMaps)
    await watch(`watch=1&resourceVersion=${json.metadata.resourceVersion}`)
    expect(await seats()).toBe(0)
    const initial = await watch('watch=1')
    expect(await seats()).toBe(1)
    if (initial.body.kind !== 'stream') throw new Error('no stream')
    const events = initial.body.stream[Symbol.asyncIterator]()
    await events.next()
    void events.next()
    await turn()
    expect(await seats()).toBe(0)
    await watch('watch=1')
    expect(await seats()).toBe(1)
    clock.advance(5000)
    expect(await seats()).toBe(0)
    gone.abort()
  })

  it('add seats to writes that affect 10 or more of them', async () => {
    const { server, ask, metric, clock } = await limitedServer({}, 102)
    const clients = Array.from({ length: 25 }, () => new AbortController())
    for (const gone of clients) {
      const { body } = await server.handle(requestOf(`${configMaps}?watch=1`, { user: jane, signal: gone.signal }))
      if (body.kind === 'stream') void body.stream[Symbol.asyncIterator]().next()
    }
    await turn()
    await ask(configMaps, { method: 'POST', body: configMap('a'), user: joe })
    const flow = 'priority_level="catch-all"'
    expect(await metric('apiserver_flowcontrol_watch_count_samples_sum', flow)).toBe(25)
    expect(await metric('apiserver_flowcontrol_current_executing_seats', flow)).toBe(3)
    clock.advance(5)
    expect(await metric('apiserver_flowcontrol_current_executing_seats', flow)).toBe(0)
    for (const gone of clients) gone.abort()
  })
})
