import type { LegacyTokenRequest } from '@krmkit/controllers'
import type { ApiObject } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { configMaps, namesOf, pods, secrets, serviceAccounts } from '../resources.fixture.ts'
import { createTestServer } from '../test-server.ts'

type Secret = ApiObject & { data?: Record<string, string> }
type Account = ApiObject & { secrets?: { name: string }[] }

const text = (secret: ApiObject, key: string) => Buffer.from((secret as Secret).data?.[key] ?? '', 'base64').toString()
const asking = (name: string, account: string, annotations: object = {}) => ({
  metadata: { name, annotations: { 'kubernetes.io/service-account.name': account, ...annotations } },
  type: 'kubernetes.io/service-account-token',
})

async function cluster() {
  const tokenRequests: LegacyTokenRequest[] = []
  const errors: unknown[] = []
  const made = await createTestServer({
    rootCA: 'PEM',
    legacyToken: async (request) => `token-${tokenRequests.push(request)}`,
    onError: (error) => errors.push(error),
  })
  await made.client.create(serviceAccounts, { metadata: { name: 'robot' } })
  await made.settle()
  return Object.assign(made, { tokenRequests, errors })
}

describe('service account token controller', () => {
  it('fills the Secret with token, authority and namespace, once [P238]', async () => {
    await using made = await cluster()
    const { client, tokenRequests } = made
    await client.create(secrets, asking('s', 'robot'))
    await made.settle()
    expect(made.errors).toEqual([])
    const { uid } = (await client.get(serviceAccounts, 'robot')).metadata
    const secret = await client.get(secrets, 's')
    expect([text(secret, 'token'), text(secret, 'ca.crt'), text(secret, 'namespace')]).toEqual(['token-1', 'PEM', 'default'])
    expect(secret.metadata.annotations).toEqual({
      'kubernetes.io/service-account.name': 'robot',
      'kubernetes.io/service-account.uid': uid,
    })
    expect(tokenRequests).toEqual([{ namespace: 'default', secretName: 's', accountName: 'robot', accountUid: uid }])
    await client.patch(secrets, 's', { type: 'merge', patch: { data: { 'ca.crt': null, more: 'eA==' } } })
    await made.settle()
    const mended = await client.get(secrets, 's')
    expect([text(mended, 'token'), text(mended, 'ca.crt'), text(mended, 'more')]).toEqual(['token-1', 'PEM', 'x'])
    await client.patch(secrets, 's', { type: 'merge', patch: { data: { token: null } } })
    await made.settle()
    expect(text(await client.get(secrets, 's'), 'token')).toBe('token-2')
  })

  it('deletes Secrets whose account is missing, deleted or recreated', async () => {
    await using made = await cluster()
    const { client } = made
    await client.create(secrets, asking('missing', 'nobody'))
    await client.create(secrets, asking('other', 'robot', { 'kubernetes.io/service-account.uid': 'another' }))
    await client.create(secrets, asking('mine', 'robot'))
    await client.create(secrets, { metadata: { name: 'plain' } })
    await made.settle()
    expect(namesOf(await client.list(secrets))).toEqual(['mine', 'plain'])
    await client.delete(serviceAccounts, 'robot')
    await made.settle()
    expect(namesOf(await client.list(secrets))).toEqual(['plain'])
  })

  it('removes a deleted Secret from the list of its account', async () => {
    await using made = await cluster()
    const { client } = made
    await client.create(secrets, asking('mine', 'robot'))
    await client.create(secrets, { metadata: { name: 'pull' } })
    await client.patch(serviceAccounts, 'robot', {
      type: 'merge',
      patch: { secrets: [{ name: 'mine' }, { name: 'pull' }, { name: 'never-was' }] },
    })
    await made.settle()
    await client.delete(secrets, 'mine')
    await made.settle()
    expect(((await client.get(serviceAccounts, 'robot')) as Account).secrets).toEqual([{ name: 'pull' }])
  })
})

describe('legacy token cleaner', () => {
  it('marks generated tokens unused for a year, and deletes them a year later', async () => {
    await using made = await cluster()
    const { client } = made
    const namespace = 'kube-system'
    const tracking = await client.get(configMaps, 'kube-apiserver-legacy-service-account-token-tracking', { namespace })
    expect(tracking.data).toEqual({ since: expect.stringMatching(/^\d{4}-\d\d-\d\d$/) })
    for (const name of ['generated', 'used', 'mounted', 'manual']) await client.create(secrets, asking(name, 'robot'))
    await client.patch(serviceAccounts, 'robot', {
      type: 'merge',
      patch: { secrets: [{ name: 'generated' }, { name: 'used' }, { name: 'mounted' }] },
    })
    const volumes = [{ name: 'v', secret: { secretName: 'mounted' } }]
    await client.create(pods, { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }], volumes } } as never)
    await made.clock.advance({ days: 367 })
    await made.settle()
    const label = 'kubernetes.io/legacy-token-last-used'
    const use = () => {
      const today = new Date(made.clock.now()).toISOString().slice(0, 10)
      return client.patch(secrets, 'used', { type: 'merge', patch: { metadata: { labels: { [label]: today } } } })
    }
    const marks = async () =>
      Object.fromEntries(
        (await client.list(secrets)).items.map(({ metadata }) => [
          metadata.name,
          metadata.labels?.['kubernetes.io/legacy-token-invalid-since'] !== undefined,
        ]),
      )
    expect(await marks()).toEqual({ generated: true, used: true, mounted: false, manual: false })
    await made.clock.advance({ days: 300 })
    await made.settle()
    await use()
    expect(Object.keys(await marks())).toContain('generated')
    await made.clock.advance({ days: 70 })
    await made.settle()
    expect(Object.keys(await marks()).sort()).toEqual(['manual', 'mounted', 'used'])
  })
})
