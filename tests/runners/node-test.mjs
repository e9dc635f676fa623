import assert from 'node:assert/strict'
import { after, afterEach, beforeEach, test } from 'node:test'
import { ConfigMap } from '@krmkit/kinds/core/v1'
import { clusterPerTest } from '@krmkit/testing'

// Fixtures with node:test: each test has a fork with the seed, and a namespace. With FAIL one fails.

const seed = [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'seeded', namespace: 'default' } }]
const current = clusterPerTest({ beforeEach, afterEach, after }, { controllers: [], seed, inspectorFolder: 'pages' })

for (const number of [1, 2]) {
  test(`test ${number} has the seed and its namespace`, async () => {
    const { cluster, namespace } = current
    assert.equal(namespace, `test-${number}-has-the-seed-and-its-namespace-${number}`)
    const { items } = await cluster.client.list(ConfigMap, { namespace: 'default' })
    assert.deepEqual(
      items.map(({ metadata }) => metadata.name),
      ['seeded'],
    )
    await cluster.client.create(ConfigMap, { metadata: { name: 'more', namespace: 'default' } })
  })
}

if (process.env.FAIL) {
  test('fails', async () => {
    await current.cluster.client.get(ConfigMap, 'absent')
  })
}
