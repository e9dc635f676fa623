import { CustomResourceDefinition } from '@krmkit/kinds/apiextensions/v1'
import { Deployment } from '@krmkit/kinds/apps/v1'
import { ConfigMap, Pod } from '@krmkit/kinds/core/v1'
import { describe, expect, it } from 'vitest'
import { type ObjectMatchers, objectMatchers } from './object-matchers.ts'
import { createTestServer } from './test-server.ts'

declare module 'vitest' {
  interface Matchers<T> extends ObjectMatchers<T> {}
}

expect.extend(objectMatchers)

const namespace = 'default'
const start = () => createTestServer({ controllers: [] })
const port = (number: number, name: string) => ({ name, containerPort: number })
const container = (name: string, image = 'web:1') => ({ name, image })
const messageOf = (assertion: () => unknown): string => {
  try {
    assertion()
  } catch (error) {
    return (error as Error).message
  }
  throw new Error('the assertion passes')
}

describe('toBeOwnedBy', () => {
  it('finds an owner by UID, or by kind and name', async () => {
    await using cluster = await start()
    const owner = await cluster.client.create(ConfigMap, { metadata: { name: 'owner', namespace } })
    const { uid = '', name = '' } = owner.metadata
    const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name, uid }]
    const owned = await cluster.client.create(ConfigMap, { metadata: { name: 'owned', namespace, ownerReferences } })
    expect(owned).toBeOwnedBy(owner)
    expect(owned).toBeOwnedBy({ kind: 'ConfigMap', metadata: { name: 'owner' } })
    expect(owned).toBeOwnedBy(owner, { controller: false })
    expect(owned).not.toBeOwnedBy(owner, { controller: true })
    expect(owned).not.toBeOwnedBy({ ...owner, metadata: { ...owner.metadata, uid: 'of-another-life' } })
    expect(owned).not.toBeOwnedBy({ apiVersion: 'apps/v1', kind: 'ConfigMap', metadata: { name: 'owner' } })
    expect(messageOf(() => expect(owner).toBeOwnedBy(owned))).toBe(
      'expected ConfigMap default/owner to be owned by ConfigMap default/owned; its owners: none',
    )
    expect(messageOf(() => expect(owned).not.toBeOwnedBy(owner))).toContain('not to be owned by ConfigMap default/owner')
  })
})

describe('toBeManagedBy', () => {
  it('finds the managers of a field, also inside of lists and atomic values', async () => {
    await using cluster = await start()
    const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ ...container('web'), command: ['run'] }] } }
    const spec = { selector: { matchLabels: { app: 'web' } }, template }
    await cluster.client.apply(Deployment, { metadata: { name: 'web', namespace }, spec }, { fieldManager: 'ci' })
    const patch = { spec: { replicas: 3 } }
    const web = await cluster.client.patch(Deployment, 'web', { namespace, type: 'merge', patch, fieldManager: 'scaler' })
    expect(web).toBeManagedBy('ci')
    expect(web).toBeManagedBy('scaler', '.spec.replicas')
    expect(web).toBeManagedBy('scaler', '/spec/replicas', { operation: 'Update', subresource: '' })
    expect(web).not.toBeManagedBy('scaler', '.spec.replicas', { operation: 'Apply' })
    expect(web).not.toBeManagedBy('scaler', '.spec.replicas', { subresource: 'scale' })
    expect(web).toBeManagedBy('ci', '.spec.template.spec.containers[name="web"].image')
    expect(web).toBeManagedBy('ci', '.spec.template.spec.containers[0].command[0]')
    expect(web).not.toBeManagedBy('scaler', '.spec.template.spec.containers[name="web"].image')
    expect(messageOf(() => expect(web).toBeManagedBy('ci', '.spec.replicas'))).toBe(
      'expected .spec.replicas of Deployment default/web to be managed by ci; its managers: scaler (Update)',
    )
    expect(messageOf(() => expect(web).toBeManagedBy('ci', '.spec.paused'))).toContain('the object has no such field')
    expect(() => expect(web).toBeManagedBy('ci', '.spec..x')).toThrow('invalid path')
  })
})

describe('toHaveCondition', () => {
  const conditions = [
    { type: 'Ready', status: 'True', reason: 'Done', message: 'all 3 pods are ready', observedGeneration: 1 },
    { type: 'Stalled', status: 'False' },
  ]
  const object = { apiVersion: 'v1', kind: 'Widget', metadata: { name: 'w', generation: 2 }, status: { conditions } }

  it('compares status, reason, message and generation', () => {
    expect(object).toHaveCondition('Ready')
    expect(object).toHaveCondition('Stalled', 'False')
    expect(object).toHaveCondition('Ready', { reason: 'Done', message: /3 pods/ })
    expect(object).not.toHaveCondition('Ready', { message: '3 pods' })
    expect(object).not.toHaveCondition('Ready', 'Unknown')
    expect(object).not.toHaveCondition('Absent')
    expect(object).not.toHaveCondition('Ready', { current: true })
    expect({ ...object, metadata: { name: 'w', generation: 1 } }).toHaveCondition('Ready', { current: true })
  })

  it('shows all conditions', () => {
    expect(messageOf(() => expect(object).toHaveCondition('Ready', { status: 'False', reason: 'Other' }))).toBe(
      [
        'expected Widget w to have the condition Ready=False, reason Other; its conditions: ',
        '  Ready=True Done: all 3 pods are ready (generation 1)',
        '  Stalled=False',
      ].join('\n'),
    )
    expect(messageOf(() => expect({ ...object, status: {} }).toHaveCondition('Ready'))).toContain('its conditions: none')
  })
})

describe('toEqualObject', () => {
  const containers = [{ ...container('web'), ports: [port(80, 'http'), port(443, 'https')] }, container('proxy')]
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web', namespace }, spec: { containers } }

  it('compares items of lists by their keys, in any order', () => {
    const [web, proxy] = containers
    const reordered = { ...pod, spec: { containers: [proxy, { ...web, ports: [port(443, 'https'), port(80, 'http')] }] } }
    expect(pod).toEqualObject(reordered)
    const other = { ...pod, spec: { containers: [proxy, { ...web, image: 'web:2' }] } }
    expect(messageOf(() => expect(other).toEqualObject(pod))).toBe(
      'expected Pod default/web to equal the expected object\n' +
        '  .spec.containers[name="web"].image: expected "web:1", received "web:2"',
    )
  })

  it('keeps the order of lists without keys', () => {
    const withCommand = (...command: string[]) => ({ ...pod, spec: { containers: [{ ...container('web'), command }] } })
    expect(withCommand('a', 'b')).not.toEqualObject(withCommand('b', 'a'))
  })

  it('ignores fields set by the server, unless they are expected', async () => {
    await using cluster = await start()
    const created = await cluster.client.create(ConfigMap, { metadata: { name: 'a', namespace }, data: { color: 'red' } })
    expect(created).toEqualObject({ metadata: { name: 'a', namespace }, data: { color: 'red' } })
    expect(created).not.toEqualObject({ metadata: { name: 'a', namespace, uid: 'other' }, data: { color: 'red' } })
    expect(created).not.toEqualObject({ kind: 'Secret', metadata: { name: 'a', namespace }, data: { color: 'red' } })
    expect(messageOf(() => expect(created).toEqualObject({ metadata: { name: 'a', namespace } }))).toContain(
      '.data: unexpected {"color":"red"}',
    )
  })

  it('ignores fields on request', () => {
    const other = {
      ...pod,
      spec: { containers: [{ ...containers[0], image: 'web:2' }, containers[1]] },
      status: { phase: 'Failed' },
    }
    expect(other).toEqualObject(pod, { ignore: ['.status', '.spec.containers[name="web"].image'] })
    expect(other).not.toEqualObject(pod, { ignore: ['.status'] })
    expect(() => expect(pod).toEqualObject(pod, { ignored: [] } as never)).toThrow('did you mean "ignore"?')
  })

  it('compares lists of custom resources by their definition', () => {
    const routes = {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['host'],
      items: { type: 'object' },
    }
    const openAPIV3Schema = { type: 'object', properties: { spec: { type: 'object', properties: { routes } } } }
    const versions = [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }]
    const definition = CustomResourceDefinition.create({
      metadata: { name: 'sites.example.com' },
      spec: { group: 'example.com', scope: 'Namespaced', names: { plural: 'sites', kind: 'Site' }, versions },
    })
    const site = (...hosts: string[]) => ({
      apiVersion: 'example.com/v1',
      kind: 'Site',
      metadata: { name: 's', finalizers: hosts },
      spec: { routes: hosts.map((host) => ({ host })) },
    })
    expect(site('a.com', 'b.com')).not.toEqualObject(site('b.com', 'a.com'))
    expect(site('a.com', 'b.com')).toEqualObject(site('b.com', 'a.com'), { definition })
  })
})

describe('toIncludeFields', () => {
  it('accepts further fields and items, and no other values', async () => {
    await using cluster = await start()
    const spec = { containers: [container('web'), container('proxy')] }
    const pod = await cluster.client.create(Pod, { metadata: { name: 'web', namespace, labels: { app: 'web' } }, spec })
    expect(pod).toIncludeFields({ spec: { restartPolicy: 'Always', containers: [{ name: 'proxy', image: 'web:1' }] } })
    expect(messageOf(() => expect(pod).toIncludeFields({ spec: { containers: [{ name: 'proxy', image: 'x' }] } }))).toContain(
      '.spec.containers[name="proxy"].image: expected "x", received "web:1"',
    )
    expect(messageOf(() => expect(pod).toIncludeFields({ metadata: { labels: { tier: 'a' } } }))).toContain(
      '.metadata.labels.tier: expected "a", received (absent)',
    )
  })
})
