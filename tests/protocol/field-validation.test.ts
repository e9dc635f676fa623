import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Answer, configMaps, type SendOptions, startApi, type TestApi } from './server.ts'
import { catalog, widget, widgetKinds, widgets } from './widgets.ts'

/** Unknown, repeated and invalid fields. @see API protocol specification, 4.6 */

const pods = '/api/v1/namespaces/default/pods'
const levels = ['Ignore', 'Warn', 'Strict'] as const
type Level = (typeof levels)[number]

let api: TestApi
beforeEach(async () => {
  api = await startApi()
  await api.post(configMaps, { metadata: { name: 'a' }, data: { k: 'v' } })
  return () => api.close()
})

/** One body with every verb that accepts it. */
const ways: Readonly<
  Record<string, (body: string, query: Record<string, string>, headers?: Record<string, string>) => Promise<Answer>>
> = {
  POST: (body, query) => api.send('POST', configMaps, { body, query }),
  PUT: (body, query) => api.send('PUT', `${configMaps}/a`, { body, query }),
  'merge patch': (body, query) => patch('merge-patch+json', body, query),
  'strategic patch': (body, query) => patch('strategic-merge-patch+json', body, query),
  apply: (body, query) => patch('apply-patch+yaml', body, { ...query, fieldManager: 'me' }),
}
function patch(type: string, body: string, query: SendOptions['query']): Promise<Answer> {
  return api.send('PATCH', `${configMaps}/a`, { body, query: query ?? {}, headers: { 'content-type': `application/${type}` } })
}
/** The name must be free for POST. */
const bodyFor = (way: string, rest: string) =>
  `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"${way === 'POST' ? 'new' : 'a'}"},${rest}}`
const rules: Readonly<Record<string, string>> = {
  POST: 'P206',
  PUT: 'P206',
  'merge patch': 'P207',
  'strategic patch': 'P207',
  apply: 'P209',
}

describe('unknown and repeated fields [P202, P203, P205, P206, P207, P208, P209, P309]', () => {
  const matrix = Object.keys(ways).flatMap((way) => levels.map((level) => [way, level] as const))

  it.each(matrix)('%s with fieldValidation=%s', async (way, fieldValidation) => {
    const body = bodyFor(way, '"data":{"k":"w"},"extra":1,"more":{"x":2}')
    const answer = await ways[way]?.(body, { fieldValidation })
    if (fieldValidation === 'Strict') {
      expect([answer?.status, answer?.json.reason], rules[way]).toEqual([400, 'BadRequest'])
      expect(answer?.json.message).toMatch(/unknown field "extra", unknown field "more"/)
      // Clients that support apply match the messages of field management.
      if (way === 'apply') expect(answer?.json.message).toMatch(/\.extra: field not declared in schema/)
      expect((await api.get(`${configMaps}/${way === 'POST' ? 'new' : 'a'}`)).json.data).toEqual(
        way === 'POST' ? undefined : { k: 'v' },
      )
      return
    }
    expect(answer?.status, answer?.text).toBe(way === 'POST' ? 201 : way === 'apply' ? 409 : 200)
    if (way === 'apply') return
    expect(answer?.json.data).toEqual({ k: 'w' })
    expect(answer?.json).not.toHaveProperty('extra')
    expect(answer?.warnings).toEqual(fieldValidation === 'Warn' ? ['unknown field "extra"', 'unknown field "more"'] : [])
  })

  it('apply drops them, too, without ownership [P209]', async () => {
    for (const [fieldValidation, warnings] of [
      ['Ignore', []],
      ['Warn', ['unknown field "extra"']],
    ] as const) {
      const answer = await api.send('PATCH', `${configMaps}/applied-${fieldValidation.toLowerCase()}`, {
        query: { fieldManager: 'me', fieldValidation },
        headers: { 'content-type': 'application/apply-patch+yaml' },
        body: `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: applied-${fieldValidation.toLowerCase()}}\ndata: {k: v}\nextra: 1\n`,
      })
      expect([answer.status, answer.warnings], answer.text).toEqual([201, warnings])
      expect(JSON.stringify(answer.json)).not.toContain('extra')
    }
  })

  it('a strict apply names every repeated and every unknown field [P208, P209]', async () => {
    const strict = async (body: string) => {
      const answer = await api.send('PATCH', `${configMaps}/strictly`, {
        query: { fieldManager: 'me', fieldValidation: 'Strict' },
        headers: { 'content-type': 'application/apply-patch+yaml' },
        body,
      })
      expect([answer.status, answer.json.reason]).toEqual([400, 'BadRequest'])
      return answer.json.message
    }
    const head = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: strictly}\n'
    const repeated = 'data:\n  a: "1"\n  a: "2"\n  b: "1"\n  b: "2"\n'
    const lines = 'yaml: unmarshal errors:\n  line 6: key "a" already set in map\n  line 8: key "b" already set in map'
    expect(await strict(head + repeated)).toBe(`error strict decoding YAML: error converting YAML to JSON: ${lines}`)
    expect(await strict(`${head}${repeated}extra: 1\nshade: 2\n`)).toBe(
      'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: ' +
        `${lines}, unknown field "extra", unknown field "shade": ` +
        '.extra: field not declared in schema, .shade: field not declared in schema',
    )
    expect((await api.get(`${configMaps}/strictly`)).status).toBe(404)
  })

  it.each(levels)('the last of repeated fields wins: %s [P203]', async (fieldValidation) => {
    const body = '{"metadata":{"name":"twice","name":"last"},"data":{"k":"1"},"data":{"k":"2","k":"3"}}'
    const answer = await api.send('POST', configMaps, { body, query: { fieldValidation } })
    if (fieldValidation === 'Strict') {
      expect([answer.status, answer.json.message]).toEqual([400, expect.stringContaining('duplicate field "metadata.name"')])
      expect(answer.json.message).toContain('duplicate field "data"')
      return
    }
    expect([answer.status, answer.json.metadata.name, answer.json.data]).toEqual([201, 'last', { k: '3' }])
    expect(answer.warnings.length > 0).toBe(fieldValidation === 'Warn')
    if (fieldValidation === 'Warn') expect(answer.warnings).toContain('duplicate field "metadata.name"')
  })

  it('reports each field once, by path, in order [P205, P208]', async () => {
    const body = {
      metadata: { name: 'p', surprise: 1 },
      spec: { containers: [{ name: 'c', image: 'i', colour: 'red' }], speed: 1 },
      shape: {},
    }
    const expected = [
      'unknown field "metadata.surprise"',
      'unknown field "shape"',
      'unknown field "spec.containers[0].colour"',
      'unknown field "spec.speed"',
    ]
    const warned = await api.post(pods, body)
    expect([warned.status, [...warned.warnings].sort()]).toEqual([201, expected])
    const strict = await api.post(
      pods,
      { ...body, metadata: { name: 'q', surprise: 1 } },
      { query: { fieldValidation: 'Strict' } },
    )
    expect(strict.status).toBe(400)
    for (const text of expected) expect(strict.json.message).toContain(text)
    expect(strict.json.message).toMatch(/^Pod in version "v1" cannot be handled as a Pod: strict decoding error: /)
  })

  it('the default is Warn [P162]', async () => {
    for (const query of [{}, { fieldValidation: '' }]) {
      const answer = await api.put(`${configMaps}/a`, { metadata: { name: 'a' }, extra: 1 }, { query })
      expect([answer.status, answer.warnings]).toEqual([200, ['unknown field "extra"']])
    }
  })

  it('a JSON patch that adds an unknown field [P207]', async () => {
    const add = (fieldValidation: Level) =>
      patch('json-patch+json', JSON.stringify([{ op: 'add', path: '/extra', value: 1 }]), { fieldValidation })
    expect((await add('Strict')).json).toMatchObject({
      code: 400,
      reason: 'BadRequest',
      message: expect.stringContaining('unknown field "extra"'),
    })
    expect((await add('Warn')).warnings).toEqual(['unknown field "extra"'])
    expect(await add('Ignore')).toMatchObject({ status: 200, warnings: [] })
  })

  it('the same for subresources [P206]', async () => {
    await api.post(pods, { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } })
    const strict = await api.patch(`${pods}/p/status`, { status: { mood: 'good' } }, { query: { fieldValidation: 'Strict' } })
    expect(strict.json).toMatchObject({ code: 400, message: expect.stringContaining('unknown field "status.mood"') })
    const evicted = await api.post(
      `${pods}/p/eviction`,
      { metadata: { name: 'p' }, why: 'x' },
      { query: { fieldValidation: 'Strict' } },
    )
    expect(evicted.json).toMatchObject({ code: 400, message: expect.stringContaining('unknown field "why"') })
  })
})

describe('invalid fields', () => {
  it.each(levels)('types are checked at every level: %s [P200, P210]', async (fieldValidation) => {
    for (const [way, send] of Object.entries(ways)) {
      for (const rest of ['"data":{"k":1}', '"data":[]', '"immutable":"yes"', '"extra":1,"data":7']) {
        const answer = await send(bodyFor(way, rest), { fieldValidation })
        expect([answer.status, answer.json.reason], `${way} ${rest}: ${answer.text}`).toEqual([400, 'BadRequest'])
      }
    }
    expect((await api.get(`${configMaps}/a`)).json.data).toEqual({ k: 'v' })
  })

  it.each(levels)('malformed bodies are rejected at every level: %s [P210]', async (fieldValidation) => {
    for (const body of ['', '{', 'null', '[]', '"x"', '{"metadata":{"name":"x"}} {}', '\u0000', 'a: b']) {
      const answer = await api.send('POST', configMaps, { body, query: { fieldValidation } })
      expect([400, 422], JSON.stringify(body)).toContain(answer.status)
      expect(answer.json).toMatchObject({ kind: 'Status', status: 'Failure' })
    }
  })

  it.each(levels)('a missing required field is an error at every level: %s [P201, P210]', async (fieldValidation) => {
    const query = { fieldValidation }
    const pod = await api.post(pods, { metadata: { name: 'p' }, spec: { containers: [{ image: 'i' }] } }, { query })
    expect(pod.json).toMatchObject({
      code: 422,
      reason: 'Invalid',
      details: { causes: [{ reason: 'FieldValueRequired', field: 'spec.containers[0].name' }] },
    })
    const empty = await api.post(pods, { metadata: { name: 'p' }, spec: {} }, { query })
    expect(empty.json).toMatchObject({
      code: 422,
      details: { causes: [{ reason: 'FieldValueRequired', field: 'spec.containers' }] },
    })
  })
})

describe('custom resources', () => {
  const schema = {
    type: 'object',
    properties: {
      spec: {
        type: 'object',
        required: ['size'],
        properties: { size: { type: 'integer' }, free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    },
  }
  let custom: TestApi
  beforeAll(async () => {
    custom = await startApi({ types: catalog.types, kinds: [...catalog.definitions, ...widgetKinds(schema)] })
  })
  afterAll(() => custom.close())

  it('unknown fields are kept only where the schema preserves them [P204]', async () => {
    const made = await custom.post(widgets, widget('a', { size: 1, lost: true, free: { any: { thing: [1, 'x'] } } }))
    expect([made.status, made.json.spec]).toEqual([201, { size: 1, free: { any: { thing: [1, 'x'] } } }])
    expect(made.warnings).toEqual(['unknown field "spec.lost"'])
    const strict = await custom.post(widgets, widget('b', { size: 1, lost: true, free: { any: 1 } }), {
      query: { fieldValidation: 'Strict' },
    })
    expect([strict.status, strict.json.message]).toEqual([400, expect.stringContaining('unknown field "spec.lost"')])
    expect(
      (await custom.post(widgets, widget('c', { size: 1, free: { any: 1 } }), { query: { fieldValidation: 'Strict' } })).status,
    ).toBe(201)
  })

  it('types and required fields come from the schema [P200, P201]', async () => {
    for (const fieldValidation of levels) {
      const missing = await custom.post(widgets, widget('d', {}), { query: { fieldValidation } })
      expect(missing.json).toMatchObject({
        code: 422,
        details: { causes: [{ reason: 'FieldValueRequired', field: 'spec.size' }] },
      })
      const typed = await custom.post(widgets, widget('d', { size: 'big' }), { query: { fieldValidation } })
      expect(typed.json).toMatchObject({
        code: 422,
        details: { causes: [{ reason: 'FieldValueTypeInvalid', field: 'spec.size' }] },
      })
    }
  })
})
