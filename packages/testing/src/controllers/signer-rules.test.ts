import { createCertificateRequest } from '@krmkit/certificates'
import { resourceType } from '@krmkit/client'
import type { ApiObject } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import type { TestServer, TestServerOptions } from '../interfaces.ts'
import { createTestServer } from '../test-server.ts'

/** Configurable rules of signers. */

interface Csr extends ApiObject {
  spec: { request: string; signerName: string; usages: string[] }
  status?: { certificate?: string; conditions?: { type: string; status: string }[] }
}

const requests = resourceType<Csr>({
  group: 'certificates.k8s.io',
  version: 'v1',
  resource: 'certificatesigningrequests',
  kind: 'CertificateSigningRequest',
  namespaced: false,
})
const subject = { organizations: ['system:nodes'], commonName: 'system:node:a' }
const client = { signerName: 'kubernetes.io/kube-apiserver-client-kubelet', usages: ['digital signature', 'client auth'] }
const serving = { signerName: 'kubernetes.io/kubelet-serving', usages: ['digital signature', 'server auth'] }

const begin = (options: TestServerOptions = {}) =>
  createTestServer({
    controllers: ['certificatesigningrequest-approving-controller', 'certificatesigningrequest-signing-controller'],
    ...options,
  })

/** Creates a request, which is approved if the signer rules allow it, and returns its status. */
async function ask(cluster: TestServer, name: string, rest: Omit<Csr['spec'], 'request'>): Promise<Csr['status']> {
  const names = rest.signerName === serving.signerName ? { names: { dns: ['a'] } } : {}
  const request = Buffer.from(createCertificateRequest({ subject, ...names }).request).toString('base64')
  await cluster.client.create(requests, { metadata: { name }, spec: { request, ...rest } })
  await cluster.settle()
  return (await cluster.client.get(requests, name)).status
}

async function approve(cluster: TestServer, name: string): Promise<Csr['status']> {
  const found = await cluster.client.get(requests, name)
  const status = { conditions: [{ type: 'Approved', status: 'True' }] }
  await cluster.client.update(requests, { ...found, status }, { subresource: 'approval' })
  await cluster.settle()
  return (await cluster.client.get(requests, name)).status
}

describe('certificates of nodes without key encipherment', () => {
  it('are approved and signed by default [P101] [P105]', async () => {
    await using cluster = await begin()
    expect((await ask(cluster, 'client', client))?.certificate).toBeDefined()
    expect(await ask(cluster, 'serving', serving)).toEqual({})
    expect((await approve(cluster, 'serving'))?.certificate).toBeDefined()
  })

  it('are neither approved nor signed with requireKeyEncipherment [P101] [P105]', async () => {
    await using cluster = await begin({ signerRules: { requireKeyEncipherment: true } })
    expect(await ask(cluster, 'client', client)).toEqual({})
    await ask(cluster, 'serving', serving)
    for (const name of ['client', 'serving']) {
      const { certificate, conditions } = (await approve(cluster, name)) ?? {}
      expect([certificate, conditions?.map(({ type }) => type)], name).toEqual([undefined, ['Approved', 'Failed']])
    }
    const complete = (parts: typeof client) => ({ ...parts, usages: ['key encipherment', ...parts.usages] })
    expect((await ask(cluster, 'three', complete(client)))?.certificate).toBeDefined()
    await ask(cluster, 'three-serving', complete(serving))
    expect((await approve(cluster, 'three-serving'))?.certificate).toBeDefined()
  })
})
