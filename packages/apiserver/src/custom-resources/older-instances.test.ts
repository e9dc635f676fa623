import type { JsonObject } from '@krmkit/meta'
import { afterEach, describe, expect, it } from 'vitest'
import type { EmbeddedServer } from '../server/server.ts'
import { administrator, requestOf, type SampleServer, sampleServer } from '../testing/sample-server.ts'
import { definitionsPath, eventually, widget, widgetDefinition } from './testing/widgets.ts'

/** Instances that were stored before the storage version or the defaults of their definition changed, and were written since. */

const servers: EmbeddedServer[] = []

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()))
})

const merge = { 'content-type': 'application/merge-patch+json' }
const apply = { 'content-type': 'application/apply-patch+yaml' }
const at = (version: string, rest = '') => `/apis/g.example.com/${version}/namespaces/default/widgets${rest}`
const configuration = { ...widget('one', { spec: { size: 1 } }), apiVersion: 'g.example.com/v2' }
const color = (more: JsonObject = {}): JsonObject => ({ type: 'string', ...more })

const version = (name: string, properties: JsonObject, storage: boolean): JsonObject => ({
  name,
  served: true,
  storage,
  schema: {
    openAPIV3Schema: {
      type: 'object',
      properties: { spec: { type: 'object', properties: { size: { type: 'integer' }, ...properties } } },
    },
  },
  subresources: { scale: { specReplicasPath: '.spec.size', statusReplicasPath: '.status.size' } },
})

/** A server with the instance `one`, stored as v1. The storage version is v2 now, and `color` has a default in both versions. */
async function start(metadata: JsonObject = {}, { isDeleted = false } = {}): Promise<SampleServer> {
  const sample = await sampleServer()
  servers.push(sample.server)
  const { ask } = sample
  const before = [version('v1', { color: color() }, true), version('v2', { color: color() }, false)]
  await ask(definitionsPath, { method: 'POST', body: widgetDefinition(before) })
  await eventually(
    () => ask(at('v2')),
    ({ status }) => status === 200,
  )
  const one = { ...configuration, metadata: { name: 'one', ...metadata } }
  expect((await ask(`${at('v2', '/one')}?fieldManager=m`, { method: 'PATCH', headers: apply, body: one })).status).toBe(201)
  if (isDeleted) await ask(at('v1', '/one'), { method: 'DELETE' })
  const red = { color: color({ default: 'red' }) }
  const versions = [version('v1', red, false), version('v2', red, true)]
  await ask(`${definitionsPath}/widgets.g.example.com`, { method: 'PATCH', headers: merge, body: { spec: { versions } } })
  await eventually(
    () => ask(at('v2', '/one')),
    ({ json }) => json.spec.color === 'red',
  )
  return sample
}

/** The version and spec of `one` by every way of reading it. */
async function shown({ ask, server }: SampleServer, name: string): Promise<unknown[]> {
  const table = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' }
  const { body } = await server.handle(requestOf(`${at(name)}?watch=true`, { user: administrator }))
  if (body.kind !== 'stream') throw new Error('no stream')
  const events = body.stream[Symbol.asyncIterator]()
  const event = await events.next()
  await events.return?.()
  const objects = [
    (await ask(at(name, '/one'))).json,
    (await ask(at(name))).json.items[0],
    (await ask(`${at(name)}?fieldSelector=metadata.name%3Done`)).json.items[0],
    (await ask(`${at(name)}?includeObject=Object`, { headers: table })).json.rows[0].object,
    JSON.parse(new TextDecoder().decode(event.value).trim()).object,
  ]
  return objects.map(({ apiVersion, spec }) => ({ apiVersion, spec }))
}

const everywhere = (spec: JsonObject, name: string): unknown[] =>
  Array.from({ length: 5 }, () => ({ apiVersion: `g.example.com/${name}`, spec }))

describe('an instance that an earlier definition stored', () => {
  it.each<[string, string, object, JsonObject]>([
    ['its scale is patched', '/one/scale', { method: 'PATCH', headers: merge, body: { spec: { replicas: 4 } } }, { size: 4 }],
    ['its scale is not changed', '/one/scale', { method: 'PATCH', headers: merge, body: { spec: { replicas: 1 } } }, { size: 1 }],
    ['its scale is applied', '/one/scale?fieldManager=s&force=true', scaleApplied(3), { size: 3 }],
    ['an apply changes nothing', '/one?fieldManager=m', { method: 'PATCH', headers: apply, body: configuration }, { size: 1 }],
    ['a patch changes nothing', '/one', { method: 'PATCH', headers: merge, body: {} }, { size: 1 }],
  ])('is stored in the present form when %s', async (_, path, request, spec) => {
    const sample = await start()
    const before = await sample.ask(at('v2', '/one'))
    const written = await sample.ask(at('v2', path), request)
    expect(written.status).toBe(200)
    expect(await shown(sample, 'v2')).toEqual(everywhere({ color: 'red', ...spec }, 'v2'))
    expect(await shown(sample, 'v1')).toEqual(everywhere({ color: 'red', ...spec }, 'v1'))
    const after = await sample.ask(at('v2', '/one'))
    expect(after.json.metadata.resourceVersion).not.toBe(before.json.metadata.resourceVersion)
    // It has the present form now, so the next write changes nothing.
    await sample.ask(at('v2', path), request)
    expect((await sample.ask(at('v2', '/one'))).json.metadata.resourceVersion).toBe(after.json.metadata.resourceVersion)
  })

  it('is stored in the present form when it is deleted again', async () => {
    const sample = await start({ finalizers: ['example.com/hold'] }, { isDeleted: true })
    const remove = async () => {
      const { json } = await sample.ask(at('v2', '/one'), { method: 'DELETE' })
      expect([json.apiVersion, json.spec]).toEqual(['g.example.com/v2', { color: 'red', size: 1 }])
      return (await sample.ask(at('v2', '/one'))).json.metadata.resourceVersion
    }
    const before = (await sample.ask(at('v2', '/one'))).json.metadata.resourceVersion
    const after = await remove()
    expect(after).not.toBe(before)
    expect(await shown(sample, 'v2')).toEqual(everywhere({ color: 'red', size: 1 }, 'v2'))
    // It has the present form now, so the next deletion changes nothing.
    expect(await remove()).toBe(after)
  })
})

function scaleApplied(replicas: number): object {
  const body = { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name: 'one' }, spec: { replicas } }
  return { method: 'PATCH', headers: apply, body }
}
