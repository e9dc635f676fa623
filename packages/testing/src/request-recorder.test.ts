import { Deployment } from '@krmkit/kinds/apps/v1'
import { ConfigMap } from '@krmkit/kinds/core/v1'
import { Role, RoleBinding } from '@krmkit/kinds/rbac/v1'
import { describe, expect, it } from 'vitest'
import { ownershipChanges } from './ownership-changes.ts'
import { createTestServer } from './test-server.ts'

const role = {
  metadata: { name: 'editor' },
  rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['create', 'update'] }],
}
const binding = {
  metadata: { name: 'bob-edits' },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'editor' },
  subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'bob' }],
}

describe('traces of requests', () => {
  it('record how the user was authenticated, and the binding and rule that allowed the request', async () => {
    await using cluster = await createTestServer({ server: { authorizer: ({ rbac }) => rbac(), bootstrapRoles: true } })
    await cluster.client.create(Role, role)
    await cluster.client.create(RoleBinding, binding)
    await cluster.as('bob').create(ConfigMap, { metadata: { name: 'a' }, data: { color: 'red' } })
    const [entry] = cluster.ledger.expect({ verb: 'create', resource: 'configmaps' }, 1)
    expect(entry!.trace).toMatchObject({
      authentication: { method: 'in-process', user: { username: 'bob' } },
      authorization: {
        decision: 'allow',
        trace: {
          authorizer: 'RBAC',
          binding: { kind: 'RoleBinding', name: 'bob-edits' },
          role: { name: 'editor' },
          ruleIndex: 0,
        },
      },
      writes: [{ before: undefined, after: { metadata: { name: 'a' } }, manager: 'krmkit', attempts: 1 }],
    })
    await expect(cluster.as('bob').list(ConfigMap)).rejects.toMatchObject({ code: 403 })
    const [denied] = cluster.ledger.expect({ verb: 'list', code: 403 }, 1)
    expect(denied!.trace).toMatchObject({ authorization: { decision: 'noOpinion' }, writes: [] })
  })

  it('record tokens as the method of authentication', async () => {
    await using cluster = await createTestServer()
    const headers = { authorization: `Bearer ${cluster.tokenOf('bob')}` }
    const request = {
      method: 'GET',
      path: '/api/v1/configmaps',
      query: '',
      headers,
      peer: {},
      body: async () => new Uint8Array(),
    }
    await cluster.handle({ ...request, signal: new AbortController().signal })
    const [entry] = cluster.ledger.expect({ user: 'bob' }, 1)
    expect(entry!.trace!.authentication).toMatchObject({ method: 'bearer token', user: { username: 'bob' } })
    expect(entry!.responseBytes).toBeGreaterThan(20)
    expect(entry!.durationMs).toBeGreaterThan(0)
  })

  it('record decisions of admission plugins with their changes', async () => {
    const plugin = {
      name: 'Team',
      handles: ({ resource }: { resource: { resource: string } }) => resource.resource === 'configmaps',
      admit(draft: { metadata: { labels?: Record<string, string> } }) {
        draft.metadata.labels = { ...draft.metadata.labels, team: 'web' }
      },
    }
    await using cluster = await createTestServer({ server: { admission: [plugin] } })
    await cluster.client.create(ConfigMap, { metadata: { name: 'a' }, data: { color: 'red' } })
    const [entry] = cluster.ledger.expect({ verb: 'create', resource: 'configmaps' }, 1)
    expect(entry!.requestBytes).toBeGreaterThan(20)
    const [write] = entry!.trace!.writes
    expect(write!.decisions).toMatchObject([
      { plugin: 'Team', outcome: 'changed', changes: [{ op: 'add', path: '/metadata/labels' }] },
    ])
    expect(write!.requested!.metadata.labels).toBeUndefined()
    expect(write!.after!.metadata.labels).toEqual({ team: 'web' })
  })

  it('record unchanged objects, removals and owners', async () => {
    await using cluster = await createTestServer()
    const first = { metadata: { name: 'web' }, spec: { replicas: 1, ...template } }
    await cluster.client.apply(Deployment, first, { fieldManager: 'ci', force: true })
    await cluster.client.apply(Deployment, first, { fieldManager: 'ci', force: true })
    const scaled = { metadata: { name: 'web' }, spec: { replicas: 3 } }
    await cluster.client.apply(Deployment, scaled as typeof first, { fieldManager: 'hpa', force: true })
    await cluster.client.delete(Deployment, 'web')
    const writes = cluster.ledger.find({ resource: 'deployments' }).flatMap(({ trace }) => trace!.writes)
    expect(writes).toHaveLength(4)
    expect(writes[1]!.after).toBe(writes[1]!.before)
    expect(writes[3]!.after).toBeUndefined()
    expect(ownershipChanges(writes[2]!.before, writes[2]!.after)).toEqual([
      { manager: 'ci', operation: 'Apply', subresource: '', gained: [], lost: ['.spec.replicas'] },
      { manager: 'hpa', operation: 'Apply', subresource: '', gained: ['.spec.replicas'], lost: [] },
    ])
  })

  it('are dropped above their limit and not kept with `traces: 0`', async () => {
    await using few = await createTestServer({ traces: 4 })
    for (let i = 0; i < 10; i++) await few.client.get(ConfigMap, 'kube-root-ca.crt').catch(() => undefined)
    expect(few.ledger.find().filter(({ trace }) => trace !== undefined).length).toBeLessThanOrEqual(5)
    await using none = await createTestServer({ traces: 0 })
    await none.client.create(ConfigMap, { metadata: { name: 'a' } })
    expect(none.ledger.find()[0]).not.toHaveProperty('trace')
  })
})

const template = {
  selector: { matchLabels: { app: 'web' } },
  template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'app', image: 'app:1' }] } },
}
