import { bootstrapTokenSecret, verifyClusterInfo } from '@krmkit/certificates/bootstrap'
import { runControllers } from '@krmkit/controllers'
import { describe, expect, it } from 'vitest'
import { configMaps, namesOf, namespaces, secrets } from '../resources.fixture.ts'
import { createTestServer } from '../test-server.ts'

const system = { namespace: 'kube-system' }
const shared = { namespace: 'kube-public' }
const start = Date.UTC(2026, 0, 1)
const kubeconfig = 'apiVersion: v1\nkind: Config\nclusters: []\n'
const info = { metadata: { name: 'cluster-info', namespace: 'kube-public' }, data: { kubeconfig, other: 'kept' } }
const tokenOf = (id: string) => ({ id, secret: '0123456789abcdef' })
const secretOf = (id: string, more: Parameters<typeof bootstrapTokenSecret>[1] = {}) => bootstrapTokenSecret(tokenOf(id), more)
const encoded = (text: string) => Buffer.from(text).toString('base64')

const serverWith = (...controllers: string[]) => createTestServer({ controllers, startAtMs: start })

describe('bootstrap signer', () => {
  const begin = async () => {
    const cluster = await serverWith('bootstrapsigner')
    const { client } = cluster
    await client.create(namespaces, { metadata: { name: 'kube-public' } }).catch(() => undefined)
    const keys = async () => {
      await cluster.settle()
      const { data = {} } = await client.get(configMaps, 'cluster-info', shared)
      return Object.keys(data).sort()
    }
    return { cluster, client, keys }
  }
  const plain = ['kubeconfig', 'other']

  it('signs with every token that allows signing, and no other [P118] [P121]', async () => {
    const { cluster, client, keys } = await begin()
    await using _ = cluster
    await client.create(secrets, secretOf('aaaaaa'))
    await client.create(secrets, secretOf('bbbbbb', { usages: ['authentication'] }))
    await client.create(secrets, { ...secretOf('cccccc'), type: 'Opaque' })
    await client.create(secrets, { ...secretOf('dddddd'), metadata: { name: 'bootstrap-token-dddddd', namespace: 'default' } })
    await client.create(secrets, { ...secretOf('eeeeee'), metadata: { name: 'odd', namespace: 'kube-system' } })
    await client.create(configMaps, info)
    expect(await keys()).toEqual(['jws-kubeconfig-aaaaaa', ...plain])
    const { data = {} } = await client.get(configMaps, 'cluster-info', shared)
    expect(await verifyClusterInfo(data, tokenOf('aaaaaa'))).toBe(kubeconfig)
    // A changed kubeconfig or a lost signature is signed again.
    for (const change of [{ kubeconfig: `${kubeconfig}users: []\n` }, { 'jws-kubeconfig-aaaaaa': null }]) {
      await client.patch(configMaps, 'cluster-info', { ...shared, type: 'merge', patch: { data: change } })
      expect(await keys()).toEqual(['jws-kubeconfig-aaaaaa', ...plain])
      const { data: now = {} } = await client.get(configMaps, 'cluster-info', shared)
      expect(await verifyClusterInfo(now, tokenOf('aaaaaa'))).toBe(`${kubeconfig}users: []\n`)
    }
  })

  it('removes the signatures of deleted tokens [P118]', async () => {
    const { cluster, client, keys } = await begin()
    await using _ = cluster
    await client.create(configMaps, { ...info, data: { ...info.data, 'jws-kubeconfig-zzzzzz': 'x..y' } })
    expect(await keys()).toEqual(plain)
    for (const id of ['aaaaaa', 'bbbbbb']) await client.create(secrets, secretOf(id))
    expect(await keys()).toEqual(['jws-kubeconfig-aaaaaa', 'jws-kubeconfig-bbbbbb', ...plain])
    const off = { data: { 'usage-bootstrap-signing': encoded('false') } }
    await client.patch(secrets, 'bootstrap-token-aaaaaa', { ...system, type: 'merge', patch: off })
    expect(await keys()).toEqual(['jws-kubeconfig-bbbbbb', ...plain])
    await client.delete(secrets, 'bootstrap-token-bbbbbb', system)
    expect(await keys()).toEqual(plain)
  })

  it('removes a signature when its token expires, even if it is not deleted [P263]', async () => {
    const { cluster, client, keys } = await begin()
    await using _ = cluster
    await client.create(configMaps, info)
    await client.create(secrets, secretOf('aaaaaa', { expires: start + 60_000 }))
    await client.create(secrets, secretOf('bbbbbb', { expires: start + 90_000 }))
    await client.create(secrets, secretOf('cccccc', { expires: start }))
    expect(await keys()).toEqual(['jws-kubeconfig-aaaaaa', 'jws-kubeconfig-bbbbbb', ...plain])
    await cluster.clock.advance({ seconds: 59 })
    expect(await keys()).toEqual(['jws-kubeconfig-aaaaaa', 'jws-kubeconfig-bbbbbb', ...plain])
    await cluster.clock.advance({ seconds: 1 })
    expect(await keys()).toEqual(['jws-kubeconfig-bbbbbb', ...plain])
    await cluster.clock.advance({ seconds: 30 })
    expect(await keys()).toEqual(plain)
  })

  it('writes nothing when signatures are current, or without a kubeconfig', async () => {
    const { cluster, client, keys } = await begin()
    await using _ = cluster
    await client.create(secrets, secretOf('aaaaaa'))
    await client.create(configMaps, { ...info, data: { other: 'kept', 'jws-kubeconfig-zzzzzz': 'x..y' } })
    expect(await keys()).toEqual(['jws-kubeconfig-zzzzzz', 'other'])
    await client.patch(configMaps, 'cluster-info', { ...shared, type: 'merge', patch: { data: { kubeconfig } } })
    await keys()
    cluster.ledger.clear()
    await client.patch(secrets, 'bootstrap-token-aaaaaa', {
      ...system,
      type: 'merge',
      patch: { data: { description: encoded('other words') } },
    })
    await cluster.settle()
    expect(cluster.ledger.count({ controllers: true, verb: 'update' })).toBe(0)
  })

  it('signs with the full token when configured [P123]', async () => {
    await using cluster = await serverWith()
    const { client } = cluster
    await client.create(namespaces, { metadata: { name: 'kube-public' } }).catch(() => undefined)
    await client.create(secrets, secretOf('aaaaaa'))
    await client.create(configMaps, info)
    await using running = runControllers({ client, controllers: ['bootstrapsigner'], bootstrapSigningKey: 'full-token' })
    await running.settled()
    const { data = {} } = await client.get(configMaps, 'cluster-info', shared)
    expect(await verifyClusterInfo(data, tokenOf('aaaaaa'), { key: 'full-token' })).toBe(kubeconfig)
  })
})

describe('token cleaner', () => {
  it('deletes a token when it expires [P116] [P264]', async () => {
    await using cluster = await serverWith('tokencleaner')
    const { client } = cluster
    const left = async () => {
      await cluster.settle()
      return namesOf(await client.list(secrets, system)).map((name) => name.replace('bootstrap-token-', ''))
    }
    await client.create(secrets, secretOf('aaaaaa', { expires: start + 60_000 }))
    await client.create(secrets, secretOf('bbbbbb'))
    await client.create(secrets, secretOf('cccccc', { expires: start + 3_600_000 }))
    await client.create(secrets, secretOf('dddddd', { expires: Date.UTC(2099, 0, 1) }))
    await client.create(secrets, secretOf('eeeeee', { expires: start - 1000 }))
    expect(await left()).toEqual(['aaaaaa', 'bbbbbb', 'cccccc', 'dddddd'])
    await cluster.clock.advance({ seconds: 59 })
    expect(await left()).toEqual(['aaaaaa', 'bbbbbb', 'cccccc', 'dddddd'])
    await cluster.clock.advance({ seconds: 1 })
    expect(await left()).toEqual(['bbbbbb', 'cccccc', 'dddddd'])
    // Extends one expiration and shortens another.
    const until = (time: string) => ({ ...system, type: 'merge' as const, patch: { data: { expiration: encoded(time) } } })
    await client.patch(secrets, 'bootstrap-token-cccccc', until('2026-01-02T00:00:00Z'))
    await client.patch(secrets, 'bootstrap-token-dddddd', until('2025-01-02T00:00:00Z'))
    expect(await left()).toEqual(['bbbbbb', 'cccccc'])
    await cluster.clock.advance({ hours: 2 })
    expect(await left()).toEqual(['bbbbbb', 'cccccc'])
    await cluster.clock.advance({ hours: 22 })
    expect(await left()).toEqual(['bbbbbb'])
  })

  it('selects tokens by type and namespace, and deletes those with an invalid expiration [P264]', async () => {
    await using cluster = await serverWith('tokencleaner')
    const { client } = cluster
    const past = secretOf('aaaaaa', { expires: start - 1000 })
    await client.create(secrets, { ...past, metadata: { name: 'odd', namespace: 'kube-system' } })
    await client.create(secrets, { ...past, metadata: { name: 'elsewhere', namespace: 'default' } })
    await client.create(secrets, { ...past, metadata: { name: 'opaque', namespace: 'kube-system' }, type: 'Opaque' })
    const unreadable = { ...past.data, expiration: encoded('next week') }
    await client.create(secrets, { ...past, metadata: { name: 'unreadable', namespace: 'kube-system' }, data: unreadable })
    await cluster.settle()
    expect(namesOf(await client.list(secrets)).sort()).toEqual(['elsewhere', 'opaque'])
  })
})
