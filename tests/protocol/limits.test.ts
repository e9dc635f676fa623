import type { AdmissionPlugin } from '@krmkit/admission'
import { defaultLimits } from '@krmkit/apiserver'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { configMap, configMaps, requestOf, send, settled, startApi, type TestApi } from './server.ts'

/** Limits of sizes, counts and times. @see API protocol specification, 7 and 8 */

/** Blocks creations of config maps until they are released. */
class Gate implements AdmissionPlugin {
  readonly name = 'Gate'
  readonly #waiting: (() => void)[] = []

  get waiting(): number {
    return this.#waiting.length
  }

  handles({ operation, resource }: Parameters<AdmissionPlugin['handles']>[0]): boolean {
    return operation === 'CREATE' && resource.resource === 'configmaps'
  }

  async admit(_draft: unknown, { name }: { readonly name: string }): Promise<void> {
    if (!name.startsWith('slow')) return
    await new Promise<void>((resolve) => this.#waiting.push(resolve))
  }

  open(): void {
    for (const resolve of this.#waiting.splice(0)) resolve()
  }
}

const user = { username: 'somebody', groups: ['system:authenticated'] }

describe('requests in flight', () => {
  let api: TestApi
  let gate: Gate
  beforeEach(async () => {
    gate = new Gate()
    api = await startApi({ admission: [gate], limits: { mutatingInFlight: 3, readOnlyInFlight: 2 } })
  })
  afterEach(async () => {
    gate.open()
    await api.close()
  })
  const slow = (name: string) => api.post(configMaps, configMap(`slow-${name}`), { user })

  it('429 with Retry-After above the limit, until a request completes [P318]', async () => {
    const held = ['a', 'b', 'c'].map(slow)
    await settled()
    expect(gate.waiting).toBe(3)
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      const path = method === 'POST' ? configMaps : `${configMaps}/x`
      const answer = await api.send(method, path, { body: configMap('x'), user })
      expect([answer.status, answer.json.reason, answer.headers['retry-after']], method).toEqual([429, 'TooManyRequests', '1'])
      expect(answer.json.details.retryAfterSeconds).toBe(1)
    }
    // Reads have a separate limit; watches have none.
    expect((await api.send('GET', configMaps, { user })).status).toBe(200)
    const watch = await api.watch(configMaps)
    await watch.leave()
    gate.open()
    expect((await Promise.all(held)).map(({ status }) => status)).toEqual([201, 201, 201])
    expect((await api.post(configMaps, configMap('x'), { user })).status).toBe(201)
  })

  it('429 for reads above the limit, while writes continue [P318]', async () => {
    const reading = ['1', '2'].map(() => api.send('GET', configMaps, { user, query: { resourceVersion: '4000000' } }))
    await settled()
    expect((await api.send('GET', `${configMaps}/a`, { user })).status).toBe(429)
    expect((await api.post(configMaps, configMap('x'), { user })).status).toBe(201)
    const watches = await Promise.all(Array.from({ length: 5 }, () => api.watch(configMaps)))
    for (const watch of watches) await watch.leave()
    api.clock.advance(3_000)
    expect((await Promise.all(reading)).map(({ status }) => status)).toEqual([504, 504])
    expect((await api.send('GET', configMaps, { user })).status).toBe(200)
  })

  it('rejected and failed requests release their place [P318]', async () => {
    for (let i = 0; i < 10; i++) {
      expect((await api.post(configMaps, configMap('NOT A NAME'), { user })).status).toBe(422)
      expect((await api.send('GET', '/api/v1/nothing', { user })).status).toBe(404)
    }
    expect((await api.post(configMaps, configMap('x'), { user })).status).toBe(201)
  })
})

describe('time', () => {
  it('504 when a request takes longer than the limit [P317]', async () => {
    const gate = new Gate()
    await using api = await startApi({ admission: [gate], limits: { requestTimeoutMs: 10_000 } })
    const held = api.post(configMaps, configMap('slow'))
    await settled()
    api.clock.advance(9_999)
    await settled()
    api.clock.advance(1)
    const answer = await held
    expect([answer.status, answer.json.reason]).toEqual([504, 'Timeout'])
    gate.open()
  })

  it('a client may set a shorter timeout, not a longer one [P317]', async () => {
    const gate = new Gate()
    await using api = await startApi({ admission: [gate] })
    expect(defaultLimits.requestTimeoutMs).toBe(60_000)
    const impatient = api.post(configMaps, configMap('slow-1'), { query: { timeout: '2s' } })
    const patient = api.post(configMaps, configMap('slow-2'), { query: { timeout: '10h' } })
    await settled()
    api.clock.advance(2_000)
    expect((await impatient).status).toBe(504)
    api.clock.advance(58_000)
    expect((await patient).status).toBe(504)
    for (const timeout of ['x', '-', '1y'])
      expect((await api.get(configMaps, { timeout })).json, timeout).toMatchObject({ code: 400 })
    expect((await api.get(configMaps, { timeout: '0s' })).status).toBe(200)
    gate.open()
  })
})

describe('sizes', () => {
  it('413 for a body above the limit, for all verbs [P210]', async () => {
    await using api = await startApi({ limits: { bodyBytes: 2_000 } })
    await api.post(configMaps, configMap('a'))
    const large = configMap('a', { data: { k: 'x'.repeat(3_000) } })
    const revision = api.storage.revision
    for (const answer of [
      await api.post(configMaps, large),
      await api.put(`${configMaps}/a`, large),
      await api.patch(`${configMaps}/a`, large),
      await api.delete(`${configMaps}/a`, { body: large }),
      await api.delete(configMaps, { body: large }),
    ]) {
      expect(answer.json).toMatchObject({ kind: 'Status', code: 413, reason: 'RequestEntityTooLarge' })
    }
    expect(api.storage.revision).toBe(revision)
    expect((await api.post(configMaps, configMap('b', { data: { k: 'x'.repeat(1_500) } }))).status).toBe(201)
  })

  it('the default limit is 3 MiB [P210]', async () => {
    expect(defaultLimits.bodyBytes).toBe(3 * 1024 * 1024)
    await using api = await startApi()
    const limits: number[] = []
    const request = requestOf('POST', configMaps, { body: configMap('a') })
    await api.server.handle({
      ...request,
      body: (limit) => {
        limits.push(limit)
        return request.body(limit)
      },
    })
    expect(limits).toEqual([3 * 1024 * 1024])
  })

  it('warnings are truncated to 256 characters above a total of 4096, and then dropped [P325]', async () => {
    await using api = await startApi()
    const long = (i: number) => `${String(i).padStart(2, '0')}${'x'.repeat(498)}`
    const unknown = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [long(i), 1]))
    // Below the total, warnings are not truncated.
    const few = await api.post(configMaps, { metadata: { name: 'a' }, ...unknown(3) })
    expect([few.status, few.warnings]).toEqual([201, [0, 1, 2].map((i) => `unknown field "${long(i)}"`)])
    const many = await api.post(configMaps, { metadata: { name: 'b' }, ...unknown(40) })
    expect(many.status).toBe(201)
    for (const warning of many.warnings) expect(warning.length).toBe(256)
    expect(many.warnings.length).toBe(4096 / 256)
    expect(many.warnings[0]).toBe(`unknown field "${long(0)}"`.slice(0, 256))
  })

  it('warnings are deduplicated and escaped [P325]', async () => {
    const text = 'says "hello" \\ and more'
    const warning: AdmissionPlugin = {
      name: 'Warn',
      handles: ({ resource }) => resource.resource === 'configmaps',
      validate: (_object, _attributes, { warn }) => {
        warn(text)
        warn(text)
        warn('')
        // Not representable in a header, so it is omitted, as by kube-apiserver.
        warn('and\r\nx-evil: 1')
      },
    }
    await using api = await startApi({ admission: [warning] })
    const { headers } = await api.post(configMaps, configMap('a'))
    expect(headers.warning).toEqual(['299 - "says \\"hello\\" \\\\ and more"'])
  })
})

describe('shutdown', () => {
  it('close waits for running requests, rejects new ones, and ends watches [P317]', async () => {
    const gate = new Gate()
    const api = await startApi({ admission: [gate] })
    const watch = await (await api.watch(configMaps)).listen()
    const held = api.post(configMaps, configMap('slow'))
    await settled()
    let closed = false
    const closing = api.close().then(() => {
      closed = true
    })
    await settled()
    expect(closed).toBe(false)
    expect(await watch.rest()).toEqual([])
    const late = await api.get(configMaps)
    expect(late.json).toMatchObject({ kind: 'Status', code: 503, reason: 'ServiceUnavailable' })
    gate.open()
    expect((await held).status).toBe(201)
    await closing
    expect(closed).toBe(true)
  })

  it('close has a timeout [P317]', async () => {
    const gate = new Gate()
    const api = await startApi({ admission: [gate], limits: { requestTimeoutMs: 3_600_000 } })
    void send(api.server.handle, 'POST', configMaps, { body: configMap('slow') })
    await settled()
    const closing = api.close()
    await settled()
    api.clock.advance(10_000)
    await closing
    gate.open()
    await settled()
  })

  it('a closing server is not ready [P159]', async () => {
    const gate = new Gate()
    const api = await startApi({ admission: [gate] })
    expect((await api.get('/readyz')).text).toBe('ok')
    const held = api.post(configMaps, configMap('slow'))
    await settled()
    const closing = api.close()
    expect((await api.get('/readyz')).status).toBeGreaterThanOrEqual(500)
    gate.open()
    await Promise.all([held, closing])
  })
})
