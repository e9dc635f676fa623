import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { applyTo, conflicts, data, deploymentSpec, deployments, owners, services } from './appliers.ts'
import { configMaps, startApi, type TestApi } from './server.ts'
import { catalog, widgetKinds, widgets } from './widgets.ts'

/** Server-side apply and ownership of fields. @see API protocol specification, 4.7 */

const string = { type: 'string' }
const item = { type: 'object', required: ['key'], properties: { key: string, value: string } }
const schema = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: {
        whole: { type: 'array', items: string },
        words: { type: 'array', items: string, 'x-kubernetes-list-type': 'set' },
        items: { type: 'array', items: item, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['key'] },
        members: { type: 'object', additionalProperties: string },
        block: { type: 'object', additionalProperties: string, 'x-kubernetes-map-type': 'atomic' },
        part: { type: 'object', properties: { a: string, b: string } },
      },
    },
  },
}

let api: TestApi
beforeAll(async () => {
  api = await startApi({ types: catalog.types, kinds: [...catalog.definitions, ...widgetKinds(schema)] })
})
afterAll(() => api.close())

const apply = (...[path, manager, rest, options]: Tail<typeof applyTo>) => applyTo(api, path, manager, rest, options)
type Tail<F> = F extends (first: TestApi, ...rest: infer R) => unknown ? R : never

describe('applies', () => {
  it('an apply has its media type, requires a manager, and may be YAML or JSON [P146]', async () => {
    const headers = { 'content-type': 'application/apply-patch+yaml' }
    const yaml = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: yaml}\ndata: {k: v}\n'
    const query = { fieldManager: 'me' }
    expect((await api.send('PATCH', `${configMaps}/yaml`, { headers, query, body: yaml })).status).toBe(201)
    const json = JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'yaml' }, data: { k: 'v' } })
    expect((await api.send('PATCH', `${configMaps}/yaml`, { headers, query, body: json })).status).toBe(200)
    const unnamed = await api.send('PATCH', `${configMaps}/yaml`, { headers, body: json })
    expect([unnamed.status, unnamed.json.details.causes.map(({ field }) => field)]).toEqual([422, ['fieldManager']])
  })

  it('rejects managedFields in the body [P211]', async () => {
    const refused = await apply(`${configMaps}/bodies`, 'alpha', { metadata: { managedFields: [] } })
    expect([refused.status, refused.json.message]).toEqual([400, 'metadata.managedFields must be nil'])
  })

  it('an apply creates or merges the object, and owns the applied fields [P212]', async () => {
    const path = `${configMaps}/joined`
    expect((await apply(path, 'alpha', { data: { k: 'v' } })).status).toBe(201)
    const joined = await apply(path, 'bravo', { data: { l: 'w' } })
    expect([joined.status, joined.json.data]).toEqual([200, { k: 'v', l: 'w' }])
    expect(owners(joined.json)).toEqual({ 'alpha Apply': data('k'), 'bravo Apply': data('l') })
  })

  it('appliers of the same value share ownership [P213, P217]', async () => {
    const path = `${configMaps}/shared`
    await apply(path, 'alpha', { data: { k: 'v' } })
    const shared = await apply(path, 'bravo', { data: { k: 'v' } })
    expect(owners(shared.json)).toEqual({ 'alpha Apply': data('k'), 'bravo Apply': data('k') })
    await api.patch(path, { data: { u: 'x' } }, { query: { fieldManager: 'updater' } })
    const live = await apply(path, 'alpha', { data: { k: 'v', u: 'x' } })
    expect(owners(live.json)).toMatchObject({ 'alpha Apply': data('k', 'u'), 'updater Update': data('u') })
  })

  it('changing a field of another manager is a conflict for an apply unless forced, but not for an update [P214, P215]', async () => {
    const path = `${configMaps}/disputed`
    await apply(path, 'alpha', { data: { k: 'v', l: 'v' } })
    const refused = await apply(path, 'bravo', { data: { k: 'w', l: 'w' } })
    expect([refused.status, refused.json.reason]).toEqual([409, 'Conflict'])
    expect(conflicts(refused)).toEqual(['.data.k conflict with "alpha"', '.data.l conflict with "alpha"'])
    expect((await api.get(path)).json.data).toEqual({ k: 'v', l: 'v' })
    const forced = await apply(path, 'bravo', { data: { k: 'w' } }, { force: true })
    expect(owners(forced.json)).toEqual({ 'alpha Apply': data('l'), 'bravo Apply': data('k') })
    const updated = await api.patch(path, { data: { k: 'x' } }, { query: { fieldManager: 'updater' } })
    expect([updated.status, owners(updated.json)]).toEqual([200, { 'alpha Apply': data('l'), 'updater Update': data('k') }])
    const back = await apply(path, 'bravo', { data: { k: 'w' } })
    expect(conflicts(back)).toEqual(['.data.k conflict with "updater" using v1'])
  })

  it('a dry run reports conflicts and owners, and changes nothing [P214]', async () => {
    const path = `${configMaps}/rehearsed`
    const query = { dryRun: 'All' }
    expect((await apply(path, 'alpha', { data: { k: 'v' } }, { query })).status).toBe(201)
    expect((await api.get(path)).status).toBe(404)
    const made = await apply(path, 'alpha', { data: { k: 'v' } })
    expect((await apply(path, 'bravo', { data: { k: 'w' } }, { query })).status).toBe(409)
    const forced = await apply(path, 'bravo', { data: { k: 'w' } }, { query, force: true })
    expect(owners(forced.json)).toEqual({ 'bravo Apply': data('k') })
    expect((await api.get(path)).text).toBe(made.text)
  })

  it('an omitted field is released, and removed without other owners [P216, P220]', async () => {
    const path = `${configMaps}/dropped`
    await apply(path, 'alpha', { data: { k: 'v', l: 'v', m: 'v' } })
    await apply(path, 'bravo', { data: { l: 'v' } })
    await api.patch(path, { data: { u: 'x' } }, { query: { fieldManager: 'updater' } })
    const dropped = await apply(path, 'alpha', { data: { k: 'v' } })
    expect(dropped.json.data).toEqual({ k: 'v', l: 'v', u: 'x' })
    expect(owners(dropped.json)).toMatchObject({ 'alpha Apply': data('k'), 'bravo Apply': data('l') })
    const nothing = await apply(path, 'alpha', {})
    expect([nothing.json.data, Object.keys(owners(nothing.json))]).toEqual([
      { l: 'v', u: 'x' },
      ['bravo Apply', 'updater Update'],
    ])
  })

  it('a removed field falls back to its default [P221]', async () => {
    const path = `${services}/fallback`
    const spec = { ports: [{ port: 80, targetPort: 8080 }], selector: { app: 'a' } }
    const sticky = { ...spec, sessionAffinity: 'ClientIP', sessionAffinityConfig: { clientIP: { timeoutSeconds: 10 } } }
    await apply(path, 'alpha', { spec: sticky })
    const timeout = await apply(path, 'alpha', { spec: { ...spec, sessionAffinity: 'ClientIP' } })
    expect(timeout.json.spec).toMatchObject({ sessionAffinityConfig: { clientIP: { timeoutSeconds: 10_800 } } })
    const affinity = await apply(path, 'alpha', { spec: { ...spec, ports: [{ port: 80 }] } })
    expect(affinity.json.spec).toMatchObject({ sessionAffinity: 'None', ports: [{ port: 80, targetPort: 80, protocol: 'TCP' }] })
    expect(affinity.json.spec.sessionAffinityConfig).toBeUndefined()
  })
})

describe('lists and maps', () => {
  it('lists are owned as a whole, by value, or by item [P222]', async () => {
    const path = `${widgets}/lists`
    await apply(path, 'alpha', { spec: { whole: ['a'], words: ['a'], items: [{ key: 'a', value: '1' }] } })
    const joined = await apply(path, 'bravo', { spec: { words: ['b'], items: [{ key: 'b' }] } })
    expect(joined.json.spec).toEqual({ whole: ['a'], words: ['a', 'b'], items: [{ key: 'a', value: '1' }, { key: 'b' }] })
    expect(owners(joined.json)).toEqual({
      'alpha Apply': {
        'f:spec': {
          'f:items': { 'k:{"key":"a"}': { '.': {}, 'f:key': {}, 'f:value': {} } },
          'f:whole': {},
          'f:words': { 'v:"a"': {} },
        },
      },
      'bravo Apply': {
        'f:spec': { 'f:items': { 'k:{"key":"b"}': { '.': {}, 'f:key': {} } }, 'f:words': { 'v:"b"': {} } },
      },
    })
    const whole = await apply(path, 'bravo', { spec: { whole: ['a', 'b'] } })
    expect(conflicts(whole)).toEqual(['.spec.whole conflict with "alpha"'])
    const same = await apply(path, 'bravo', { spec: { items: [{ key: 'a', value: '2' }] } })
    expect(conflicts(same)).toEqual(['.spec.items[key="a"].value conflict with "alpha"'])
    const twice = await apply(path, 'bravo', { spec: { words: ['x', 'x'] } })
    expect([twice.status, twice.json.message]).toEqual([
      400,
      expect.stringContaining('.spec.words: duplicate entries for key [="x"]'),
    ])
  })

  it('items of map lists are identified by scalar keys [P223]', async () => {
    const keyed = (key: object) => ({
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'gadgets.example.com' },
      spec: {
        group: 'example.com',
        scope: 'Namespaced',
        names: { plural: 'gadgets', kind: 'Gadget' },
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            schema: {
              openAPIV3Schema: {
                type: 'object',
                properties: {
                  f: {
                    type: 'array',
                    items: { type: 'object', required: ['k'], properties: { k: key } },
                    'x-kubernetes-list-type': 'map',
                    'x-kubernetes-list-map-keys': ['k'],
                  },
                },
              },
            },
          },
        ],
      },
    })
    const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
    const query = { dryRun: 'All' }
    const refused = await api.post(definitions, keyed({ type: 'object' }), { query })
    expect([refused.status, refused.json.details.causes[0]?.message]).toEqual([
      422,
      `Invalid value: "object": must be a scalar type if parent array's x-kubernetes-list-type is map`,
    ])
    for (const type of ['string', 'integer', 'number', 'boolean']) {
      expect((await api.post(definitions, keyed({ type }), { query })).status, type).toBe(201)
    }
    const keyless = await apply(`${widgets}/keyless`, 'alpha', { spec: { items: [{ value: '1' }] } })
    expect([keyless.status, keyless.json.message]).toEqual([400, expect.stringContaining('omits all key fields')])
  })

  it('maps and structs are owned by member, or as a whole [P224]', async () => {
    const path = `${widgets}/maps`
    await apply(path, 'alpha', { spec: { members: { a: '1' }, block: { a: '1' }, part: { a: '1' } } })
    const joined = await apply(path, 'bravo', { spec: { members: { b: '2' }, part: { b: '2' } } })
    expect(joined.json.spec).toEqual({ members: { a: '1', b: '2' }, block: { a: '1' }, part: { a: '1', b: '2' } })
    expect(owners(joined.json)).toMatchObject({
      'alpha Apply': { 'f:spec': { 'f:members': { 'f:a': {} }, 'f:block': {}, 'f:part': { 'f:a': {} } } },
      'bravo Apply': { 'f:spec': { 'f:members': { 'f:b': {} }, 'f:part': { 'f:b': {} } } },
    })
    const block = await apply(path, 'bravo', { spec: { block: { b: '2' } } })
    expect(conflicts(block)).toEqual(['.spec.block conflict with "alpha"'])
    const forced = await apply(path, 'bravo', { spec: { block: { b: '2' } } }, { force: true })
    expect(forced.json.spec).toMatchObject({ block: { b: '2' } })
  })

  it('merge keys of strategic patches imply map lists [P225]', async () => {
    const path = `${deployments}/merged`
    await apply(path, 'alpha', deploymentSpec('merged'))
    const template = { spec: { containers: [{ name: 'side', image: 'side:1', env: [{ name: 'A', value: '1' }] }] } }
    const joined = await apply(path, 'bravo', { spec: { template } })
    expect([joined.status, owners(joined.json)['bravo Apply']]).toEqual([
      200,
      {
        'f:spec': {
          'f:template': {
            'f:spec': {
              'f:containers': {
                'k:{"name":"side"}': {
                  '.': {},
                  'f:env': { 'k:{"name":"A"}': { '.': {}, 'f:name': {}, 'f:value': {} } },
                  'f:image': {},
                  'f:name': {},
                },
              },
            },
          },
        },
      },
    ])
  })

  it('without markers, lists of custom resources are atomic and structs granular [P226]', async () => {
    const path = `${widgets}/bare`
    await apply(path, 'alpha', { spec: { whole: ['a'], part: { a: '1' } } })
    const answer = await apply(path, 'bravo', { spec: { whole: ['b'], part: { b: '1' } } })
    expect(conflicts(answer)).toEqual(['.spec.whole conflict with "alpha"'])
  })
})
