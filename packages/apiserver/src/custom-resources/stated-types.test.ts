import type { JsonObject } from '@krmkit/meta'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Answer, type SampleServer, sampleServer } from '../testing/sample-server.ts'
import { definitionsPath, eventually, widget, widgetDefinition, widgetVersion } from './testing/widgets.ts'

/** Bodies that state another kind or version than their path. */

const widgets = '/apis/g.example.com/v1/namespaces/default/widgets'

let sample: SampleServer

beforeEach(async () => {
  sample = await sampleServer()
  const text = { a: { type: 'string' } }
  const versions = [widgetVersion('v1', text, true), { ...widgetVersion('v2', text, false), served: false }]
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

  it.each(['Warn', 'Strict'])('is refused for the kind alone where the rest holds, at level %s', async (level) => {
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

  it('has none in another group', async () => {
    const answer = await put('one', { apiVersion: 'other.example.com/v9', spec: {} })
    expect([answer.status, answer.headers['warning']]).toEqual([400, undefined])
  })
})
