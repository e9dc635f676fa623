import { describe, expect, it } from 'vitest'
import { sampleServer } from '../testing/sample-server.ts'
import { ensureBootstrapRoles } from './bootstrap-roles.ts'

const bindings = '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings'

describe('bootstrap bindings', () => {
  it('copy the customised subjects of system:discovery to system:public-info-viewer', async () => {
    const { ask, server } = await sampleServer({ bootstrapRoles: true })
    const headers = { 'content-type': 'application/merge-patch+json' }
    const annotations = { 'rbac.authorization.kubernetes.io/autoupdate': 'false', team: 'blue' }
    const body = { metadata: { annotations, labels: { own: 'yes' } }, subjects: [{ kind: 'User', name: 'jane' }] }
    const { json: discovery } = await ask(`${bindings}/system:discovery`, { method: 'PATCH', headers, body })
    await ask(`${bindings}/system:public-info-viewer`, { method: 'DELETE' })
    await ensureBootstrapRoles(server.registry, server.profile)
    const { json } = await ask(`${bindings}/system:public-info-viewer`)
    expect(json.subjects).toEqual(discovery.subjects)
    expect(json.metadata).toMatchObject({ annotations, labels: discovery.metadata.labels })
    expect((await ask(`${bindings}/system:discovery`)).json).toEqual(discovery)
  })
})
