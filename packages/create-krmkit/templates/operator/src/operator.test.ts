import { readFileSync } from 'node:fs'
import { Deployment } from '@krmkit/kinds/apps/v1'
import { readManifest } from '@krmkit/schema/manifest'
import type { UserRule } from '@krmkit/testing'
import { clusterFixtures } from '@krmkit/testing/vitest'
import { test as base, describe, expect } from 'vitest'
import { websiteOperator } from './operator.ts'
import { Website } from './website.ts'

const read = (path: string) => readFileSync(new URL(`../config/${path}`, import.meta.url), 'utf8')
const user = 'website-operator'
const namespace = 'default'
const home = { metadata: { name: 'home', namespace }, spec: { html: '<h1>Hello</h1>', replicas: 2 } }

/** The rules of the role in `config/rbac.yaml`. */
const rules = readManifest(read('rbac.yaml'))
  .map((document) => (document.kind === 'document' ? (document.value as { kind: string; rules?: UserRule[] }) : undefined))
  .find((object) => object?.kind === 'ClusterRole')?.rules

// A server with the definition of the kind; each test gets a copy of it.
const test = base.extend(clusterFixtures({ seed: [Website.toManifest()], users: { [user]: rules ?? [] } }))

describe('website operator', () => {
  test('creates a Deployment, which the website owns', async ({ cluster }) => {
    cluster.run(websiteOperator, { user })
    await cluster.client.create(Website, home)
    await cluster.settle()
    const { metadata, spec } = await cluster.client.get(Deployment, 'home', { namespace })
    expect(metadata.ownerReferences).toMatchObject([{ kind: 'Website', name: 'home', controller: true }])
    expect(spec?.replicas).toBe(2)
    expect(spec?.template.spec?.containers[0]?.env).toEqual([{ name: 'PAGE', value: '<h1>Hello</h1>' }])
  })

  test('reports the ready replicas', async ({ cluster }) => {
    cluster.run(websiteOperator, { user })
    await cluster.client.create(Website, home)
    await cluster.settle()
    const patch = { status: { replicas: 2, readyReplicas: 1 } }
    await cluster.client.patch(Deployment, 'home', { namespace, subresource: 'status', type: 'merge', patch })
    await cluster.settle()
    expect((await cluster.client.get(Website, 'home', { namespace })).status).toEqual({ readyReplicas: 1 })
  })

  test('reverts changes, and creates a deleted Deployment again', async ({ cluster }) => {
    cluster.run(websiteOperator, { user })
    await cluster.client.create(Website, home)
    await cluster.settle()
    await cluster.client.patch(Deployment, 'home', { namespace, type: 'merge', patch: { spec: { replicas: 9 } } })
    await cluster.settle()
    expect((await cluster.client.get(Deployment, 'home', { namespace })).spec?.replicas).toBe(2)
    await cluster.client.delete(Deployment, 'home', { namespace })
    await cluster.settle()
    expect((await cluster.client.get(Deployment, 'home', { namespace })).spec?.replicas).toBe(2)
  })

  test('leaves nothing behind', async ({ cluster }) => {
    cluster.run(websiteOperator, { user })
    await cluster.client.create(Website, home)
    await cluster.settle()
    await cluster.client.delete(Website, 'home', { namespace })
    await cluster.settle()
    expect((await cluster.client.list(Deployment)).items).toEqual([])
  })

  test('retries after errors of the server, and sends nothing while idle', async ({ cluster }) => {
    cluster.run(websiteOperator, { user })
    cluster.faults.next({ user, verb: 'patch', resource: 'deployments' }, { fail: 500 }, { times: 3 })
    await cluster.client.create(Website, home)
    await cluster.clock.advance({ minutes: 1 })
    expect((await cluster.client.list(Deployment)).items).toHaveLength(1)
    cluster.ledger.clear()
    await cluster.clock.advance({ hours: 24 })
    cluster.ledger.expectNone({ user, verb: ['create', 'update', 'patch', 'delete'] })
  })

  test('has a definition in config that fits the schema', () => {
    expect(JSON.parse(read('definition.json')), 'run `npm run definition`').toEqual(
      JSON.parse(JSON.stringify(Website.toManifest())),
    )
  })
})
