import { describe, expect, it } from 'vitest'
import { startApi } from './server.ts'

/** Permissions of certain kinds, and metrics. @see API protocol specification, 5.9 and 6 */

describe('permissions', () => {
  it('certificate requests require create and get permissions [P267]', async () => {
    const group = 'rbac.authorization.k8s.io'
    const requests = '/apis/certificates.k8s.io/v1/certificatesigningrequests'
    const admin = { username: 'admin', groups: ['system:masters', 'system:authenticated'] }
    const alice = { username: 'alice', groups: ['system:authenticated'] }
    await using api = await startApi({ authorizer: async ({ rbac }) => rbac(), bootstrapRoles: true })
    const createRequest = () => api.post(requests, { metadata: { name: 'mine' } }, { user: alice })
    const read = () => api.send('GET', `${requests}/mine`, { user: alice })
    expect([(await createRequest()).json.reason, (await read()).json.reason]).toEqual(['Forbidden', 'Forbidden'])
    const names = { apiGroups: ['certificates.k8s.io'], resources: ['certificatesigningrequests'] }
    const roles = `/apis/${group}/v1/clusterroles`
    await api.post(roles, { metadata: { name: 'ask' }, rules: [{ ...names, verbs: ['create'] }] }, { user: admin })
    const roleRef = { apiGroup: group, kind: 'ClusterRole', name: 'ask' }
    const subjects = [{ apiGroup: group, kind: 'User', name: 'alice' }]
    const bindings = `/apis/${group}/v1/clusterrolebindings`
    expect((await api.post(bindings, { metadata: { name: 'ask' }, roleRef, subjects }, { user: admin })).status).toBe(201)
    // The request passes authorization and fails for its empty content.
    expect([(await createRequest()).json.reason, (await read()).json.reason]).toEqual(['Invalid', 'Forbidden'])
    const rules = [{ ...names, verbs: ['create', 'get'] }]
    await api.put(`${roles}/ask`, { metadata: { name: 'ask' }, rules }, { user: admin })
    expect((await read()).json.reason).toBe('NotFound')
  })
})

describe('metrics', () => {
  it('count requests for deprecated versions [P305]', async () => {
    await using api = await startApi()
    const lines = async () =>
      (await api.get('/metrics')).text.split('\n').filter((line) => line.startsWith('apiserver_requested_dep'))
    expect(await lines()).toEqual([])
    await api.get('/api/v1/componentstatuses')
    expect(await lines()).toEqual([expect.stringMatching(/resource="componentstatuses",.*version="v1"\} 1$/)])
  })
})
