import { resourceType } from '@krmkit/client'
import { Deployment } from '@krmkit/kinds/apps/v1'
import { ConfigMap, Pod } from '@krmkit/kinds/core/v1'
import { describe, expect, it } from 'vitest'
import { mentions, parseFieldPath } from './field-path.ts'
import { createTestServer } from './test-server.ts'

const scale = resourceType({ group: 'apps', version: 'v1', resource: 'deployments', kind: 'Scale', subresource: 'scale' })
const web = {
  metadata: { name: 'web' },
  spec: {
    selector: { matchLabels: { app: 'web' } },
    template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'app', image: 'app:1' }] } },
  },
}

describe('explain', () => {
  it('lists the writes of a field with request, user, manager, values and step', async () => {
    await using cluster = await createTestServer()
    const { client } = cluster
    await client.create(Deployment, web)
    const bob = cluster.as('bob')
    await bob.patch(Deployment, 'web', { type: 'merge', patch: { spec: { replicas: 2 } }, fieldManager: 'kubectl-edit' })
    const read = await client.get(Deployment, 'web')
    await client.update(Deployment, { ...read, spec: { ...read.spec!, replicas: 3 } })
    await client.update(Deployment, {
      ...(await client.get(Deployment, 'web')),
      metadata: { ...read.metadata, labels: { a: 'b' }, resourceVersion: '' },
    })
    await client.apply(Deployment, { ...web, spec: { ...web.spec, replicas: 5 } }, { fieldManager: 'ci', force: true })
    const object = await client.get(Deployment, 'web')
    const { changes, text } = cluster.explain(object, '.spec.replicas')
    expect(
      changes.map(({ before, after, step, manager, request }) => [before, after, step, manager, request!.user, request!.verb]),
    ).toEqual([
      [undefined, 1, 'default', 'krmkit', 'test-admin', 'create'],
      [1, 2, 'patch', 'kubectl-edit', 'bob', 'patch'],
      [2, 3, 'body', 'krmkit', 'test-admin', 'update'],
      [3, 5, 'apply', 'ci', 'test-admin', 'patch'],
    ])
    const at = new Date(cluster.clock.now()).toISOString()
    expect(text.split('\n')).toEqual([
      '.spec.replicas of Deployment default/web:',
      `  ${at} (absent) -> 1 by test-admin (manager krmkit), create deployments "web" in default: a default`,
      `  ${at} 1 -> 2 by bob (manager kubectl-edit), patch deployments "web" in default: set by the patch`,
      `  ${at} 2 -> 3 by test-admin (manager krmkit), update deployments "web" in default: set by the body`,
      `  ${at} 3 -> 5 by test-admin (manager ci), patch deployments "web" in default: set by the applied configuration`,
    ])
    expect(cluster.explain(object, '.metadata.generation').changes.at(-1)).toMatchObject({ before: 3, after: 4, step: 'server' })
  })

  it('explains writes of scale and status', async () => {
    await using cluster = await createTestServer()
    const { client } = cluster
    const created = await client.create(Deployment, web)
    await client.patch(scale, 'web', { type: 'merge', patch: { spec: { replicas: 4 } } })
    await client.patch(Deployment, 'web', {
      type: 'merge',
      patch: { status: { readyReplicas: 1, replicas: 1 } },
      subresource: 'status',
    })
    expect(cluster.explain(created, '.spec.replicas').changes.at(-1)).toMatchObject({
      before: 1,
      after: 4,
      step: 'patch',
      request: { subresource: 'scale' },
    })
    expect(cluster.explain(created, '.status.readyReplicas').changes).toMatchObject([
      { before: undefined, after: 1, step: 'patch', request: { subresource: 'status' } },
    ])
  })

  it('names the admission plugin that changed the field', async () => {
    const plugin = {
      name: 'Team',
      handles: ({ resource }: { resource: { resource: string } }) => resource.resource === 'configmaps',
      admit(draft: { metadata: { labels?: Record<string, string> } }) {
        draft.metadata.labels = { ...draft.metadata.labels, 'example.com/team': 'web' }
      },
    }
    await using cluster = await createTestServer({ server: { admission: [plugin] } })
    const object = await cluster.client.create(ConfigMap, { metadata: { name: 'a' }, data: { color: 'red' } })
    const { changes, text } = cluster.explain(object, '.metadata.labels["example.com/team"]')
    expect(changes).toMatchObject([{ before: undefined, after: 'web', step: 'admission', plugin: 'Team' }])
    expect(text).toContain('create configmaps "a" in default: set by admission plugin Team')
  })

  it('explains deletions, and values that predate the recorded requests', async () => {
    const seed = [
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', finalizers: ['example.com/wait'] }, data: { color: 'red' } },
    ]
    await using cluster = await createTestServer({ seed })
    const reference = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } }
    expect(cluster.explain(reference, '.data.color').text).toBe('no recorded request changed .data.color of ConfigMap a')
    await cluster.client.delete(ConfigMap, 'a')
    await cluster.client.patch(ConfigMap, 'a', { type: 'merge', patch: { metadata: { finalizers: null } } })
    expect(cluster.explain(reference, '.data.color').changes).toMatchObject([
      { before: undefined, after: 'red', step: 'unrecorded' },
      { before: 'red', after: undefined, step: 'deletion', request: { verb: 'patch' } },
    ])
    expect(cluster.explain(reference, '.metadata.deletionTimestamp').changes[0]).toMatchObject({
      step: 'deletion',
      request: { verb: 'delete' },
    })
  })

  it('finds items of lists by key', async () => {
    await using cluster = await createTestServer()
    const spec = {
      containers: [
        { name: 'a', image: 'a:1' },
        { name: 'web', image: 'web:1' },
      ],
    }
    const pod = await cluster.client.create(Pod, { metadata: { name: 'p' }, spec })
    await cluster.client.patch(Pod, 'p', {
      type: 'strategic',
      patch: { spec: { containers: [{ name: 'web', image: 'web:2' }] } },
    })
    expect(cluster.explain(pod, '.spec.containers[name=web].image').changes).toMatchObject([
      { after: 'web:1', step: 'body' },
      { before: 'web:1', after: 'web:2', step: 'patch' },
    ])
    expect(cluster.explain(pod, '.spec.containers[name="web"].imagePullPolicy').changes).toMatchObject([{ step: 'default' }])
    expect(() => cluster.explain(pod, '.spec.[')).toThrow(expect.objectContaining({ code: 'InvalidPath' }))
  })
})

describe('paths of fields', () => {
  it('are parsed in all notations', () => {
    expect(parseFieldPath('.metadata.labels["a.b/c"]')).toEqual(['metadata', 'labels', 'a.b/c'])
    expect(parseFieldPath('/metadata/labels/a.b~1c')).toEqual(['metadata', 'labels', 'a.b/c'])
    expect(parseFieldPath('spec.ports[port=80,protocol="TCP"].nodePort')).toEqual([
      'spec',
      'ports',
      { port: 80, protocol: 'TCP' },
      'nodePort',
    ])
    expect(mentions({ spec: { ports: [{ port: 80 }] } }, parseFieldPath('.spec.ports[port=80].nodePort'))).toBe(false)
    expect(mentions({ spec: null }, parseFieldPath('.spec.ports[port=80].nodePort'))).toBe(true)
  })
})
