import {
  createAbacAuthorizer,
  createPrivilegedGroupsAuthorizer,
  createUnionAuthorizer,
  parseAbacPolicies,
} from '@krmkit/authorization'
import { fakeClock } from '@krmkit/meta'
import { memoryStorage } from '@krmkit/storage'
import { describe, expect, it } from 'vitest'
import type { ApiServerOptions } from '../server/options.ts'
import { type SampleServer, sampleServer } from '../testing/sample-server.ts'

const rbacPath = '/apis/rbac.authorization.k8s.io/v1'
const apiVersion = 'rbac.authorization.k8s.io/v1'
const jane = { username: 'jane', groups: ['dev', 'system:authenticated'] }

const withRoles: Partial<ApiServerOptions> = {
  authorizer: async ({ rbac, nodes }) => createUnionAuthorizer([createPrivilegedGroupsAuthorizer(), await nodes(), await rbac()]),
  bootstrapRoles: true,
}

async function make({ ask }: SampleServer, path: string, body: object): Promise<void> {
  const { status, text } = await ask(path, { method: 'POST', body })
  if (status !== 201) throw new Error(text)
}

const clusterRole = (name: string, ...rules: object[]) => ({ apiVersion, kind: 'ClusterRole', metadata: { name }, rules })
const clusterBinding = (name: string, role: string, ...subjects: object[]) => ({
  apiVersion,
  kind: 'ClusterRoleBinding',
  metadata: { name },
  roleRef: { kind: 'ClusterRole', name: role },
  subjects,
})
const user = { kind: 'User', name: 'jane' }
const readConfigMaps = { apiGroups: [''], resources: ['configmaps'], verbs: ['list'] }

describe('roles in the store', () => {
  it('take effect for the next request, and so does their removal [P312]', async () => {
    const sample = await sampleServer(withRoles)
    const { ask } = sample
    const list = async () => (await ask('/api/v1/configmaps', { user: jane })).status
    await make(sample, `${rbacPath}/clusterroles`, clusterRole('reader', readConfigMaps))
    for (let i = 0; i < 20; i++) {
      expect(await list()).toBe(403)
      await make(sample, `${rbacPath}/clusterrolebindings`, clusterBinding('b', 'reader', user))
      expect(await list()).toBe(200)
      expect((await ask(`${rbacPath}/clusterrolebindings/b`, { method: 'DELETE' })).status).toBe(200)
    }
    await make(sample, `${rbacPath}/clusterrolebindings`, clusterBinding('b', 'reader', user))
    const empty = { rules: [] }
    const headers = { 'content-type': 'application/merge-patch+json' }
    expect((await ask(`${rbacPath}/clusterroles/reader`, { method: 'PATCH', body: empty, headers })).status).toBe(200)
    expect(await list()).toBe(403)
  })

  it('are in force after a restart', async () => {
    const storage = memoryStorage({ clock: fakeClock(0) })
    const first = await sampleServer({ ...withRoles, storage })
    await make(first, `${rbacPath}/clusterroles`, clusterRole('reader', readConfigMaps))
    await make(first, `${rbacPath}/clusterrolebindings`, clusterBinding('b', 'reader', user))
    const second = await sampleServer({ ...withRoles, storage })
    expect((await second.ask('/api/v1/configmaps', { user: jane })).status).toBe(200)
  })

  it('appear as the reason in access reviews', async () => {
    const sample = await sampleServer(withRoles)
    await make(sample, `${rbacPath}/clusterroles`, clusterRole('reader', readConfigMaps))
    await make(sample, `${rbacPath}/clusterrolebindings`, clusterBinding('b', 'reader', user))
    const spec = { resourceAttributes: { verb: 'list', resource: 'configmaps' } }
    const body = { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectAccessReview', spec }
    const path = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews'
    const { json } = await sample.ask(path, { method: 'POST', body, user: jane })
    expect(json.status).toEqual({
      allowed: true,
      reason: 'RBAC: allowed by ClusterRoleBinding "b" of ClusterRole "reader" to User "jane"',
    })
  })

  it('apply to dry runs [P197]', async () => {
    const sample = await sampleServer(withRoles)
    const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } }
    const create = async () =>
      (await sample.ask('/api/v1/namespaces/default/configmaps?dryRun=All', { method: 'POST', body, user: jane })).status
    expect(await create()).toBe(403)
    await make(sample, `${rbacPath}/clusterroles`, clusterRole('w', { ...readConfigMaps, verbs: ['create'] }))
    await make(sample, `${rbacPath}/clusterrolebindings`, clusterBinding('b', 'w', user))
    expect(await create()).toBe(201)
  })

  it('authorize a list by metadata.name like a request for that object', async () => {
    const sample = await sampleServer(withRoles)
    await make(sample, `${rbacPath}/clusterroles`, clusterRole('one', { ...readConfigMaps, resourceNames: ['a'] }))
    await make(sample, `${rbacPath}/clusterrolebindings`, clusterBinding('b', 'one', user))
    const list = async (selector: string) =>
      (await sample.ask(`/api/v1/configmaps?fieldSelector=${encodeURIComponent(selector)}`, { user: jane })).status
    expect(await list('metadata.name=a')).toBe(200)
    expect(await list('metadata.name=b')).toBe(403)
    expect(await list('metadata.name!=a')).toBe(403)
    expect((await sample.ask('/api/v1/configmaps', { user: jane })).status).toBe(403)
    const collection = '/api/v1/namespaces/default/configmaps?fieldSelector=metadata.name%3Da'
    expect((await sample.ask(collection, { user: jane, method: 'DELETE' })).status).toBe(403)
  })

  it('require the create verb for an apply or PUT that creates an object', async () => {
    const sample = await sampleServer(withRoles)
    await make(
      sample,
      `${rbacPath}/clusterroles`,
      clusterRole('w', { apiGroups: ['', apiVersion.slice(0, -3)], resources: ['*'], verbs: ['patch', 'update'] }),
    )
    await make(sample, `${rbacPath}/clusterrolebindings`, clusterBinding('b', 'w', user))
    const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'new' } }
    const headers = { 'content-type': 'application/apply-patch+yaml' }
    const target = '/api/v1/namespaces/default/configmaps/new'
    const applied = await sample.ask(`${target}?fieldManager=m`, { method: 'PATCH', body, headers, user: jane })
    expect([applied.status, applied.json.message]).toEqual([
      403,
      'configmaps "new" is forbidden: User "jane" cannot create resource "configmaps" in API group "" in the namespace "default"',
    ])
    const role = { apiVersion, kind: 'Role', metadata: { name: 'new' }, rules: [] }
    const put = await sample.ask(`${rbacPath}/namespaces/default/roles/new`, { method: 'PUT', body: role, user: jane })
    expect(put.status).toBe(403)
    await make(sample, '/api/v1/namespaces/default/configmaps', body)
    expect((await sample.ask(`${target}?fieldManager=m`, { method: 'PATCH', body, headers, user: jane })).status).toBe(200)
  })

  it('grant a node access to the objects of a new pod at once', async () => {
    const sample = await sampleServer(withRoles)
    const node = { username: 'system:node:n1', groups: ['system:nodes', 'system:authenticated'] }
    await make(sample, '/api/v1/namespaces/default/secrets', { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' } })
    const read = async () => (await sample.ask('/api/v1/namespaces/default/secrets/s', { user: node })).status
    expect(await read()).toBe(403)
    const spec = {
      nodeName: 'n1',
      containers: [{ name: 'c', image: 'i' }],
      volumes: [{ name: 'v', secret: { secretName: 's' } }],
    }
    await make(sample, '/api/v1/namespaces/default/pods', { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec })
    expect(await read()).toBe(200)
    await sample.ask('/api/v1/namespaces/default/pods/p?gracePeriodSeconds=0', { method: 'DELETE' })
    expect(await read()).toBe(403)
  })
})

describe('bootstrap roles', () => {
  it('exist after start, are reported by health checks, and are written once', async () => {
    const storage = memoryStorage({ clock: fakeClock(0) })
    const first = await sampleServer({ ...withRoles, storage })
    const { json } = await first.ask(`${rbacPath}/clusterroles`)
    expect(json.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name)).toContain('cluster-admin')
    for (const root of ['healthz', 'livez', 'readyz']) {
      expect(await first.ask(`/${root}/poststarthook/rbac/bootstrap-roles`)).toMatchObject({ status: 200, text: 'ok' })
    }
    const { revision } = storage
    await sampleServer({ ...withRoles, storage })
    expect(storage.revision).toBe(revision)
  })

  it('are restored when rules are missing, and keep additions', async () => {
    const storage = memoryStorage({ clock: fakeClock(0) })
    const first = await sampleServer({ ...withRoles, storage })
    const { ask } = first
    await ask(`${rbacPath}/clusterroles/system:basic-user`, { method: 'DELETE' })
    await ask(`${rbacPath}/clusterrolebindings/system:basic-user`, { method: 'DELETE' })
    await make(first, `${rbacPath}/clusterrolebindings`, { ...clusterBinding('system:basic-user', 'cluster-admin', user) })
    const patch = { body: { subjects: [user] }, headers: { 'content-type': 'application/merge-patch+json' } }
    await ask(`${rbacPath}/clusterrolebindings/system:discovery`, { method: 'PATCH', ...patch })
    const second = await sampleServer({ ...withRoles, storage })
    expect((await second.ask(`${rbacPath}/clusterroles/system:basic-user`)).status).toBe(200)
    const basic = await second.ask(`${rbacPath}/clusterrolebindings/system:basic-user`)
    expect([basic.json.roleRef.name, basic.json.subjects[0].name]).toEqual(['system:basic-user', 'system:authenticated'])
    const discovery = await second.ask(`${rbacPath}/clusterrolebindings/system:discovery`)
    expect(discovery.json.subjects.map(({ name }: { name: string }) => name)).toEqual(['jane', 'system:authenticated'])
  })

  it('are not created by default', async () => {
    const { ask } = await sampleServer()
    expect((await ask(`${rbacPath}/clusterroles`)).json.items).toEqual([])
    expect((await ask('/healthz/poststarthook/rbac/bootstrap-roles')).status).toBe(404)
  })
})

describe('other authorizers', () => {
  it('decide access reviews [P340]', async () => {
    const policies = parseAbacPolicies('{"user":"jane","namespace":"shop","resource":"pods","readonly":true}')
    const { ask } = await sampleServer({
      authorizer: createUnionAuthorizer([createPrivilegedGroupsAuthorizer(), createAbacAuthorizer(policies)]),
    })
    const spec = (verb: string) => ({
      user: 'jane',
      groups: ['g'],
      resourceAttributes: { verb, resource: 'pods', namespace: 'shop' },
    })
    const review = async (verb: string) => {
      const body = { apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview', spec: spec(verb) }
      return (await ask('/apis/authorization.k8s.io/v1/subjectaccessreviews', { method: 'POST', body })).json.status
    }
    expect(await review('get')).toEqual({ allowed: true })
    expect(await review('delete')).toEqual({ allowed: false, reason: 'No policy matched.' })
  })

  it('report errors in a review, and fail the request', async () => {
    const authorizer = { authorize: () => ({ decision: 'noOpinion', reason: '', error: 'unreachable' }) as const }
    const { ask } = await sampleServer({ authorizer: createUnionAuthorizer([createPrivilegedGroupsAuthorizer(), authorizer]) })
    expect((await ask('/api/v1/pods', { user: jane })).status).toBe(500)
    const spec = { user: 'jane', resourceAttributes: { verb: 'get', resource: 'pods' } }
    const body = { apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview', spec }
    const { json } = await ask('/apis/authorization.k8s.io/v1/subjectaccessreviews', { method: 'POST', body })
    expect(json.status).toEqual({ allowed: false, evaluationError: 'unreachable' })
  })

  it('deny every request before the server has started', async () => {
    const { AccessControl } = await import('./access-control.ts')
    const { authorizationMetrics } = await import('../metrics/authorization-metrics.ts')
    const { Instruments } = await import('../metrics/instruments.ts')
    const metrics = authorizationMetrics(new Instruments())
    const options = { clock: fakeClock(0), metrics, closing: new AbortController().signal, onError: () => undefined }
    const { stockProfile: profile } = await import('@krmkit/meta')
    const access = new AccessControl(async ({ rbac }) => rbac(), { ...options, profile })
    const attributes = {
      user: jane,
      verb: 'get',
      isResource: false,
      path: '/',
      group: '',
      version: '',
      resource: '',
      subresource: '',
      namespace: '',
      name: '',
    }
    expect(access.authorizer.authorize(attributes)).toMatchObject({ decision: 'noOpinion' })
  })
})
