import { createRbacAuthorizer } from '@krmkit/authorization'
import type { ApiObject } from '@krmkit/meta'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { administrator, configMap, configMaps, type SendOptions, startApi, type TestApi } from './server.ts'

/** Rights of impersonated requests. @see API protocol specification, 5.6 */

const group = 'rbac.authorization.k8s.io'
const secrets = '/api/v1/namespaces/default/secrets'
const caller = { username: 'caller', groups: ['system:authenticated'] }
const carl = { username: 'carl', groups: ['system:authenticated'] }

/** A role with these rules for one subject. */
function grant(kind: 'User' | 'Group', name: string, rules: readonly object[]): ApiObject[] {
  const role = `${kind}-${name}`
  const apiVersion = `${group}/v1`
  const binding = {
    roleRef: { apiGroup: group, kind: 'ClusterRole', name: role },
    subjects: [{ apiGroup: group, kind, name }],
  }
  return [
    { apiVersion, kind: 'ClusterRole', metadata: { name: role }, rules } as ApiObject,
    { apiVersion, kind: 'ClusterRoleBinding', metadata: { name: role }, ...binding } as ApiObject,
  ]
}

let api: TestApi
beforeAll(async () => {
  // The caller may do everything with Secrets, carl with ConfigMaps, and the team may read Secrets.
  const authorizer = createRbacAuthorizer({
    objects: [
      ...grant('User', 'caller', [
        { verbs: ['impersonate'], apiGroups: [''], resources: ['users', 'groups'] },
        { verbs: ['*'], apiGroups: [''], resources: ['secrets'] },
      ]),
      ...grant('User', 'carl', [{ verbs: ['*'], apiGroups: [''], resources: ['configmaps'] }]),
      ...grant('Group', 'team', [{ verbs: ['get', 'list'], apiGroups: [''], resources: ['secrets'] }]),
      ...grant('Group', 'system:masters', [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }]),
    ],
  })
  api = await startApi({ authorizer })
  await api.post(configMaps, configMap('a'), { user: administrator })
})
afterAll(() => api.close())

const statusOf = async (method: string, path: string, options: SendOptions) => (await api.send(method, path, options)).status
const acting = (more: Readonly<Record<string, string>> = {}) => ({
  user: caller,
  headers: { 'impersonate-user': 'carl', ...more },
})

describe('an impersonated request', () => {
  it('has the rights of the impersonated user, which the caller lacks [P255]', async () => {
    expect(await statusOf('GET', configMaps, { user: caller })).toBe(403)
    expect(await statusOf('GET', configMaps, acting())).toBe(200)
    expect(await statusOf('POST', configMaps, { ...acting(), body: configMap('by-carl') })).toBe(201)
    expect(await statusOf('DELETE', `${configMaps}/by-carl`, acting())).toBe(200)
  })

  it('lacks the rights that only the caller has, and is refused in the name of the impersonated user [P255]', async () => {
    expect(await statusOf('GET', secrets, { user: caller })).toBe(200)
    const refused = await api.send('GET', secrets, acting())
    expect([refused.status, refused.json.message]).toEqual([
      403,
      'secrets is forbidden: User "carl" cannot list resource "secrets" in API group "" in the namespace "default"',
    ])
    // Nor may it impersonate again in the name of the caller.
    expect(await statusOf('GET', secrets, { user: carl, headers: { 'impersonate-user': 'caller' } })).toBe(403)
  })

  it('has the rights of the impersonated groups [P255]', async () => {
    const headers = { 'impersonate-group': 'team' }
    expect(await statusOf('GET', secrets, acting(headers))).toBe(200)
    expect(await statusOf('POST', secrets, { ...acting(headers), body: { metadata: { name: 's' } } })).toBe(403)
    expect(await statusOf('GET', secrets, { user: carl })).toBe(403)
  })

  it('is reviewed with the rights of the impersonated user and groups [P255]', async () => {
    const reviews = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews'
    const review = (resource: string) => ({
      kind: 'SelfSubjectAccessReview',
      apiVersion: 'authorization.k8s.io/v1',
      spec: { resourceAttributes: { verb: 'list', resource, namespace: 'default' } },
    })
    const allowed = async (resource: string, options: SendOptions) =>
      ((await api.post(reviews, review(resource), options)).json.status as { allowed?: boolean } | undefined)?.allowed
    const admin = { user: administrator, headers: { 'impersonate-user': 'carl', 'impersonate-group': 'system:masters' } }
    expect([await allowed('secrets', admin), await allowed('nodes', admin)]).toEqual([true, true])
  })
})
