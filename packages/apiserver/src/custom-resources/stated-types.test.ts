import type { JsonObject } from '@krmkit/meta'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Answer, type SampleServer, sampleServer } from '../testing/sample-server.ts'
import { definitionsPath, eventually, widget, widgetDefinition, widgetVersion } from './testing/widgets.ts'

/** Bodies whose kind or version differs from the path. */

const widgets = '/apis/g.example.com/v1/namespaces/default/widgets'

let sample: SampleServer

beforeEach(async () => {
  sample = await sampleServer()
  const text = { a: { type: 'string' } }
  const rules = [{ rule: '!has(self.a) || self.a != "x"', message: 'no x' }]
  const spec = { type: 'object', properties: { ...text, b: { type: 'integer' } }, 'x-kubernetes-validations': rules }
  const status = { type: 'object', properties: { n: { type: 'integer' } } }
  const schema = { openAPIV3Schema: { type: 'object', properties: { spec, status } } }
  const versions = [
    { name: 'v1', served: true, storage: true, subresources: { status: {} }, schema },
    { ...widgetVersion('v2', text, false), served: false },
  ]
  await sample.ask(definitionsPath, { method: 'POST', body: widgetDefinition(versions) })
  await eventually(
    () => sample.ask(widgets),
    ({ status }) => status === 200,
  )
  await sample.ask(widgets, { method: 'POST', body: widget('one') })
})

afterEach(() => sample.server.close())

const put = (name: string, rest: JsonObject, query = ''): Promise<Answer> =>
  sample.ask(`${widgets}/${name}${query}`, { method: 'PUT', body: widget(name, rest) })

describe('a PUT of another kind', () => {
  const other = (metadata: JsonObject): JsonObject => ({ kind: 'Other', metadata, spec: { unknown: 1 } })

  it.each<[string, JsonObject, string]>([
    ['one', { name: 'two' }, 'the name of the object (two) does not match the name on the URL (one)'],
    [
      'one',
      { name: 'one', namespace: 'n' },
      'the namespace of the provided object does not match the namespace sent on the request',
    ],
    ['none', { name: 'none' }, 'widgets.g.example.com "none" not found'],
    ['one', { name: 'one' }, 'metadata.resourceVersion: Invalid value: 0x0: must be specified for an update'],
    ['one', { name: 'one', resourceVersion: '1' }, 'the object has been modified'],
    ['one', { name: 'one', uid: 'x' }, 'Precondition failed: UID in precondition: x'],
  ])('is refused for what precedes validation: %s %j', async (name, metadata, message) => {
    const answer = await put(name, other(metadata))
    expect(answer.json.message).toContain(message)
    expect(answer.headers['warning']).toBeUndefined()
  })

  it.each(['Warn', 'Strict'])('is refused only for its kind when it is valid otherwise, at level %s', async (level) => {
    const { resourceVersion } = (await sample.ask(`${widgets}/one`)).json.metadata
    const answer = await put('one', other({ name: 'one', resourceVersion }), `?fieldValidation=${level}`)
    expect([answer.status, answer.json.message, answer.json.details.kind]).toEqual([
      422,
      'Other.g.example.com "one" is invalid: kind: Invalid value: "Other": must be Widget',
      'Other',
    ])
    expect(answer.headers['warning']).toBeUndefined()
  })
})

describe('an object of another type', () => {
  const wrongKind = 'kind: Invalid value: "Other": must be Widget'
  const wrongVersion = (version: string) => `apiVersion: Invalid value: "${version}": must be g.example.com/v1`
  const rule = 'spec: Invalid value: "object": no x'

  const patch = (change: JsonObject, at = 'one', type = 'merge-patch'): Promise<Answer> =>
    sample.ask(`${widgets}/${at}`, { method: 'PATCH', body: change, headers: { 'content-type': `application/${type}+json` } })

  it('gets the errors of metadata, type and rules after a PUT, but none of the schema', async () => {
    const { resourceVersion } = (await sample.ask(`${widgets}/one`)).json.metadata
    const metadata = { name: 'one', resourceVersion, labels: { a: '!' } }
    const { json } = await put('one', { kind: 'Other', metadata, spec: { a: 'x', b: 'no number' } })
    expect(json.message).toMatch(/^Other\.g\.example\.com "one" is invalid: \[metadata\.labels: Invalid value: "!": /)
    expect(json.message).toContain(`, ${wrongKind}, ${rule}]`)
    expect(json.details).toMatchObject({ name: 'one', group: 'g.example.com', kind: 'Other' })
    // Both metadata checks report the label.
    expect(json.details.causes).toHaveLength(4)
  })

  it('gets the errors of type and rules after a POST', async () => {
    const body = { ...widget('two'), kind: 'Other', metadata: { name: 'two', labels: { a: '!' } }, spec: { a: 'x', b: 'y' } }
    const { json } = await sample.ask(widgets, { method: 'POST', body })
    expect(json.message).toBe(`Other.g.example.com "two" is invalid: [${wrongKind}, ${rule}]`)
  })

  it.each<[JsonObject, string]>([
    [{ kind: 'Other' }, `Other.g.example.com "one" is invalid: ${wrongKind}`],
    [{ apiVersion: 'g.example.com/v2' }, `Widget.g.example.com "one" is invalid: ${wrongVersion('g.example.com/v2')}`],
    [{ apiVersion: 'v1' }, `Widget "one" is invalid: ${wrongVersion('v1')}`],
    [{ apiVersion: '/v1' }, `Widget "one" is invalid: ${wrongVersion('v1')}`],
    [{ apiVersion: 'x/v1', spec: { a: 'x' } }, `Widget.x "one" is invalid: [${wrongVersion('x/v1')}, ${rule}]`],
    [{ apiVersion: 'x/v1', kind: 'Other', spec: { c: 1 } }, `Other.x "one" is invalid: [${wrongKind}, ${wrongVersion('x/v1')}]`],
  ])('is refused after the merge patch %j', async (change, message) => {
    const { status, json, headers } = await patch(change)
    expect([status, json.message, headers['warning']]).toEqual([422, message, undefined])
  })

  it.each<[JsonObject, number, string]>([
    [{ kind: 'Other', metadata: { name: 'two' } }, 400, 'the name of the object (two) does not match the name on the URL (one)'],
    [{ kind: null }, 400, `Object 'Kind' is missing in '{"apiVersion":"g.example.com/v1","metadata":{`],
    [
      { kind: 5 },
      400,
      "couldn't get version/kind; json parse error: json: cannot unmarshal number into Go struct field .kind of",
    ],
    [{ apiVersion: 'a/b/c' }, 400, 'unexpected GroupVersion string: a/b/c'],
    [{ apiVersion: null }, 500, "Internal error occurred: Object 'apiVersion' is missing in 'object has no apiVersion field'"],
  ])('is not made by the merge patch %j', async (change, status, message) => {
    const answer = await patch(change)
    expect([answer.status, answer.json.message.slice(0, message.length)]).toEqual([status, message])
  })

  it('has no effect in a patch of the status', async () => {
    const { status, json } = await patch({ kind: 'Other', apiVersion: 'x/v1', status: { n: 1 } }, 'one/status')
    expect([status, json.kind, json.apiVersion, json.status]).toEqual([200, 'Widget', 'g.example.com/v1', { n: 1 }])
  })
})

describe('a body of another version', () => {
  const mismatch = (version: string) =>
    `the API version in the data (g.example.com/${version}) does not match the expected API version (g.example.com/v1)`

  it.each([
    ['v2', 'spec.b'],
    ['v9', 'spec'],
  ])('has the unknown fields of %s', async (version, unknown) => {
    const body = { apiVersion: `g.example.com/${version}`, spec: { a: 'x', b: 1 } }
    const warned = await put('one', body)
    expect([warned.status, warned.json.message]).toEqual([400, mismatch(version)])
    expect(warned.headers['warning']).toEqual([`299 - "unknown field \\"${unknown}\\""`])
    const strict = `Widget in version "${version}" cannot be handled as a Widget: strict decoding error: unknown field "${unknown}"`
    expect((await put('one', body, '?fieldValidation=Strict')).json.message).toBe(strict)
    const ignored = await put('one', body, '?fieldValidation=Ignore')
    expect([ignored.json.message, ignored.headers['warning']]).toEqual([mismatch(version), undefined])
  })

  it('gets no errors when the version is of another group', async () => {
    const answer = await put('one', { apiVersion: 'other.example.com/v9', spec: {} })
    expect([answer.status, answer.headers['warning']]).toEqual([400, undefined])
  })
})
