import { describe, expect, it } from 'vitest'
import { reconciler } from './reconciler.ts'
import { configMaps } from './resources.fixture.ts'
import { createTestServer } from './test-server.ts'

describe('controllers of a test', () => {
  it('are waited for by settle, and are subject to ledger and faults as a user', async () => {
    await using cluster = await createTestServer({ controllers: [] })
    const errors: string[] = []
    const seen = reconciler({
      name: 'seen',
      resource: configMaps,
      async reconcile({ name, namespace, object, client }) {
        if (object === undefined || object.metadata.labels?.['seen'] === 'true') return undefined
        const patch = { metadata: { labels: { seen: 'true' } } }
        await client.patch(configMaps, name, { namespace, type: 'merge', patch }).catch((error: Error) => {
          errors.push(error.message)
          throw error
        })
        return { requeueAfterMs: 60_000 }
      },
    })
    const running = cluster.run(seen, { user: 'operator' })
    cluster.faults.next({ user: 'operator', verb: 'patch' }, { fail: 503 })
    await cluster.client.create(configMaps, { metadata: { name: 'a' } })
    await cluster.clock.advance('1s')
    expect((await cluster.client.get(configMaps, 'a')).metadata.labels).toEqual({ seen: 'true' })
    expect(errors).toEqual(['a fault of the test'])
    cluster.ledger.expect({ user: 'operator', verb: 'patch' }, 2)
    await running.close()
    await cluster.client.create(configMaps, { metadata: { name: 'b' } })
    await cluster.settle()
    expect((await cluster.client.get(configMaps, 'b')).metadata.labels).toBeUndefined()
  })

  it('that are not reconcilers can be waited for with settleWith', async () => {
    await using cluster = await createTestServer({ controllers: [] })
    let rounds = 0
    const forget = cluster.settleWith(async () => void rounds++)
    await cluster.settle()
    const before = rounds
    expect(before).toBeGreaterThan(0)
    forget()
    await cluster.settle()
    expect(rounds).toBe(before)
  })
})
