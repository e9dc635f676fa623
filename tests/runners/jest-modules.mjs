import { afterAll, afterEach, beforeEach, expect, test } from '@jest/globals'
import { ConfigMap } from '@krmkit/kinds/core/v1'
import { clusterPerTest } from '@krmkit/testing'

// Fixtures with jest in a project of ES modules: each test has a fork with the seed, and a namespace. With FAIL one fails.

const seed = [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'seeded', namespace: 'default' } }]
const hooks = { beforeEach: (hook) => beforeEach(hook, 60_000), afterEach, afterAll }
const current = clusterPerTest(hooks, { controllers: [], seed, inspectorFolder: 'pages' })

test.each([1, 2])('test %i has the seed and its namespace', async (number) => {
  const { cluster, namespace } = current
  expect(namespace).toBe(`test-${number}-has-the-seed-and-its-namespace-${number}`)
  const { items } = await cluster.client.list(ConfigMap, { namespace: 'default' })
  expect(items.map(({ metadata }) => metadata.name)).toEqual(['seeded'])
  await cluster.client.create(ConfigMap, { metadata: { name: 'more', namespace: 'default' } })
})

if (process.env.FAIL) {
  test('fails', async () => {
    await current.cluster.client.get(ConfigMap, 'absent')
  })
}
