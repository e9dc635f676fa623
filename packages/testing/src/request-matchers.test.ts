import { ConfigMap } from '@krmkit/kinds/core/v1'
import { describe, expect, it } from 'vitest'
import { type RequestMatchers, requestMatchers } from './request-matchers.ts'
import { createTestServer } from './test-server.ts'

declare module 'vitest' {
  interface Matchers<T> extends RequestMatchers<T> {}
}

expect.extend(requestMatchers)

const a = { metadata: { name: 'a' }, data: { color: 'red' } }

describe('toHaveRequested', () => {
  it('counts matching requests and shows them', async () => {
    await using cluster = await createTestServer()
    await cluster.client.create(ConfigMap, a)
    await cluster.client.get(ConfigMap, 'a')
    expect(cluster).toHaveRequested('create configmaps')
    expect(cluster.ledger).toHaveRequested({ verb: 'get', name: 'a' }, { atLeast: 1, atMost: 1 })
    expect(cluster).toHaveRequested('* configmaps', { atMost: 2 })
    expect(cluster).not.toHaveRequested('delete configmaps')
    expect(() => expect(cluster).toHaveRequested('* configmaps', { atMost: 1 })).toThrow(
      'expected at most 1 requests matching "any verb configmaps", found 2; the matching requests were\n  201 create /api/v1/namespaces/default/configmaps (test-admin)\n  200 get /api/v1/namespaces/default/configmaps/a (test-admin)',
    )
    expect(() => expect(cluster).toHaveRequested('delete configmaps')).toThrow('found 0; the last requests were\n  201 create')
    expect(() => expect(cluster).toHaveRequested('delete all configmaps')).toThrow('more than two words')
  })
})

describe('toHaveNoHotLoop', () => {
  it('finds a request that is repeated within a time span', async () => {
    await using cluster = await createTestServer({ controllers: [] })
    await cluster.client.create(ConfigMap, a)
    for (let i = 0; i < 12; i++) {
      await cluster.client.get(ConfigMap, 'a')
      await cluster.clock.advance({ seconds: 1 })
    }
    expect(cluster).toHaveNoHotLoop({ atMost: 3, withinMs: 1000 })
    for (let i = 0; i < 12; i++) await cluster.client.get(ConfigMap, 'a')
    expect(cluster).not.toHaveNoHotLoop()
    expect(() => expect(cluster).toHaveNoHotLoop()).toThrow(
      '13 times within 1000 ms: get configmaps "a" in default by test-admin, last status 200',
    )
  })
})

describe('toHaveNoUnboundedLists', () => {
  it('finds lists without limit', async () => {
    await using cluster = await createTestServer()
    await cluster.client.list(ConfigMap, { limit: 100 })
    await cluster.client.list(ConfigMap, { fieldSelector: 'metadata.name=a' })
    expect(cluster).toHaveNoUnboundedLists()
    await cluster.client.list(ConfigMap)
    expect(() => expect(cluster).toHaveNoUnboundedLists()).toThrow('found\n  200 list /api/v1/configmaps (test-admin)')
  })
})

describe('toHaveNoUnneededWrites', () => {
  it('finds writes that change nothing', async () => {
    await using cluster = await createTestServer()
    const created = await cluster.client.create(ConfigMap, a)
    expect(cluster).toHaveNoUnneededWrites()
    await cluster.client.update(ConfigMap, created)
    expect(() => expect(cluster).toHaveNoUnneededWrites()).toThrow(
      '  200 update /api/v1/namespaces/default/configmaps/a (test-admin)',
    )
    expect(cluster).toHaveNoUnneededWrites({ verb: 'patch' })
  })
})
