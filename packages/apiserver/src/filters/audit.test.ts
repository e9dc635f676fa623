import type { AdmissionPlugin } from '@krmkit/admission'
import { systemMasters } from '@krmkit/authorization'
import { createFeatures } from '@krmkit/meta'
import { createFeatureGates } from '@krmkit/versioning'
import { describe, expect, it } from 'vitest'
import type { AuditBackend, AuditEvent, AuditTrail } from '../audit/interfaces.ts'
import { auditPolicy, fixedAuditPolicy } from '../audit/policy.ts'
import { requestOf, sampleServer } from '../testing/sample-server.ts'
import { audit } from './audit.ts'

const jane = { username: 'jane', groups: ['system:authenticated'], uid: 'u1' }
const decided = { 'authorization.k8s.io/decision': 'allow', 'authorization.k8s.io/reason': '' }

describe('audit', () => {
  it('truncates user agents to 1024 characters, and keeps the whole request URI', async () => {
    const events: AuditEvent[] = []
    const { ask } = await sampleServer({ audit: (event) => void events.push(event) })
    const path = `/api/v1/namespaces/default/configmaps/${'n'.repeat(3000)}`
    for (const length of [1024, 1025]) await ask(path, { headers: { 'user-agent': 'a'.repeat(length) } })
    const whole = 'a'.repeat(1024)
    expect(events.map(({ userAgent }) => userAgent)).toEqual([whole, `${whole}...TRUNCATED`])
    expect(events[0]?.requestURI).toBe(path)
  })

  it('records user, verb, object and outcome', async () => {
    const events: AuditEvent[] = []
    const { ask } = await sampleServer({ audit: (event) => void events.push(event) })
    const { headers } = await ask('/api/v1/namespaces/default/configmaps/a?pretty=1', {
      user: jane,
      headers: { 'user-agent': 'kubectl/v1.33.0' },
    })
    expect(events).toEqual([
      {
        kind: 'Event',
        apiVersion: 'audit.k8s.io/v1',
        level: 'Metadata',
        auditID: headers['audit-id'],
        stage: 'ResponseComplete',
        requestURI: '/api/v1/namespaces/default/configmaps/a?pretty=1',
        verb: 'get',
        user: jane,
        userAgent: 'kubectl/v1.33.0',
        objectRef: { resource: 'configmaps', namespace: 'default', name: 'a', apiVersion: 'v1' },
        responseStatus: {
          metadata: {},
          status: 'Failure',
          message: 'configmaps "a" not found',
          reason: 'NotFound',
          details: { name: 'a', kind: 'configmaps' },
          code: 404,
        },
        requestReceivedTimestamp: '2024-01-01T00:00:00.000000Z',
        stageTimestamp: '2024-01-01T00:00:00.000000Z',
        annotations: decided,
      },
    ])
  })

  it('records rejected requests', async () => {
    const events: AuditEvent[] = []
    const { ask } = await sampleServer({ authorizer: systemMasters, audit: (event) => void events.push(event) })
    expect((await ask('/api/v1/secrets', { user: jane })).status).toBe(403)
    expect(events.map(({ verb, responseStatus }) => [verb, responseStatus?.code])).toEqual([['list', 403]])
  })

  it('records both users of an impersonated request', async () => {
    const events: AuditEvent[] = []
    const { ask } = await sampleServer({ audit: (event) => void events.push(event) })
    const headers = { 'impersonate-user': 'carl', 'impersonate-group': ['team'], 'impersonate-uid': '7' }
    expect((await ask('/api/v1/configmaps', { user: jane, headers })).status).toBe(200)
    expect(events.map(({ user, impersonatedUser }) => [user, impersonatedUser])).toEqual([
      [jane, { username: 'carl', groups: ['team', 'system:authenticated'], uid: '7' }],
    ])
  })

  it('records the verb that allowed a constrained impersonation', async () => {
    const events: AuditEvent[] = []
    const features = createFeatures('1.36')
    const { ask } = await sampleServer({ features, audit: (event) => void events.push(event) })
    expect((await ask('/api/v1/configmaps', { user: jane, headers: { 'impersonate-user': 'carl' } })).status).toBe(200)
    expect(events[0]?.authenticationMetadata).toEqual({ impersonationConstraint: 'impersonate:user-info' })
  })

  it('records the user of a rejected impersonation [P312]', async () => {
    const events: AuditEvent[] = []
    const { ask } = await sampleServer({ authorizer: systemMasters, audit: (event) => void events.push(event) })
    expect((await ask('/api', { user: jane, headers: { 'impersonate-user': 'root' } })).status).toBe(403)
    expect(events).toMatchObject([{ user: jane, responseStatus: { code: 403 } }])
    expect(events[0]).not.toHaveProperty('impersonatedUser')
  })

  it('contains no bodies, tokens or headers', async () => {
    const events: AuditEvent[] = []
    const { ask } = await sampleServer({ audit: (event) => void events.push(event) })
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' }, stringData: { password: 'hunter2' } }
    const headers = { authorization: 'Bearer topsecret', cookie: 'session=crumbs' }
    expect((await ask('/api/v1/namespaces/default/secrets', { method: 'POST', body: secret, headers })).status).toBe(201)
    const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token: 'reviewed-token' } }
    await ask('/apis/authentication.k8s.io/v1/tokenreviews', { method: 'POST', body: review, headers })
    expect(events).toHaveLength(2)
    const text = JSON.stringify(events)
    for (const word of ['hunter2', 'aHVudGVyMg', 'topsecret', 'crumbs', 'reviewed-token']) expect(text).not.toContain(word)
  })

  it('annotates requests of deprecated versions [P304]', async () => {
    const events: AuditEvent[] = []
    const { ask } = await sampleServer({ audit: (event) => void events.push(event) })
    const { headers } = await ask('/api/v1/componentstatuses')
    expect(headers['warning']).toEqual(['299 - "v1 ComponentStatus is deprecated in v1.19+"'])
    expect(events[0]?.annotations).toEqual({ ...decided, 'k8s.io/deprecated': 'true' })
  })
})

/** A trail that audits every request at one level, and its events. */
function keeping(policy: AuditTrail['policy'], rest: Partial<AuditBackend> = {}): AuditTrail & { readonly events: AuditEvent[] } {
  const events: AuditEvent[] = []
  return { policy, events, backend: { process: (batch) => void events.push(...batch), ...rest } }
}
const configMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: { k: 'v' } }
const collection = '/api/v1/namespaces/default/configmaps'

describe('audit trails', () => {
  it('record a request at receipt and at completion', async () => {
    const trail = keeping(fixedAuditPolicy('Metadata'))
    const { ask } = await sampleServer({ audit: trail })
    await ask(collection, { method: 'POST', body: configMap })
    expect(trail.events.map(({ stage, responseStatus }) => [stage, responseStatus?.code])).toEqual([
      ['RequestReceived', undefined],
      ['ResponseComplete', 201],
    ])
    expect(trail.events[0]).not.toHaveProperty('annotations')
  })

  it('record the name of a created object that the path does not contain', async () => {
    const trail = keeping(fixedAuditPolicy('Metadata', ['RequestReceived']))
    const { ask } = await sampleServer({ audit: trail })
    await ask(collection, { method: 'POST', body: configMap })
    expect(trail.events[0]?.objectRef).toEqual({ resource: 'configmaps', namespace: 'default', name: 'a', apiVersion: 'v1' })
    expect(trail.events[0]).not.toHaveProperty('requestObject')
  })

  it('record the request object from level Request on, and the response object at RequestResponse', async () => {
    const bodies = keeping(fixedAuditPolicy('Request', ['RequestReceived']))
    const both = keeping(fixedAuditPolicy('RequestResponse', ['RequestReceived']))
    const { ask } = await sampleServer({ audit: [bodies, both] })
    await ask(collection, { method: 'POST', body: configMap })
    expect(bodies.events[0]).toMatchObject({ level: 'Request', requestObject: { kind: 'ConfigMap', data: { k: 'v' } } })
    expect(bodies.events[0]).not.toHaveProperty('responseObject')
    const [event] = both.events as { requestObject?: { metadata: object }; responseObject?: { metadata: object } }[]
    expect(event?.requestObject?.metadata).not.toHaveProperty('uid')
    expect(event?.responseObject?.metadata).toHaveProperty('uid')
  })

  it('record patches unchanged', async () => {
    const trail = keeping(fixedAuditPolicy('Request', ['RequestReceived']))
    const { ask } = await sampleServer({ audit: trail })
    await ask(collection, { method: 'POST', body: configMap })
    const headers = { 'content-type': 'application/merge-patch+json' }
    await ask(`${collection}/a`, { method: 'PATCH', body: { data: { k: 'w' } }, headers })
    expect(trail.events[1]?.requestObject).toEqual({ data: { k: 'w' } })
  })

  it('record responses in YAML and protobuf as objects', async () => {
    const trail = keeping(fixedAuditPolicy('RequestResponse', ['RequestReceived']))
    const { ask } = await sampleServer({ audit: trail })
    await ask(collection, { method: 'POST', body: configMap })
    for (const accept of ['application/yaml', 'application/vnd.kubernetes.protobuf']) {
      await ask(`${collection}/a`, { headers: { accept } })
      expect(trail.events.at(-1)?.responseObject).toMatchObject({ kind: 'ConfigMap', data: { k: 'v' } })
    }
  })

  it('omit managed fields on request', async () => {
    const rules = [{ level: 'RequestResponse', omitStages: ['RequestReceived'] }]
    const trail = keeping(auditPolicy({ apiVersion: 'audit.k8s.io/v1', kind: 'Policy', rules, omitManagedFields: true }))
    const { ask } = await sampleServer({ audit: trail })
    await ask(collection, { method: 'POST', body: configMap })
    await ask(collection)
    expect(trail.events).toHaveLength(2)
    expect(JSON.stringify(trail.events)).not.toContain('managedFields')
  })

  it('redact tokens at every level', async () => {
    const trail = keeping(fixedAuditPolicy('RequestResponse'))
    const { ask } = await sampleServer({ audit: trail })
    const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token: 'reviewed-token' } }
    const headers = { authorization: 'Bearer topsecret', cookie: 'session=crumbs' }
    await ask('/apis/authentication.k8s.io/v1/tokenreviews', { method: 'POST', body: review, headers })
    const text = JSON.stringify(trail.events)
    expect(text).toContain('"spec":{"token":"(not kept)"}')
    for (const word of ['topsecret', 'crumbs', 'reviewed-token']) expect(text).not.toContain(word)
  })

  describe('contain no part of a secret in a body', () => {
    const token = 'SECRETSECRETSECRET'
    const paths = ['/apis/authentication.k8s.io/v1/tokenreviews', '/api/v1/namespaces/default/secrets']
    const bodies = [
      `{"${token}":`,
      `{"spec":{"token":"${token}`,
      `{"a":"${token}"}x`,
      `${token}`,
      `spec: {token: ${token}`,
      `%${token}`,
      `k8s\0${token}`,
    ]
    const features = createFeatureGates({ set: 'CBORServingAndStorage=true' })
    const types = ['json', 'yaml', 'vnd.kubernetes.protobuf', 'cbor'].map((type) => `application/${type}`)
    it.each(paths.flatMap((path) => types.map((type) => [path, type])))('%s, malformed %s', async (path, type) => {
      for (const level of ['Metadata', 'RequestResponse'] as const) {
        const trail = keeping(fixedAuditPolicy(level))
        const { ask } = await sampleServer({ audit: trail, features })
        for (const text of bodies) {
          const { status } = await ask(path, {
            method: 'POST',
            text,
            headers: { 'content-type': type },
          })
          expect([400, 422], text).toContain(status)
        }
        expect(trail.events).toHaveLength(2 * bodies.length)
        const log = JSON.stringify(trail.events)
        for (const part of [token.slice(0, 6), Buffer.from(token.slice(0, 6)).toString('hex')]) expect(log).not.toContain(part)
      }
    })
  })

  it('record a watch at start and at end', async () => {
    const trail = keeping(fixedAuditPolicy('Metadata'))
    const { server } = await sampleServer({ audit: trail })
    const leaving = new AbortController()
    const response = await server.handle(requestOf(`${collection}?watch=1`, { user: jane, signal: leaving.signal }))
    const stages = () => trail.events.map(({ stage }) => stage)
    expect(stages()).toEqual(['RequestReceived', 'ResponseStarted'])
    if (response.body.kind !== 'stream') throw new Error('no stream')
    expect(response.body.ready).toBeDefined()
    const reading = response.body.stream[Symbol.asyncIterator]()
    const next = reading.next()
    leaving.abort()
    await next
    await reading.return?.()
    expect(stages()).toEqual(['RequestReceived', 'ResponseStarted', 'ResponseComplete'])
  })

  it('record the attempted authentication methods of unauthenticated requests, without credentials [P310]', async () => {
    const trail = keeping(fixedAuditPolicy('RequestResponse'))
    const refusing = { authenticate: async () => ({ kind: 'rejected' as const, reason: 'no' }) }
    const { server } = await sampleServer({ audit: trail, authenticator: refusing })
    const answer = await server.handle(requestOf(collection, { headers: { authorization: 'Bearer topsecret' } }))
    expect(answer.status).toBe(401)
    expect(trail.events).toMatchObject([
      {
        stage: 'ResponseStarted',
        user: {},
        responseStatus: { message: 'Authentication failed, attempted: bearer', code: 401 },
      },
    ])
    expect(JSON.stringify(trail.events)).not.toContain('topsecret')
  })

  it('record requests that are rejected for overload', async () => {
    const trail = keeping(fixedAuditPolicy('Metadata', ['RequestReceived']))
    let allow = () => {}
    const allowed = new Promise<void>((resolve) => {
      allow = resolve
    })
    const authorizer = { authorize: () => allowed.then(() => ({ decision: 'allow' as const, reason: '' })) }
    const { ask } = await sampleServer({ audit: trail, authorizer, limits: { readOnlyInFlight: 1 } })
    const first = ask(collection, { user: jane })
    expect((await ask(collection, { user: jane })).status).toBe(429)
    allow()
    await first
    expect(trail.events).toMatchObject([
      { user: {}, responseStatus: { code: 429 } },
      { user: jane, responseStatus: { code: 200 } },
    ])
  })

  it('record internal errors at stage Panic', async () => {
    const trail = keeping(fixedAuditPolicy('Metadata', ['RequestReceived']))
    const authorizer = {
      authorize: async () => {
        throw new Error('broken')
      },
    }
    const { ask } = await sampleServer({ audit: trail, authorizer })
    expect((await ask(collection, { user: jane })).status).toBe(500)
    expect(trail.events).toMatchObject([
      { stage: 'Panic', responseStatus: { code: 500, reason: 'InternalError', message: 'the server failed: broken' } },
    ])
  })

  it('record the decisions of admission plugins from level Request on', async () => {
    const trail = keeping(fixedAuditPolicy('Request', ['RequestReceived']))
    const plain = keeping(fixedAuditPolicy('Metadata', ['RequestReceived']))
    const team: AdmissionPlugin = {
      name: 'Team',
      handles: ({ operation }) => operation === 'CREATE',
      admit: ({ metadata }, _, { explain }) => {
        metadata.labels = { team: 'none' }
        explain?.('everything has a team')
      },
    }
    const { ask } = await sampleServer({ audit: [trail, plain], admission: [team] })
    await ask(collection, { method: 'POST', body: configMap })
    const key = 'decisions.admission.k8s.io/plugins'
    expect(JSON.parse(trail.events[0]?.annotations?.[key] ?? '')).toEqual([
      {
        plugin: 'Team',
        phase: 'mutating',
        outcome: 'changed',
        changes: ['add /metadata/labels'],
        reasons: ['everything has a team'],
      },
    ])
    expect(plain.events[0]?.annotations).not.toHaveProperty(key)
  })

  it('record nothing for requests that the policy does not select', async () => {
    const rules = [{ level: 'None', users: ['jane'] }, { level: 'Metadata' }]
    const trail = keeping(auditPolicy({ apiVersion: 'audit.k8s.io/v1', kind: 'Policy', rules }))
    const { ask } = await sampleServer({ audit: trail })
    await ask(collection, { user: jane })
    expect(trail.events).toEqual([])
  })

  it('fail the request when a strict backend loses the first event, and only then', async () => {
    const losing = { process: async () => Promise.reject(new Error('disk full')) }
    const strict = keeping(fixedAuditPolicy('Metadata'), { ...losing, strict: true })
    const { ask } = await sampleServer({ audit: strict })
    expect((await ask(collection, { method: 'POST', body: configMap })).status).toBe(500)
    const lenient = await sampleServer({ audit: keeping(fixedAuditPolicy('Metadata'), losing) })
    expect((await lenient.ask(collection, { method: 'POST', body: configMap })).status).toBe(201)
  })

  it('record forwarded source addresses', async () => {
    const trail = keeping(fixedAuditPolicy('Metadata', ['RequestReceived']))
    const { ask } = await sampleServer({ audit: trail })
    await ask(collection, { headers: { 'x-forwarded-for': '10.0.0.1, 10.0.0.2', 'x-real-ip': '<script>' } })
    expect(trail.events[0]?.sourceIPs).toEqual(['10.0.0.1', '10.0.0.2'])
  })

  it('add no filter when none is configured', async () => {
    expect(audit([], undefined as never)).toBeUndefined()
  })
})
