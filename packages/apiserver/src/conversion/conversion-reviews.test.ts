import type { JsonObject } from '@krmkit/meta'
import { afterEach, describe, expect, it } from 'vitest'
import {
  at,
  type Body,
  closeServers,
  converted,
  counting,
  definition,
  group,
  remote,
  review,
  start,
  success,
  url,
  widget,
} from './testing/converted-widgets.ts'

afterEach(closeServers)

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

  it('have one object each, also those of a list', async () => {
    const seen: string[][] = []
    const { call } = await start(
      remote((request) => {
        seen.push(request.objects.map((object: Body) => object.metadata.name))
        return review('v1', success(request, [first(request)]))
      }),
    )
    for (const name of ['a', 'b', 'c']) await call('POST', at('v1'), widget(name, { spec: { size: 1 } }, 'v1'))
    expect((await call('GET', at('v1beta1'))).items.map((item: Body) => [item.metadata.name, item.size])).toEqual([
      ['a', 1],
      ['b', 1],
      ['c', 1],
    ])
    expect(seen).toEqual([['a'], ['b'], ['c']])
  })

  it('of a list fail with the failure of its first object, and are not continued', async () => {
    let calls = 0
    const { call } = await start(
      remote((request) => {
        calls++
        const { name } = request.objects[0].metadata
        return review('v1', name < 'b' ? success(request, [first(request)]) : success(request, []))
      }),
    )
    const names = [...'abcdefghijklmnopqrstuvwxyz']
    for (const name of names) await call('POST', at('v1'), widget(name, { spec: { size: 1 } }, 'v1'))
    expect((await call('GET', at('v1beta1'))).message).toBe(
      `conversion webhook for ${group}/v1, Kind=Widget returned 0 objects, expected 1`,
    )
    expect(calls).toBeLessThan(names.length)
  })

  it('have no resourceVersion of objects that are read from or written to storage', async () => {
    const seen: (string | undefined)[] = []
    const { call } = await start(
      remote((request) => {
        seen.push(request.objects[0].metadata.resourceVersion)
        return review('v1', success(request, [first(request)]))
      }),
    )
    const made = await call('POST', at('v1beta1'), widget('a', { size: 3 }))
    expect(seen).toEqual([undefined, undefined])
    expect(made.metadata.resourceVersion).toMatch(/^[0-9]+$/)
    expect((await call('GET', at('v1', 'a'))).metadata.resourceVersion).toBe(made.metadata.resourceVersion)
    seen.length = 0
    const merge = { 'content-type': 'application/merge-patch+json' }
    const patched = await call('PATCH', at('v1beta1', 'a'), { size: 4 }, merge)
    expect(seen).toEqual([undefined, undefined])
    expect(Number(patched.metadata.resourceVersion)).toBeGreaterThan(Number(made.metadata.resourceVersion))
    seen.length = 0
    await call('PATCH', at('v1beta1', 'a'), { size: 5 }, merge, 'dryRun=All')
    expect(seen).toEqual([patched.metadata.resourceVersion, patched.metadata.resourceVersion])
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

  it('accept a v1beta1 response without kind and uid', async () => {
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
