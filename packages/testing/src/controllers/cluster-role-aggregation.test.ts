import { resourceType } from '@krmkit/client'
import type { ApiObject } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { createTestServer } from '../test-server.ts'

interface ClusterRole extends ApiObject {
  rules?: object[] | null
}

const group = 'rbac.authorization.k8s.io'
const clusterRoles = resourceType<ClusterRole>({
  group,
  version: 'v1',
  resource: 'clusterroles',
  kind: 'ClusterRole',
  namespaced: false,
})
const controllers = ['clusterrole-aggregation-controller']
const list = (resource: string) => ({ apiGroups: [''], resources: [resource], verbs: ['list'] })
const part = (name: string, labels: Record<string, string>, ...rules: object[]) => ({ metadata: { name, labels }, rules })
const sum = (name: string, into: string, labels: Record<string, string> = {}) => ({
  metadata: { name, labels },
  aggregationRule: { clusterRoleSelectors: [{ matchLabels: { into } }] },
  rules: [],
})

describe('clusterrole-aggregation-controller', () => {
  it('aggregates rules in the order of role names, without duplicates, and follows changes', async () => {
    await using cluster = await createTestServer({ controllers })
    const { client } = cluster
    const rulesOf = async (name: string) => {
      await cluster.settle()
      return (await client.get(clusterRoles, name)).rules
    }
    await client.create(clusterRoles, sum('all', 'all'))
    await client.create(clusterRoles, part('b', { into: 'all' }, list('secrets')))
    expect(await rulesOf('all')).toEqual([list('secrets')])
    await client.create(clusterRoles, part('a', { into: 'all' }, list('services'), list('secrets')))
    expect(await rulesOf('all')).toEqual([list('services'), list('secrets')])
    await client.patch(clusterRoles, 'a', { type: 'merge', patch: { metadata: { labels: { into: null } } } })
    expect(await rulesOf('all')).toEqual([list('secrets')])
    await client.delete(clusterRoles, 'b')
    expect(await rulesOf('all')).toBeNull()
  })

  it('overwrites other changes and owns the aggregated rules', async () => {
    await using cluster = await createTestServer({ controllers })
    const { client } = cluster
    await client.create(clusterRoles, sum('all', 'all'))
    await client.create(clusterRoles, part('a', { into: 'all' }, list('secrets')))
    await cluster.settle()
    const edited = await client.get(clusterRoles, 'all')
    await client.update(clusterRoles, { ...edited, rules: [list('pods')] })
    await cluster.settle()
    const { rules, metadata } = await client.get(clusterRoles, 'all')
    expect(rules).toEqual([list('secrets')])
    const owner = metadata.managedFields?.find(({ fieldsV1 }) => Object.hasOwn(fieldsV1 ?? {}, 'f:rules'))
    expect(owner).toMatchObject({ manager: 'clusterrole-aggregation-controller', operation: 'Apply' })
  })

  it('aggregates aggregated roles, but never a role into itself', async () => {
    await using cluster = await createTestServer({ controllers })
    const { client } = cluster
    await client.create(clusterRoles, sum('admin', 'admin', { into: 'admin' }))
    await client.create(clusterRoles, sum('edit', 'edit', { into: 'admin' }))
    await client.create(clusterRoles, part('base', { into: 'edit' }, list('pods')))
    await cluster.settle()
    expect((await client.get(clusterRoles, 'admin')).rules).toEqual([list('pods')])
    await client.delete(clusterRoles, 'base')
    await cluster.settle()
    expect((await client.get(clusterRoles, 'admin')).rules).toBeNull()
  })

  it('ignores roles without an aggregation rule, and writes nothing without changes', async () => {
    await using cluster = await createTestServer({ controllers })
    const { client } = cluster
    await client.create(clusterRoles, part('plain', {}, list('pods')))
    await client.create(clusterRoles, sum('all', 'all'))
    await client.create(clusterRoles, part('a', { into: 'all' }, list('secrets')))
    await cluster.settle()
    const before = (await client.get(clusterRoles, 'all')).metadata.resourceVersion
    await client.create(clusterRoles, part('other', { into: 'else' }, list('nodes')))
    await cluster.settle()
    expect((await client.get(clusterRoles, 'all')).metadata.resourceVersion).toBe(before)
    expect((await client.get(clusterRoles, 'plain')).rules).toEqual([list('pods')])
  })
})
