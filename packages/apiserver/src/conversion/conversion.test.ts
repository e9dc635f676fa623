import type { ApiObject, JsonObject } from '@krmkit/meta'
import type { WebhookTransport } from '@krmkit/protocol'
import { memoryStorage } from '@krmkit/storage'
import { afterEach, describe, expect, it } from 'vitest'
import { readBodyText } from '../aggregation/body-text.ts'
import { definitionsPath, widgetDefinition } from '../custom-resources/testing/widgets.ts'
import { createApiServer, type EmbeddedServer } from '../server.ts'
import type { ConversionOptions } from './interfaces.ts'

const servers: EmbeddedServer[] = []
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()))
})

// biome-ignore lint/suspicious/noExplicitAny: responses are untyped JSON
type Body = any
type Call = (method: string, path: string, body?: unknown, headers?: Record<string, string>, query?: string) => Promise<Body>

const url = 'https://hooks.example.com/convert'
const group = 'g.example.com'

/** v1 has `spec.size`, v1beta1 has `size`. */
function converted(object: Body, desired: string): ApiObject {
  const { spec, size, ...rest } = structuredClone(object) as Body
  const number = spec?.size ?? size
  return { ...rest, apiVersion: desired, ...(desired.endsWith('/v1') ? { spec: { size: number } } : { size: number }) }
}

const schema = (properties: JsonObject) => ({ openAPIV3Schema: { type: 'object', properties } })
const size = { type: 'integer' }

function definition(stored: 'v1' | 'v1beta1' = 'v1', reviews: string[] = ['v1']): JsonObject {
  return widgetDefinition(
    [
      {
        name: 'v1',
        storage: stored === 'v1',
        schema: schema({ spec: { type: 'object', properties: { size } } }),
        selectableFields: [{ jsonPath: '.spec.size' }],
        additionalPrinterColumns: [{ name: 'Size', type: 'integer', jsonPath: '.spec.size' }],
      },
      { name: 'v1beta1', storage: stored === 'v1beta1', schema: schema({ size: { ...size, minimum: 1 } }) },
    ],
    { conversion: { strategy: 'Webhook', webhook: { clientConfig: { url }, conversionReviewVersions: reviews } } },
  )
}

const at = (version: string, name = '') => `/apis/${group}/${version}/namespaces/default/widgets${name === '' ? '' : `/${name}`}`
const widget = (name: string, members: JsonObject, version = 'v1beta1'): JsonObject => ({
  apiVersion: `${group}/${version}`,
  kind: 'Widget',
  metadata: { name },
  ...members,
})

async function start(conversion: ConversionOptions, body: JsonObject = definition()) {
  const storage = memoryStorage()
  const server = await createApiServer({ storage, conversion })
  servers.push(server)
  const call: Call = async (method, path, given, headers = {}, query = '') => {
    const bytes = new TextEncoder().encode(given === undefined ? '' : JSON.stringify(given))
    const response = await server.handle({
      method,
      path,
      query,
      headers: { 'content-type': 'application/json', accept: 'application/json', ...headers },
      body: async () => bytes,
      peer: {},
      signal: new AbortController().signal,
    })
    if (response.body.kind === 'stream') return response.body.stream
    const text = await readBodyText(response, Number.POSITIVE_INFINITY)
    return text.startsWith('{') ? JSON.parse(text) : text
  }
  await call('POST', definitionsPath, body)
  for (let turn = 0; turn < 200 && (await call('GET', at('v1'))).kind !== 'WidgetList'; turn++)
    await new Promise((resolve) => setImmediate(resolve))
  return { call, storage }
}

function counting(calls: number[] = []): { reach: ConversionOptions; calls: number[] } {
  const reach = {
    inProcess: {
      [url]: (objects: readonly unknown[], desired: string) => {
        calls.push(objects.length)
        return objects.map((object) => converted(object, desired))
      },
    },
  }
  return { reach, calls }
}

/** A transport with a webhook; `answer` computes the response body from the request. */
function remote(answer: (request: Body, review: Body) => unknown, paths: string[] = []): ConversionOptions {
  const transport: WebhookTransport = {
    open:
      () =>
      async ({ body, path }) => {
        paths.push(path)
        const review = JSON.parse(body) as Body
        const given = answer(review.request, review)
        const text = typeof given === 'string' ? given : JSON.stringify(given)
        return { status: 200, headers: { 'content-type': 'application/json' }, body: new TextEncoder().encode(text) }
      },
  }
  return { transport }
}

const review = (version: string, response: unknown) => ({
  apiVersion: `apiextensions.k8s.io/${version}`,
  kind: 'ConversionReview',
  response,
})
const success = (request: Body, convertedObjects: unknown[]) => ({
  uid: request.uid,
  result: { status: 'Success' },
  convertedObjects,
})

describe('versions converted by webhooks', () => {
  it('are read and written in the version of the request, and stored in the storage version', async () => {
    const { reach } = counting()
    const { call, storage } = await start(reach)
    const made = await call('POST', at('v1beta1'), widget('a', { size: 3 }))
    expect(made).toMatchObject({ apiVersion: `${group}/v1beta1`, size: 3, metadata: { generation: 1 } })
    expect(made).not.toHaveProperty('spec')
    expect((await call('GET', at('v1', 'a'))).spec).toEqual({ size: 3 })
    const { entries } = await storage.list({ prefix: `/${group}/widgets/` })
    expect(JSON.parse(new TextDecoder().decode(entries[0]!.value))).toMatchObject({
      apiVersion: `${group}/v1`,
      spec: { size: 3 },
    })
    const merge = { 'content-type': 'application/merge-patch+json' }
    const patched = await call('PATCH', at('v1beta1', 'a'), { size: 4 }, merge)
    expect(patched).toMatchObject({ size: 4, metadata: { generation: 2 } })
    const again = await call('PATCH', at('v1beta1', 'a'), { size: 4 }, merge)
    expect(again.metadata.resourceVersion).toBe(patched.metadata.resourceVersion)
    expect((await call('PUT', at('v1beta1', 'a'), { ...patched, size: 0 })).details.causes[0].field).toBe('size')
    expect((await call('DELETE', at('v1beta1', 'a'))).status).toBe('Success')
  })

  it('need one call per list, one conversion per revision, and none for the storage version', async () => {
    const { reach, calls } = counting()
    const { call } = await start(reach)
    for (const name of ['a', 'b', 'c']) await call('POST', at('v1'), widget(name, { spec: { size: 1 } }, 'v1'))
    expect(calls).toEqual([])
    expect((await call('GET', at('v1beta1'))).items.map((item: Body) => item.size)).toEqual([1, 1, 1])
    expect(calls).toEqual([3])
    await call('GET', at('v1beta1'))
    await call('GET', at('v1beta1', 'b'))
    expect(calls).toEqual([3])
  })

  it('are converted to the storage version and back by dry runs', async () => {
    const { reach, calls } = counting()
    const { call } = await start(reach)
    const dry = async (method: string, version: string, body: object, type = 'application/json') => {
      calls.length = 0
      const path = at(version, method === 'POST' ? undefined : 'a')
      const answer = await call(method, path, body, { 'content-type': type }, 'dryRun=All')
      return [answer.size ?? answer.spec.size, calls.length]
    }
    expect(await dry('POST', 'v1beta1', widget('a', { size: 3 }))).toEqual([3, 2])
    expect(await dry('POST', 'v1', widget('a', { spec: { size: 3 } }, 'v1'))).toEqual([3, 0])
    await call('POST', at('v1beta1'), widget('a', { size: 3 }))
    expect(await dry('PATCH', 'v1beta1', { size: 4 }, 'application/merge-patch+json')).toEqual([4, 2])
    expect((await call('GET', at('v1beta1', 'a'))).size).toBe(3)
  })

  it('have columns, selectable fields and watch events of the version of the request', async () => {
    const { reach } = counting()
    const { call } = await start(reach, definition('v1beta1'))
    await call('POST', at('v1beta1'), widget('a', { size: 3 }))
    await call('POST', at('v1beta1'), widget('b', { size: 4 }))
    const table = await call('GET', at('v1'), undefined, { accept: 'application/json;as=Table;g=meta.k8s.io;v=v1' })
    expect(table.rows.map(({ cells }: Body) => cells)).toEqual([
      ['a', 3],
      ['b', 4],
    ])
    expect(
      (await call('GET', at('v1'), undefined, {}, 'fieldSelector=spec.size%3D4')).items.map((i: Body) => i.metadata.name),
    ).toEqual(['b'])
    const stream = (await call('GET', at('v1'), undefined, {}, 'watch=true&resourceVersion=0')) as AsyncIterable<Uint8Array>
    let text = ''
    for await (const piece of stream) {
      text += new TextDecoder().decode(piece)
      if (text.trimEnd().split('\n').length === 2) break
    }
    const events = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Body)
    expect(events.map(({ object }) => [object.apiVersion, object.spec.size])).toEqual([
      [`${group}/v1`, 3],
      [`${group}/v1`, 4],
    ])
  })

  it('allow a change of the storage version: old objects are readable, and rewritten on update', async () => {
    const { reach } = counting()
    const { call, storage } = await start(reach, definition('v1beta1'))
    await call('POST', at('v1beta1'), widget('a', { size: 3 }))
    const old = await call('GET', `${definitionsPath}/widgets.${group}`)
    const { spec } = definition('v1') as Body
    const put = await call('PUT', `${definitionsPath}/widgets.${group}`, {
      ...old,
      spec: { ...old.spec, versions: spec.versions },
    })
    expect(put.status.storedVersions).toEqual(['v1beta1', 'v1'])
    for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve))
    const shown = await call('GET', at('v1', 'a'))
    expect(shown.spec).toEqual({ size: 3 })
    const written = await call('PUT', at('v1', 'a'), shown)
    expect(written.metadata.resourceVersion).not.toBe(shown.metadata.resourceVersion)
    const { entries } = await storage.list({ prefix: `/${group}/widgets/` })
    expect(new TextDecoder().decode(entries[0]!.value)).toContain(`"apiVersion":"${group}/v1"`)
  })
})

describe('conversion reviews', () => {
  it.each(['v1', 'v1beta1'])('send a uid in version %s, with a timeout of 30 seconds', async (version) => {
    const paths: string[] = []
    const seen: Body[] = []
    const reach = remote((request, sentRequest) => {
      seen.push(sentRequest)
      return review(
        version,
        success(
          request,
          request.objects.map((object: Body) => converted(object, request.desiredAPIVersion)),
        ),
      )
    }, paths)
    const { call } = await start(reach, definition('v1', ['v9', version]))
    expect((await call('POST', at('v1beta1'), widget('a', { size: 3 }))).size).toBe(3)
    expect(paths[0]).toBe('/convert?timeout=30s')
    expect(seen[0]).toMatchObject({
      apiVersion: `apiextensions.k8s.io/${version}`,
      kind: 'ConversionReview',
      request: { desiredAPIVersion: `${group}/v1`, uid: expect.stringMatching(/^[0-9a-f-]{36}$/) },
    })
  })

  const first = (request: Body) => converted(request.objects[0], request.desiredAPIVersion) as Body
  const changed = (request: Body, metadata: JsonObject) =>
    success(request, [{ ...first(request), metadata: { ...first(request).metadata, ...metadata } }])

  it.each<[string, (request: Body) => unknown, string]>([
    ['no response', () => undefined, 'failed: no response provided'],
    ['another uid', (r) => ({ ...success(r, []), uid: 'x' }), 'failed: expected response.uid='],
    ['a failure', (r) => ({ uid: r.uid, result: { status: 'Failed', message: 'too old' } }), 'failed: too old'],
    ['no status', (r) => ({ uid: r.uid }), "failed: response.result.status was '', not 'Success'"],
    [
      'an object that is too deep',
      (r) => success(r, [{ ...first(r), spec: { size: 3, deep: JSON.parse('['.repeat(1000) + ']'.repeat(1000)) } }]),
      "failed: couldn't get version/kind; json parse error: invalid character '[' exceeded max depth",
    ],
    ['too few objects', (r) => success(r, []), 'returned 0 objects, expected 1'],
    [
      'another version',
      (r) => success(r, [r.objects[0]]),
      `returned invalid object at index 0: invalid groupVersion (expected ${group}/v1, received ${group}/v1beta1)`,
    ],
    [
      'another kind',
      (r) => success(r, [{ ...first(r), kind: 'Gadget' }]),
      'returned invalid object at index 0: invalid kind (expected Widget, received Gadget)',
    ],
    ['another name', (r) => changed(r, { name: 'b' }), 'returned invalid object: must have the same name: a != b'],
    ['another uid of the object', (r) => changed(r, { uid: 'b' }), 'returned invalid object: must have the same UID: '],
    [
      'labels with non-string values',
      (r) => changed(r, { labels: { a: 1 } }),
      'returned invalid metadata: metadata.labels[a] must be a string, but is int64 in converted object',
    ],
    [
      'invalid labels',
      (r) => changed(r, { labels: { a: 'b c' } }),
      'returned invalid metadata: metadata.labels: Invalid value: ',
    ],
    [
      'invalid annotations',
      (r) => changed(r, { annotations: { 'a b': 'c' } }),
      'returned invalid metadata: metadata.annotation: Invalid value: "a b"',
    ],
  ])('reject %s', async (_name, response, expected) => {
    const { call } = await start(remote((request) => review('v1', response(request))))
    const answer = await call('POST', at('v1beta1'), widget('a', { size: 3 }))
    expect(answer).toMatchObject({ kind: 'Status', status: 'Failure', code: 500 })
    expect(answer).not.toHaveProperty('reason')
    expect(answer.message).toContain(`conversion webhook for ${group}/v1beta1, Kind=Widget ${expected}`)
  })

  it.each<[string, string, (response: JsonObject) => JsonObject, string]>([
    [
      'a review of the other version',
      'v1',
      (response) => review('v1beta1', response) as JsonObject,
      'converting (v1beta1.ConversionReview) to (v1.ConversionReview): unknown conversion',
    ],
    [
      'a newer review',
      'v1beta1',
      (response) => review('v1', response) as JsonObject,
      'converting (v1.ConversionReview) to (v1beta1.ConversionReview): unknown conversion',
    ],
    [
      'no version',
      'v1',
      (response) => ({ kind: 'ConversionReview', response }),
      'expected webhook response of apiextensions.k8s.io/v1, Kind=ConversionReview, got /, Kind=ConversionReview',
    ],
    [
      'another kind',
      'v1',
      (response) => ({ kind: 'Reply', apiVersion: 'apiextensions.k8s.io/v1', response }),
      'no kind "Reply" is registered for version "apiextensions.k8s.io/v1" in scheme "pkg/runtime/scheme.go:110"',
    ],
    [
      'a Status',
      'v1beta1',
      () => ({ kind: 'Status', apiVersion: 'v1', status: 'Failure', message: 'out of order' }),
      'converting (v1.Status) to (v1beta1.ConversionReview): unknown conversion',
    ],
    [
      'a text as its response',
      'v1',
      () => review('v1', 'x') as JsonObject,
      'json: cannot unmarshal string into Go struct field ConversionReview.response of type v1.ConversionResponse',
    ],
    [
      'a text as its objects',
      'v1',
      (response) => review('v1', { ...response, convertedObjects: 'x' }) as JsonObject,
      'json: cannot unmarshal string into Go struct field ConversionResponse.response.convertedObjects of type []runtime.RawExtension',
    ],
    [
      'a text as its result',
      'v1',
      (response) => review('v1', { ...response, result: 'x' }) as JsonObject,
      'json: cannot unmarshal string into Go struct field ConversionResponse.response.result of type v1.Status',
    ],
  ])('reject a response with %s to a request of version %s', async (_name, version, answer, expected) => {
    const { call } = await start(
      remote((request) => answer(success(request, [first(request)]) as JsonObject)),
      definition('v1', [version]),
    )
    const { code, message } = await call('POST', at('v1beta1'), widget('a', { size: 3 }))
    expect([code, message]).toEqual([500, `conversion webhook for ${group}/v1beta1, Kind=Widget failed: ${expected}`])
  })

  it('of version v1beta1 need no kind and no uid in the response', async () => {
    const { call } = await start(
      remote((request) => ({ response: { ...success(request, [first(request)]), uid: 'any' } })),
      definition('v1', ['v1beta1']),
    )
    expect((await call('POST', at('v1beta1'), widget('a', { size: 3 }))).size).toBe(3)
  })

  it('may be YAML', async () => {
    const { call } = await start(
      remote((request) => {
        const response = JSON.stringify(success(request, [first(request)]))
        return `apiVersion: apiextensions.k8s.io/v1\nkind: ConversionReview\nresponse: ${response}\n`
      }),
    )
    expect((await call('POST', at('v1beta1'), widget('a', { size: 3 }))).size).toBe(3)
  })

  it.each<[string, unknown, string]>([
    ['null', null, 'unexpected end of JSON input'],
    ['a text', 'x', 'json: cannot unmarshal string into Go value of type map[string]interface {}'],
    ['a list', [], 'json: cannot unmarshal array into Go value of type map[string]interface {}'],
    ['a bad version', { apiVersion: 'a/b/c', kind: 'W' }, `Object 'Kind' is missing in '{"apiVersion":"a/b/c","kind":"W"}'`],
  ])('report %s instead of an object without the name of the webhook', async (_, object, expected) => {
    const { call } = await start(remote((request) => review('v1', success(request, [object]))))
    expect((await call('POST', at('v1beta1'), widget('a', { size: 3 }))).message).toBe(expected)
  })

  it('report a missing kind without the name of the webhook', async () => {
    const { call } = await start(
      remote((request) => review('v1', success(request, [{ apiVersion: `${group}/v1`, metadata: {} }]))),
    )
    const { message } = await call('POST', at('v1beta1'), widget('a', { size: 3 }))
    expect(message).toBe(`Object 'Kind' is missing in '{"apiVersion":"${group}/v1","metadata":{}}'`)
  })

  it('keep changes of labels and annotations, and restore other metadata', async () => {
    const metadata = { labels: { by: 'hook' }, annotations: null, finalizers: ['g.example.com/x'], generation: 7 }
    const { call } = await start(remote((request) => review('v1', changed(request, metadata as never))))
    const made = await call('POST', at('v1beta1'), {
      ...widget('a', { size: 3 }),
      metadata: { name: 'a', annotations: { a: 'b' } },
    })
    expect(made.metadata.labels).toEqual({ by: 'hook' })
    expect(made.metadata).not.toHaveProperty('annotations')
    expect(made.metadata).not.toHaveProperty('finalizers')
    expect(made.metadata.generation).toBe(1)
  })

  it('fail lists and watches with a Status when no transport is configured', async () => {
    const { reach } = counting()
    let open = true
    const own = reach.inProcess![url]!
    const broken = {
      inProcess: { [url]: (...given: Parameters<typeof own>) => (open ? own(...given) : Promise.reject(new Error('gone'))) },
    }
    const { call } = await start(broken)
    await call('POST', at('v1'), widget('a', { spec: { size: 1 } }, 'v1'))
    open = false
    expect(await call('GET', at('v1beta1'))).toMatchObject({
      code: 500,
      message: `conversion webhook for ${group}/v1, Kind=Widget failed: gone`,
    })
    const stream = (await call('GET', at('v1beta1'), undefined, {}, 'watch=true&resourceVersion=0')) as AsyncIterable<Uint8Array>
    let text = ''
    for await (const piece of stream) text += new TextDecoder().decode(piece)
    expect(JSON.parse(text)).toMatchObject({ type: 'ERROR', object: { kind: 'Status', code: 500 } })
    open = true
    expect((await call('GET', at('v1beta1'))).items).toHaveLength(1)
  })
})
