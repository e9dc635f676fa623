import { describe, expect, it } from 'vitest'
import { formatOrder, parseOrder, shrinkOrder } from './event-order.ts'
import { type ExploreOptions, OrderFailure } from './explore.ts'
import type { TestServer } from './interfaces.ts'
import { reconciler } from './reconciler.ts'
import { configMaps, secrets } from './resources.fixture.ts'
import { explore } from './test-server.ts'

const namespace = 'default'

/**
 * A racy reconciler: copies whether a Secret exists, and assumes that its event arrives before that of the ConfigMap that
 * names it.
 */
const racy = reconciler({
  name: 'racy',
  resource: configMaps,
  async reconcile({ name, namespace, object, client, cached }) {
    if (object === undefined || object.data?.['state'] !== undefined) return undefined
    const known = (await cached(secrets)).get(name, namespace)
    const patch = { data: { state: known === undefined ? 'missing' : 'found' } }
    await client.patch(configMaps, name, { namespace, type: 'merge', patch })
    return undefined
  },
})

async function relies({ client, run, settle }: Pick<TestServer, 'client'> & { run: () => void; settle: () => Promise<void> }) {
  run()
  await settle()
  for (const name of ['a', 'b', 'c']) {
    await client.create(secrets, { metadata: { name } })
    await client.create(configMaps, { metadata: { name } })
  }
  await settle()
  const { items } = await client.list(configMaps, { namespace })
  expect(items.map(({ data }) => data?.['state'])).toEqual(['found', 'found', 'found'])
}
const test = (cluster: TestServer) =>
  relies({ client: cluster.client, run: () => cluster.run(racy, { user: 'racy' }), settle: () => cluster.settle() })

const failureOf = async (options: ExploreOptions): Promise<OrderFailure> => {
  const error = await explore({ controllers: [], ...options }, test).catch((reason: unknown) => reason)
  if (!(error instanceof OrderFailure)) throw error
  return error
}

describe('explore', () => {
  it('finds the order in which a racy reconciler fails, and shrinks it to two deviations', async () => {
    const failure = await failureOf({ runs: 30 })
    expect(failure.seed).toBeGreaterThan(0)
    expect(failure.order).toMatch(/^\d+:1,\d+:2$/)
    expect(failure.message).toContain(`run it again with explore({ order: "${failure.order}" }`)
    const overtaking = failure.steps.filter(({ overtaken }) => overtaken > 0).map(({ label }) => label)
    // The next request is released before the Secret is delivered, and the ConfigMap is delivered before the Secret.
    expect(overtaking).toEqual([
      'create configmaps default by test-admin',
      expect.stringMatching(/^deliver ADDED ConfigMap [abc] to watch \d+ of configmaps by racy$/),
    ])
    const again = await failureOf({ order: failure.order })
    expect(again.steps).toEqual(failure.steps)
  })

  it('repeats the same steps for the same seed', async () => {
    const { seed = 0 } = await failureOf({ runs: 30, shrinkRuns: 0 })
    const first = await failureOf({ seeds: [seed], shrinkRuns: 0 })
    expect((await failureOf({ seeds: [seed], shrinkRuns: 0 })).steps).toEqual(first.steps)
    expect(first.seed).toBe(seed)
  })

  it('passes in the order of arrival', async () => {
    expect(await explore({ controllers: [], runs: 1 }, test)).toEqual({ runs: 1, orders: 1 })
  })

  it('also orders the deliveries to the built-in controllers', async () => {
    const found = await explore({ runs: 4 }, async (cluster) => {
      const owner = await cluster.client.create(configMaps, { metadata: { name: 'owner' } })
      const { uid = '' } = owner.metadata
      const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid }]
      await cluster.client.create(secrets, { metadata: { name: 'owned', ownerReferences } })
      await cluster.client.delete(configMaps, 'owner')
      await cluster.settle()
      expect((await cluster.client.list(secrets, { namespace })).items).toEqual([])
    })
    expect(found.runs).toBe(4)
    expect(found.orders).toBeGreaterThan(2)
  })

  it.each([
    [{ runs: 0 }, 'runs: 0 is not a positive integer'],
    [{ seeds: [1.5] }, 'seeds: 1.5 is not an integer'],
    [{ order: 'first' }, '"first" is not an order such as "3:1,7:2"'],
  ])('rejects %j', async (options, message) => {
    await expect(explore(options, () => undefined)).rejects.toMatchObject({ code: 'InvalidOrder', message })
  })
})

describe('orders', () => {
  it('survive formatting and parsing', () => {
    for (const text of ['', '3:1', '3:1,17:4']) expect(formatOrder(parseOrder(text))).toBe(text)
  })

  it('shrink to the deviations that a failure requires', async () => {
    const many = new Map(Array.from({ length: 40 }, (_, step) => [step, 1 + (step % 5)]))
    let runs = 0
    const shrunk = await shrinkOrder(many, async (deviations) => {
      runs++
      return deviations.has(7) && (deviations.get(23) ?? 0) >= 2 ? deviations : undefined
    })
    expect([...shrunk]).toEqual([
      [7, 1],
      [23, 2],
    ])
    expect(runs).toBeLessThan(120)
  })
})
