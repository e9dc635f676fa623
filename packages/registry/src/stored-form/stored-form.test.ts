import { createCatalog } from '@krmkit/kinds'
import type { ApiObject } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { encodeStored, ObjectCache } from '../cache/object-cache.ts'
import { createStoredForm } from './stored-form.ts'

const form = createStoredForm({ catalog: createCatalog() })
const text = (bytes: Uint8Array | undefined) => new TextDecoder().decode(bytes)
const parsed = (bytes: Uint8Array | undefined) => JSON.parse(text(bytes))

const configMap = (resourceVersion: string) =>
  encodeStored({
    kind: 'ConfigMap',
    apiVersion: 'v1',
    metadata: { name: 'web', namespace: 'shop', resourceVersion, creationTimestamp: '2024-01-01T00:00:00Z' },
    data: { color: 'red' },
  })

describe('the stored form', () => {
  it('of built-in kinds is protobuf without a version, which reading adds', () => {
    const key = '/core/configmaps/shop/web'
    const stored = form.encode(key, configMap('0'))
    expect(text(stored.subarray(0, 4))).toBe('k8s\0')
    expect(form.encode(key, configMap('7'))).toEqual(stored)
    expect(text(form.decode(key, stored, 12))).toBe(text(configMap('12')))
  })

  it('of custom resources is JSON without a version, which reading adds', () => {
    const key = '/example.com/widgets/shop/a'
    const widget = (more: object) =>
      encodeStored({ apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'a', ...more }, spec: { text: '<é>' } })
    const stored = form.encode(key, widget({ resourceVersion: '0' }))
    expect(text(stored)).toBe(text(widget({})))
    expect(text(form.decode(key, stored, 12))).toBe(text(widget({ resourceVersion: '12' })))
  })

  it('is made from the object of a write without parsing its bytes', () => {
    const objects = new ObjectCache()
    const written = (object: ApiObject) => Object.assign(objects.newEntry(object), { object })
    const deployment = {
      kind: 'Deployment',
      apiVersion: 'apps/v1',
      metadata: { name: 'web', namespace: 'shop', resourceVersion: '0', labels: { b: '2', a: '1' }, annotations: undefined },
      spec: {
        replicas: 0,
        template: { spec: { containers: [{ name: 'c', image: 'i', args: [], env: [{ name: 'N', value: '' }] }] } },
      },
    } as unknown as ApiObject
    const widget = {
      apiVersion: 'example.com/v1',
      kind: 'Widget',
      metadata: { name: 'a', resourceVersion: '0' },
      spec: { n: 1.5 },
    }
    const cases = [
      ['/apps/deployments/shop/web', deployment],
      ['/example.com/widgets/shop/a', widget],
    ] as const
    for (const [key, object] of cases) {
      const parsedBytes = form.encode(key, encodeStored(object))
      expect(form.encode(key, new Uint8Array(), written(object))).toEqual(parsedBytes)
      expect(object.metadata.resourceVersion).toBe('0')
    }
  })

  it('of custom resource definitions is their former version, as on kube-apiserver', () => {
    const key = '/apiextensions.k8s.io/customresourcedefinitions/widgets.example.com'
    const schema = { openAPIV3Schema: { type: 'object', properties: { a: { type: 'string', default: 'x' } } } }
    const names = { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' }
    const definition = encodeStored({
      kind: 'CustomResourceDefinition',
      apiVersion: 'apiextensions.k8s.io/v1',
      metadata: { name: 'widgets.example.com', resourceVersion: '3', creationTimestamp: '2024-01-01T00:00:00Z' },
      spec: {
        group: 'example.com',
        names,
        scope: 'Namespaced',
        versions: ['v1', 'v2'].map((name) => ({ name, served: true, storage: name === 'v1', schema })),
        conversion: { strategy: 'None' },
      },
      status: { conditions: [], acceptedNames: names, storedVersions: ['v1'] },
    })
    const stored = form.encode(key, definition)
    expect(text(stored)).toContain('apiextensions.k8s.io/v1beta1')
    // The schema is stored once, not once for each version.
    expect(text(stored).split('"x"').length).toBe(2)
    expect(parsed(form.decode(key, stored, 3))).toEqual({
      ...parsed(definition),
      status: { ...parsed(definition).status, conditions: null },
    })
  })

  it('of ServiceCIDR and IPAddress is their beta version, as on kube-apiserver', () => {
    const key = '/networking.k8s.io/servicecidrs/kubernetes'
    const value = encodeStored({
      kind: 'ServiceCIDR',
      apiVersion: 'networking.k8s.io/v1',
      metadata: { name: 'kubernetes', resourceVersion: '3', creationTimestamp: '2024-01-01T00:00:00Z' },
      spec: { cidrs: ['10.0.0.0/24'] },
      status: {},
    })
    const stored = form.encode(key, value)
    expect(text(stored)).toContain('networking.k8s.io/v1beta1')
    expect(text(form.decode(key, stored, 3))).toBe(text(value))
  })

  it('may be JSON for built-in kinds, as another server can be configured to store', () => {
    const json = '{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"web"},"data":{"b":"2","a":"1"}}'
    const read = form.decode('/core/configmaps/shop/web', new TextEncoder().encode(json), 5)
    expect(parsed(read)).toMatchObject({ metadata: { name: 'web', resourceVersion: '5' }, data: { a: '1', b: '2' } })
  })

  it('is refused when damaged, and skipped for values that are no objects of a served kind', () => {
    const key = '/core/configmaps/shop/web'
    const stored = form.encode(key, configMap('0'))
    expect(() => form.decode(key, stored.subarray(0, stored.length - 20), 5)).toThrow()
    expect(form.decode('/unknown/things', stored, 5)).toBeUndefined()
    expect(form.decode(key, new TextEncoder().encode('text'), 5)).toBeUndefined()
  })

  it('gives the last state of a deleted object the version of the deletion', () => {
    expect(text(form.atRevision('/core/configmaps/shop/web', configMap('7'), 9))).toBe(text(configMap('9')))
  })

  it('limits the lifetime of events only', () => {
    expect(form.ttlSeconds?.('/core/events/shop/a')).toBe(3600)
    expect(form.ttlSeconds?.('/core/configmaps/shop/a')).toBeUndefined()
  })

  it('of allocated ranges and announced addresses is that of kube-apiserver', () => {
    const range = {
      kind: 'RangeAllocation',
      apiVersion: 'v1',
      metadata: { resourceVersion: '3' },
      range: '30000-32767',
      data: 'AQ==',
    }
    const key = '/core/rangeallocations/servicenodeports'
    const stored = form.encode(key, new TextEncoder().encode(JSON.stringify(range)))
    expect(text(stored)).toContain('RangeAllocation')
    expect(parsed(form.decode(key, stored, 3))).toMatchObject(range)
    const paths = new Map(form.collections?.map(({ prefix, path }) => [prefix, path]))
    expect(paths.get('/core/rangeallocations/')).toBe('ranges/')
    expect(paths.get('/core/masterleases/')).toBe('masterleases/')
    expect(form.ttlSeconds?.('/core/masterleases/192.0.2.1')).toBe(15)
  })

  it('uses the paths of kube-apiserver', () => {
    const paths = new Map(form.collections?.map(({ prefix, path }) => [prefix, path]))
    expect(
      ['/core/services/', '/core/endpoints/', '/core/nodes/', '/core/pods/', '/apps/deployments/'].map((each) => paths.get(each)),
    ).toEqual(['services/specs/', 'services/endpoints/', 'minions/', 'pods/', 'deployments/'])
    expect(paths.get('/networking.k8s.io/ingresses/')).toBe('ingress/')
    expect(paths.get('/apiextensions.k8s.io/customresourcedefinitions/')).toBe('apiextensions.k8s.io/customresourcedefinitions/')
  })
})
