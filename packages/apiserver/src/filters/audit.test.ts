import { systemMasters } from '@krmkit/authorization'
import { fakeClock } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { sampleServer } from '../testing/sample-server.ts'
import { type AuditEvent, audit } from './audit.ts'

const jane = { username: 'jane', groups: ['system:authenticated'], uid: 'u1' }
const decided = { 'authorization.k8s.io/decision': 'allow', 'authorization.k8s.io/reason': '' }

describe('audit', () => {
  it('without a sink there is no filter', () => {
    expect(audit(undefined, fakeClock())).toBeUndefined()
  })

  it('tells who did what and how it ended', async () => {
    const events: AuditEvent[] = []
    const { ask } = await sampleServer({ audit: (event) => void events.push(event) })
    const { headers } = await ask('/api/v1/namespaces/default/configmaps/a?pretty=1', { user: jane })
    expect(events).toEqual([
      {
        auditID: headers['audit-id'],
        stage: 'ResponseComplete',
        level: 'Metadata',
        verb: 'get',
        requestURI: '/api/v1/namespaces/default/configmaps/a?pretty=1',
        user: jane,
        objectRef: { apiGroup: '', apiVersion: 'v1', resource: 'configmaps', subresource: '', namespace: 'default', name: 'a' },
        responseStatus: { code: 404 },
        requestReceivedTimestamp: '2024-01-01T00:00:00.000Z',
        stageTimestamp: '2024-01-01T00:00:00.000Z',
        annotations: decided,
      },
    ])
  })

  it('hears of refusals too', async () => {
    const events: AuditEvent[] = []
    const { ask } = await sampleServer({ authorizer: systemMasters, audit: (event) => void events.push(event) })
    expect((await ask('/api/v1/secrets', { user: jane })).status).toBe(403)
    expect(events.map(({ verb, responseStatus }) => [verb, responseStatus.code])).toEqual([['list', 403]])
  })

  it('P255 tells both users when one acts as another', async () => {
    const events: AuditEvent[] = []
    const { ask } = await sampleServer({ audit: (event) => void events.push(event) })
    const headers = { 'impersonate-user': 'carl', 'impersonate-group': ['team'], 'impersonate-uid': '7' }
    expect((await ask('/api/v1/configmaps', { user: jane, headers })).status).toBe(200)
    expect(events.map(({ user, impersonatedUser }) => [user, impersonatedUser])).toEqual([
      [jane, { username: 'carl', groups: ['team', 'system:authenticated'], uid: '7' }],
    ])
  })

  it('P312 tells who was refused to act as another', async () => {
    const events: AuditEvent[] = []
    const { ask } = await sampleServer({ authorizer: systemMasters, audit: (event) => void events.push(event) })
    expect((await ask('/api', { user: jane, headers: { 'impersonate-user': 'root' } })).status).toBe(403)
    expect(events).toMatchObject([{ user: jane, responseStatus: { code: 403 } }])
    expect(events[0]).not.toHaveProperty('impersonatedUser')
  })

  it('never holds bodies, tokens or headers', async () => {
    const events: AuditEvent[] = []
    const { ask } = await sampleServer({ audit: (event) => void events.push(event) })
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' }, stringData: { password: 'hunter2' } }
    const headers = { authorization: 'Bearer topsecret', cookie: 'session=crumbs' }
    expect((await ask('/api/v1/namespaces/default/secrets', { method: 'POST', body: secret, headers })).status).toBe(201)
    const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token: 'reviewed-token' } }
    await ask('/apis/authentication.k8s.io/v1/tokenreviews', { method: 'POST', body: review, headers })
    expect(events).toHaveLength(2)
    const told = JSON.stringify(events)
    for (const word of ['hunter2', 'aHVudGVyMg', 'topsecret', 'crumbs', 'reviewed-token']) expect(told).not.toContain(word)
  })

  it('P304 the use of a deprecated version is annotated', async () => {
    const events: AuditEvent[] = []
    const { ask } = await sampleServer({ audit: (event) => void events.push(event) })
    const { headers } = await ask('/api/v1/componentstatuses')
    expect(headers['warning']).toEqual(['299 - "v1 ComponentStatus is deprecated in v1.19+"'])
    expect(events[0]?.annotations).toEqual({ ...decided, 'k8s.io/deprecated': 'true' })
  })
})
