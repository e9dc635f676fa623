import { X509Certificate } from 'node:crypto'
import { createCertificateRequest } from '@krmkit/certificates'
import { resourceType } from '@krmkit/client'
import { ControllersError } from '@krmkit/controllers'
import { ApiError, type ApiObject, seededRandom, type UserInfo } from '@krmkit/meta'
import { createTestServer, type TestServer } from '@krmkit/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

/**
 * Tampered certificate requests, against a server whose controllers approve requests of nodes and whose administrator approves all
 * others unseen. The signers issue nothing beyond their rules.
 */

interface Csr extends ApiObject {
  spec: object
  status?: { certificate?: string; conditions?: object[] }
}

const requests = resourceType<Csr>({
  group: 'certificates.k8s.io',
  version: 'v1',
  resource: 'certificatesigningrequests',
  kind: 'CertificateSigningRequest',
  namespaced: false,
})
const clientSigner = 'kubernetes.io/kube-apiserver-client'
const nodeSigner = 'kubernetes.io/kube-apiserver-client-kubelet'
const mallory: UserInfo = { username: 'mallory', groups: ['system:authenticated'] }
const faults: unknown[] = []
let cluster: TestServer
let count = 0

beforeAll(async () => {
  const rules = [{ verbs: ['create', 'get'], apiGroups: ['certificates.k8s.io'], resources: ['certificatesigningrequests'] }]
  const server = { onError: (error: unknown) => void faults.push(error) }
  const onError = (error: unknown) => {
    if (!(error instanceof ControllersError && error.code === 'NotSigned')) faults.push(error)
  }
  cluster = await createTestServer({ users: { mallory: rules }, server, onError })
})
afterAll(() => cluster.close())

/** The outcome of a request: rejected with this status, or approved by the administrator and possibly signed. */
async function through(
  request: string,
  spec: object = {},
): Promise<{ code: number } | { certificate: X509Certificate | undefined }> {
  const name = `r-${++count}`
  let made: Csr
  try {
    const wanted = { request, signerName: clientSigner, usages: ['client auth'], ...spec }
    made = (await cluster.as(mallory).create(requests, { metadata: { name }, spec: wanted })) as Csr
  } catch (error) {
    if (ApiError.is(error)) return { code: error.code }
    throw error
  }
  await cluster.client.update(
    requests,
    { ...made, status: { conditions: [{ type: 'Approved', status: 'True' }] } },
    { subresource: 'approval' },
  )
  await cluster.settle()
  const { status } = await cluster.client.get(requests, name)
  const certificate =
    status?.certificate === undefined ? undefined : new X509Certificate(Buffer.from(status.certificate, 'base64'))
  return { certificate }
}

const pem = (der: Uint8Array, type = 'CERTIFICATE REQUEST') =>
  Buffer.from(`-----BEGIN ${type}-----\n${Buffer.from(der).toString('base64')}\n-----END ${type}-----\n`).toString('base64')
const derOf = (text: string) => Buffer.from(text.replace(/-----[^-]+-----|\n/g, ''), 'base64')
const newDer = (options: Parameters<typeof createCertificateRequest>[0]) => derOf(createCertificateRequest(options).request)

describe('tampered requests', () => {
  it('requests with random byte changes are rejected with a 4xx or never signed [P85, P134]', async () => {
    const good = newDer({ subject: { commonName: 'jane', organizations: ['dev'] }, names: { dns: ['a.b'], ips: ['::1'] } })
    const random = seededRandom(41)
    const outcomes = { refused: 0, unsigned: 0 }
    for (let i = 0; i < 120; i++) {
      const bad = Buffer.from(good)
      const [at = 0, second = 0, bit = 0] = random.bytes(3)
      const place = (at * 256 + second) % bad.length
      bad[place]! ^= 1 << (bit % 8)
      const outcome = await through(pem(bad))
      if ('code' in outcome) {
        expect(outcome.code).toBe(422)
        outcomes.refused++
      } else {
        expect(outcome.certificate, `byte ${place} of ${bad.toString('hex')}`).toBeUndefined()
        outcomes.unsigned++
      }
    }
    expect(outcomes.refused).toBeGreaterThan(10)
    expect(outcomes.unsigned).toBeGreaterThan(10)
    expect(faults).toEqual([])
  })

  it('rejects data that is not a request with a 4xx [P85]', async () => {
    const whole = newDer({ subject: { commonName: 'jane' } })
    const texts = [
      '',
      'AAAA',
      pem(whole.subarray(0, -1)),
      pem(Buffer.concat([whole, whole])),
      pem(whole, 'CERTIFICATE'),
      pem(Buffer.alloc(300_000, 0x30)),
      Buffer.from('-----BEGIN '.repeat(20_000)).toString('base64'),
      Buffer.from(`-----BEGIN CERTIFICATE REQUEST-----\n${'a:b\n'.repeat(50_000)}`).toString('base64'),
    ]
    for (const text of texts) expect(await through(text), text.slice(0, 40)).toEqual({ code: 422 })
    expect(await through('====')).toEqual({ code: 400 })
    expect(faults).toEqual([])
  })
})

describe('requests with hidden privileges', () => {
  const usages = ['digital signature', 'client auth']

  it('automatic approval does not create node identities [P99, P100]', async () => {
    const node = { commonName: 'system:node:a', organizations: ['system:nodes'] }
    for (const subject of [
      node,
      { ...node, organizations: ['system:nodes', 'system:masters'] },
      { ...node, commonName: 'mallory' },
    ]) {
      const request = pem(newDer({ subject }))
      const name = `r-${++count}`
      // The requester fields are forged, and overwritten by the server.
      const spec = { request, signerName: nodeSigner, usages, username: 'system:node:a', groups: ['system:nodes'] }
      await cluster.as(mallory).create(requests, { metadata: { name }, spec })
      await cluster.settle()
      expect((await cluster.client.get(requests, name)).status).toEqual({})
    }
  })

  it('approval does not make invalid names valid [P100, P104]', async () => {
    const wrong = [
      { commonName: 'system:node:a', organizations: ['system:nodes', 'system:masters'] },
      { commonName: 'system:node:a', organizations: ['system:nodes\u0000'] },
      { commonName: 'system:masters', organizations: ['system:nodes'] },
      { commonName: 'system:node:a,O=system:masters\u0000', organizations: ['system:nodes'] },
    ]
    for (const subject of wrong) {
      expect(await through(pem(newDer({ subject })), { signerName: nodeSigner, usages })).toEqual({ certificate: undefined })
      const names = { dns: ['a'] }
      const serving = { signerName: 'kubernetes.io/kubelet-serving', usages: ['digital signature', 'server auth'] }
      expect(await through(pem(newDer({ subject, names })), serving)).toEqual({ certificate: undefined })
    }
  })

  it('the legacy signer cannot be requested [P108]', async () => {
    const spec = { signerName: 'kubernetes.io/legacy-unknown', usages: ['cert sign', 'any'] }
    expect(await through(pem(newDer({ subject: { commonName: 'ca' } })), spec)).toEqual({ code: 422 })
  })

  it('ambiguous names are read as one name, by Node too [P98]', async () => {
    const subject = { commonName: 'jane\u202e,O=system:masters+CN=root/O=x', organizations: ['dev\\,O=ops'] }
    const outcome = await through(pem(newDer({ subject })))
    const { certificate } = outcome as { certificate: X509Certificate }
    expect({ ...certificate.toLegacyObject().subject }).toEqual({ CN: subject.commonName, O: 'dev\\,O=ops' })
  })

  it('an injected certificate is never treated as signed [P93, P94]', async () => {
    const { request } = createCertificateRequest({ subject: { commonName: 'jane' } })
    const spec = { request: Buffer.from(request).toString('base64'), signerName: clientSigner, usages: ['client auth'] }
    const certificate = Buffer.from(await cluster.signingAuthority()).toString('base64')
    const draft = {
      metadata: { name: 'filled' },
      spec,
      status: { certificate, conditions: [{ type: 'Approved', status: 'True' }] },
    }
    const made = await cluster.as(mallory).create(requests, draft)
    expect(made.status).toEqual({})
    for (const subresource of ['status', 'approval'])
      await expect(
        cluster.as(mallory).update(requests, { ...made, status: draft.status } as Csr, { subresource }),
      ).rejects.toMatchObject({ code: 403 })
  })
})
