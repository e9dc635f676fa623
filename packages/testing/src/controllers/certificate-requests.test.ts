import { X509Certificate } from 'node:crypto'
import { CertificateError, createCertificateRequest } from '@krmkit/certificates'
import { resourceType } from '@krmkit/client'
import { ControllersError } from '@krmkit/controllers'
import type { ApiObject, UserInfo } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import type { TestServer, TestServerOptions } from '../interfaces.ts'
import { createTestServer } from '../test-server.ts'

interface Csr extends ApiObject {
  spec: {
    request: string
    signerName: string
    usages: string[]
    expirationSeconds?: number
    username?: string
    groups?: string[]
    uid?: string
    extra?: Record<string, string[]>
  }
  status?: { certificate?: string; conditions?: Condition[] }
}
type Condition = Partial<Record<'type' | 'status' | 'reason' | 'message' | 'lastUpdateTime' | 'lastTransitionTime', string>>

const group = 'certificates.k8s.io'
const requests = resourceType<Csr>({
  group,
  version: 'v1',
  resource: 'certificatesigningrequests',
  kind: 'CertificateSigningRequest',
  namespaced: false,
})
const clientSigner = 'kubernetes.io/kube-apiserver-client'
const nodeSigner = 'kubernetes.io/kube-apiserver-client-kubelet'
const servingSigner = 'kubernetes.io/kubelet-serving'
const nodeUsages = ['key encipherment', 'digital signature', 'client auth']
const nodeSubject = { organizations: ['system:nodes'], commonName: 'system:node:a' }
const node: UserInfo = { username: 'system:node:a', groups: ['system:nodes', 'system:authenticated'] }
const start = Date.UTC(2031, 0, 1)

function draft(name: string, spec: Partial<Csr['spec']> & { pem?: string } = {}) {
  const { pem = createCertificateRequest({ subject: { commonName: 'jane' } }).request, ...more } = spec
  const request = Buffer.from(pem).toString('base64')
  return { metadata: { name }, spec: { request, signerName: clientSigner, usages: ['client auth'], ...more } }
}
const nodeDraft = (name: string, spec: Partial<Csr['spec']> = {}) =>
  draft(name, {
    pem: createCertificateRequest({ subject: nodeSubject }).request,
    signerName: nodeSigner,
    usages: nodeUsages,
    ...spec,
  })

async function decide(cluster: TestServer, name: string, type = 'Approved') {
  const { client } = cluster
  const found = await client.get(requests, name)
  const conditions = [...(found.status?.conditions ?? []), { type, status: 'True', reason: 'Test' }]
  const subresource = type === 'Failed' ? 'status' : 'approval'
  await client.update(requests, { ...found, status: { ...found.status, conditions } } as Csr, { subresource })
  await cluster.settle()
  return client.get(requests, name)
}
const certificateOf = ({ status }: { readonly status?: { readonly certificate?: string } }) =>
  new X509Certificate(Buffer.from(status?.certificate ?? '', 'base64'))
const controllers = [
  'certificatesigningrequest-approving-controller',
  'certificatesigningrequest-signing-controller',
  'certificatesigningrequest-cleaner-controller',
]
const begin = (options: TestServerOptions = {}) => createTestServer({ controllers, startAtMs: start, ...options })

describe('signing', () => {
  it('signs requests only after approval [P131] [P132] [P134]', async () => {
    await using cluster = await begin()
    await cluster.client.create(requests, draft('a', { expirationSeconds: 3600 }))
    await cluster.settle()
    expect((await cluster.client.get(requests, 'a')).status).toEqual({})
    const signed = await decide(cluster, 'a')
    const certificate = certificateOf(signed)
    expect(certificate.verify(new X509Certificate(await cluster.signingAuthority()).publicKey)).toBe(true)
    expect(certificate.toLegacyObject().subject.CN).toBe('jane')
    expect(Date.parse(certificate.validTo)).toBe(start + 3_600_000)
    expect(signed.status?.conditions?.map(({ type }) => type)).toEqual(['Approved'])
  })

  it('does not sign denied or failed requests [P133]', async () => {
    await using cluster = await begin()
    for (const name of ['denied', 'failed']) await cluster.client.create(requests, draft(name))
    expect((await decide(cluster, 'denied', 'Denied')).status?.certificate).toBeUndefined()
    await decide(cluster, 'failed', 'Failed')
    expect((await decide(cluster, 'failed')).status?.certificate).toBeUndefined()
  })

  it('ignores requests of other signers [P112]', async () => {
    await using cluster = await begin()
    await cluster.client.create(requests, draft('a', { signerName: 'example.com/mine' }))
    expect((await decide(cluster, 'a')).status?.certificate).toBeUndefined()
  })

  const wrong = [
    ['usages', draft('a', { usages: ['client auth', 'server auth'] }), 'invalid usage for client certificate: server auth'],
    [
      'subject',
      nodeDraft('a', { signerName: servingSigner, usages: ['digital signature', 'server auth'] }),
      'DNS or IP subjectAltName is required',
    ],
    ['signature', draft('a', { pem: forged() }), 'the request is not signed with its own key'],
  ] as const

  it.each(wrong)('reports once why a request is not signed: %s [P111]', async (_, request, why) => {
    const errors: unknown[] = []
    await using cluster = await begin({ onError: (error) => errors.push(error) })
    await cluster.client.create(requests, structuredClone(request))
    const answer = await decide(cluster, 'a')
    expect(answer.status?.certificate).toBeUndefined()
    expect(answer.status?.conditions).toMatchObject([
      { type: 'Approved' },
      { type: 'Failed', message: expect.stringContaining(why) },
    ])
    await cluster.client.patch(requests, 'a', { type: 'merge', patch: { metadata: { labels: { a: 'b' } } } })
    await cluster.settle()
    expect(errors).toEqual([expect.objectContaining({ code: 'NotSigned', message: expect.stringContaining(why) })])
    expect(errors[0]).toBeInstanceOf(ControllersError)
  })

  it('writes the failure to the request, unless reportFailures is false [P111]', async () => {
    const signers = { of: () => ({ signerName: clientSigner, sign: refuse }) }
    await using cluster = await begin({ signing: { signers } })
    await cluster.client.create(requests, draft('a'))
    const { conditions = [] } = (await decide(cluster, 'a')).status ?? {}
    expect(conditions[1]).toMatchObject({
      type: 'Failed',
      status: 'True',
      reason: 'SignerValidationFailure',
      message: 'never',
      lastUpdateTime: '2031-01-01T00:00:00Z',
    })
    await using quiet = await begin({ signing: { signers, reportFailures: false } })
    await quiet.client.create(requests, draft('a'))
    expect((await decide(quiet, 'a')).status?.conditions).toHaveLength(1)
  })

  it('writes the failure to a concurrently changed request, and reports it once', async () => {
    const errors: unknown[] = []
    let changes = 0
    const sign = async (): Promise<string> => {
      if (changes++ === 0)
        await cluster.client.patch(requests, 'a', { type: 'merge', patch: { metadata: { labels: { a: 'b' } } } })
      return refuse()
    }
    const signers = { of: () => ({ signerName: clientSigner, sign }) }
    await using cluster = await begin({ signing: { signers }, onError: (error) => errors.push(error) })
    await cluster.client.create(requests, draft('a'))
    await decide(cluster, 'a')
    await cluster.clock.advance({ seconds: 30 })
    const { status } = await cluster.client.get(requests, 'a')
    expect(status?.conditions?.map(({ type }) => type)).toEqual(['Approved', 'Failed'])
    expect(errors.filter((error) => (error as ControllersError).code === 'NotSigned')).toHaveLength(1)
  })

  it('retries when the authority fails', async () => {
    let certificate: string | undefined
    const sign = () => (certificate === undefined ? Promise.reject(new Error('no key')) : Promise.resolve(certificate))
    await using cluster = await begin({ signing: { signers: { of: () => ({ signerName: clientSigner, sign }) } } })
    await cluster.client.create(requests, draft('a'))
    expect((await decide(cluster, 'a')).status?.certificate).toBeUndefined()
    certificate = await cluster.signingAuthority()
    await cluster.clock.advance({ seconds: 30 })
    expect(certificateOf(await cluster.client.get(requests, 'a')).ca).toBe(true)
  })
})

describe('requester', () => {
  it('is set by the server and cannot be forged or changed [P267]', async () => {
    await using cluster = await begin()
    const carl = { username: 'carl', uid: '7', groups: ['a', 'system:authenticated'], extra: { scopes: ['few'] } }
    const forgery = { username: 'system:node:a', uid: '0', groups: ['system:masters'], extra: { scopes: ['all'] } }
    const made = await cluster.as(carl).create(requests, draft('a', forgery))
    expect(made.spec).toMatchObject(carl)
    const changed = { ...made, spec: { ...made.spec, ...forgery, usages: ['any'] } } as Csr
    expect((await cluster.client.update(requests, changed)).spec).toEqual(made.spec)
    for (const subresource of ['status', 'approval']) {
      const { metadata } = await cluster.client.get(requests, 'a')
      const next = await cluster.client.update(requests, { ...changed, metadata } as Csr, { subresource })
      expect(next.spec).toEqual(made.spec)
    }
  })

  it('with a forged node name is not approved [P99]', async () => {
    const rules = [{ verbs: ['create'], apiGroups: [group], resources: ['certificatesigningrequests'] }]
    const ofNodes = [{ verbs: ['create'], apiGroups: [group], resources: ['certificatesigningrequests/selfnodeclient'] }]
    await using cluster = await begin({ users: { bob: rules, 'system:node:a': ofNodes } })
    await cluster.as('bob').create(requests, nodeDraft('a', { username: 'system:node:a', groups: ['system:nodes'] }))
    await cluster.settle()
    expect((await cluster.client.get(requests, 'a')).status).toEqual({})
  })
})

describe('approval', () => {
  const may = (subresource: string) => [
    {
      verbs: ['create'],
      apiGroups: [group],
      resources: ['certificatesigningrequests', `certificatesigningrequests/${subresource}`],
    },
  ]

  it('approves and signs authorized client certificates of nodes [P99]', async () => {
    await using cluster = await begin({ users: { joiner: may('nodeclient'), bob: may('nothing') } })
    await cluster.as('joiner').create(requests, nodeDraft('a'))
    await cluster.as('bob').create(requests, nodeDraft('b'))
    await cluster.settle()
    const approved = await cluster.client.get(requests, 'a')
    expect(approved.status?.conditions).toEqual([
      expect.objectContaining({
        type: 'Approved',
        status: 'True',
        reason: 'AutoApproved',
        message: 'Auto approving kubelet client certificate after SubjectAccessReview.',
      }),
    ])
    expect(certificateOf(approved).toLegacyObject().subject).toMatchObject({ O: 'system:nodes', CN: 'system:node:a' })
    expect((await cluster.client.get(requests, 'b')).status).toEqual({})
  })

  it('allows a node to renew only its own certificate [P99]', async () => {
    await using cluster = await begin({
      users: { 'system:node:a': may('selfnodeclient'), 'system:node:b': may('selfnodeclient') },
    })
    await cluster.as(node).create(requests, nodeDraft('own'))
    await cluster.as({ ...node, username: 'system:node:b' }).create(requests, nodeDraft('other'))
    await cluster.settle()
    const { status } = await cluster.client.get(requests, 'own')
    expect(status?.conditions?.[0]?.message).toBe('Auto approving self kubelet client certificate after SubjectAccessReview.')
    expect((await cluster.client.get(requests, 'other')).status).toEqual({})
  })

  it('repeats the authorization check, because permission may be granted later [P99]', async () => {
    const users: Record<string, ReturnType<typeof may>> = { joiner: may('nothing') }
    await using cluster = await begin({ users })
    await cluster.as('joiner').create(requests, nodeDraft('a'))
    await cluster.settle()
    users.joiner![0]!.resources.push('certificatesigningrequests/nodeclient')
    expect((await cluster.client.get(requests, 'a')).status).toEqual({})
    await cluster.clock.advance({ seconds: 1 })
    expect((await cluster.client.get(requests, 'a')).status?.certificate).toBeDefined()
  })

  it('does not approve other requests [P95] [P101] [P103]', async () => {
    await using cluster = await begin()
    const { client } = cluster
    const serving = createCertificateRequest({ subject: nodeSubject, names: { dns: ['a'] } }).request
    await client.create(requests, draft('client'))
    await client.create(
      requests,
      draft('serving', { pem: serving, signerName: servingSigner, usages: ['digital signature', 'server auth'] }),
    )
    await client.create(requests, nodeDraft('usages', { usages: [...nodeUsages, 'server auth'] }))
    await cluster.settle()
    for (const name of ['client', 'serving', 'usages']) expect((await client.get(requests, name)).status, name).toEqual({})
    expect((await decide(cluster, 'serving')).status?.certificate).toBeDefined()
  })
})

describe('clean-up', () => {
  const names = async (cluster: TestServer) => (await cluster.client.list(requests)).items.map(({ metadata }) => metadata.name)

  it('deletes requests an hour after approval, denial or failure, pending ones after a day [P135]', async () => {
    await using cluster = await begin()
    for (const name of ['approved', 'denied', 'failed', 'pending']) await cluster.client.create(requests, draft(name))
    await cluster.clock.advance({ minutes: 30 })
    await decide(cluster, 'approved')
    await decide(cluster, 'denied', 'Denied')
    await decide(cluster, 'failed', 'Failed')
    await cluster.clock.advance({ minutes: 59 })
    expect(await names(cluster)).toEqual(['approved', 'denied', 'failed', 'pending'])
    await cluster.clock.advance({ minutes: 1 })
    expect(await names(cluster)).toEqual(['pending'])
    await cluster.clock.advance({ hours: 22 })
    expect(await names(cluster)).toEqual(['pending'])
    await cluster.clock.advance({ minutes: 30 })
    expect(await names(cluster)).toEqual([])
  })

  it('restarts the hour on a change of state, not of labels [P135]', async () => {
    await using cluster = await begin()
    await cluster.client.create(requests, draft('a', { signerName: 'example.com/mine' }))
    await decide(cluster, 'a')
    await cluster.clock.advance({ minutes: 50 })
    await cluster.client.patch(requests, 'a', { type: 'merge', patch: { metadata: { labels: { a: 'b' } } } })
    await decide(cluster, 'a', 'Failed')
    await cluster.clock.advance({ minutes: 50 })
    expect(await names(cluster)).toEqual(['a'])
    await cluster.clock.advance({ minutes: 10 })
    expect(await names(cluster)).toEqual([])
  })

  it('deletes requests when the certificate expires [P135]', async () => {
    await using cluster = await begin()
    await cluster.client.create(requests, draft('a', { expirationSeconds: 600 }))
    await decide(cluster, 'a')
    await cluster.clock.advance({ minutes: 9 })
    expect(await names(cluster)).toEqual(['a'])
    await cluster.clock.advance({ minutes: 1 })
    expect(await names(cluster)).toEqual([])
  })

  it('keeps requests for five minutes after a change, regardless of their age [P135]', async () => {
    await using cluster = await begin()
    const { metadata } = await cluster.client.create(requests, draft('a'))
    const conditions = [
      { type: 'Denied', status: 'True', lastUpdateTime: '2001-01-01T00:00:00Z', lastTransitionTime: '2001-01-01T00:00:00Z' },
    ]
    const next = { ...draft('a'), metadata, status: { conditions } } as unknown as Csr
    await cluster.client.update(requests, next, { subresource: 'approval' })
    await cluster.clock.advance({ minutes: 4 })
    expect(await names(cluster)).toEqual(['a'])
    await cluster.clock.advance({ minutes: 1 })
    expect(await names(cluster)).toEqual([])
  })
})

describe('a node', () => {
  it('joins with a bootstrap identity, then authenticates by its certificate and renews it [P99] [P134]', async () => {
    const resources = [
      'certificatesigningrequests',
      'certificatesigningrequests/nodeclient',
      'certificatesigningrequests/selfnodeclient',
    ]
    const rules = [{ verbs: ['create', 'get'], apiGroups: [group], resources }]
    await using cluster = await begin({ users: { joiner: rules, 'system:node:a': rules } })
    await cluster.as('joiner').create(requests, nodeDraft('first'))
    await cluster.settle()
    const first = certificateOf(await cluster.client.get(requests, 'first'))
    const by = async (certificate: X509Certificate, path: string, method = 'GET', body = '') => {
      const response = await cluster.handle({
        method,
        path,
        query: '',
        headers: { 'content-type': 'application/json' },
        body: () => Promise.resolve(Buffer.from(body)),
        peer: { certificates: [certificate.raw] },
        signal: new AbortController().signal,
      })
      const { body: answer } = response
      return { status: response.status, object: answer.kind === 'bytes' ? JSON.parse(Buffer.from(answer.bytes).toString()) : {} }
    }
    const path = '/apis/certificates.k8s.io/v1/certificatesigningrequests'
    const renewal = { apiVersion: 'certificates.k8s.io/v1', kind: 'CertificateSigningRequest', ...nodeDraft('second') }
    const made = await by(first, path, 'POST', JSON.stringify(renewal))
    expect(made.status).toBe(201)
    expect(made.object.spec).toMatchObject({ username: 'system:node:a', groups: ['system:nodes', 'system:authenticated'] })
    await cluster.settle()
    const second = certificateOf((await by(first, `${path}/second`)).object)
    expect(second.toLegacyObject().subject.CN).toBe('system:node:a')
    expect((await by(second, `${path}/second`)).status).toBe(200)
    // Certificates of another authority and expired ones are rejected.
    await using other = await begin()
    await other.client.create(requests, nodeDraft('first'))
    await other.settle()
    const foreign = certificateOf(await other.client.get(requests, 'first'))
    expect((await by(foreign, `${path}/second`)).status).toBe(403)
    await cluster.clock.advance({ hours: 24 * 366 })
    expect((await by(second, path)).status).toBe(403)
  })

  it('is recognized by forks, each with a separate clock', async () => {
    await using cluster = await begin()
    const fork = cluster.fork()
    await using _ = fork
    expect(await fork.signingAuthority()).toBe(await cluster.signingAuthority())
    await fork.clock.advance({ hours: 1 })
    await fork.client.create(requests, draft('a', { expirationSeconds: 600 }))
    expect(Date.parse(certificateOf(await decide(fork, 'a')).validTo)).toBe(start + 3_600_000 + 600_000)
  })
})

/** Returns a request that was modified after signing. */
function forged(): string {
  const { request } = createCertificateRequest({ subject: { commonName: 'jane' } })
  const der = Buffer.from(request.replace(/-----[^-]+-----|\n/g, ''), 'base64')
  der.write('joan', der.indexOf('jane'))
  return `-----BEGIN CERTIFICATE REQUEST-----\n${der.toString('base64')}\n-----END CERTIFICATE REQUEST-----\n`
}

function refuse(): Promise<string> {
  return Promise.reject(new CertificateError({ code: 'Refused', message: 'never' }))
}
