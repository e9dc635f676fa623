import { resourceType } from '@krmkit/client'
import type { ApiObject } from '@krmkit/meta'
import { expect, it } from 'vitest'
import { startWith } from './workloads.fixture.ts'

const nodes = resourceType<ApiObject>({ group: '', version: 'v1', resource: 'nodes', kind: 'Node', namespaced: false })
const nodeAt = (i: number): ApiObject => ({ apiVersion: 'v1', kind: 'Node', metadata: { name: `n${i}` } })

it('annotates nodes with a TTL that grows with the number of nodes, and shrinks with hysteresis', async () => {
  const seed = Array.from({ length: 100 }, (_, i) => nodeAt(i))
  await using server = await startWith(['ttl-controller'], seed)
  const ttls = async () => {
    await server.settle()
    const { items } = await server.client.list(nodes)
    return [...new Set(items.map(({ metadata }) => metadata.annotations?.['node.alpha.kubernetes.io/ttl']))]
  }
  expect(await ttls()).toEqual(['0'])
  await server.client.create(nodes, nodeAt(100))
  expect(await ttls()).toEqual(['15'])
  for (let i = 90; i < 101; i++) await server.client.delete(nodes, `n${i}`)
  expect(await ttls()).toEqual(['15'])
  await server.client.delete(nodes, 'n0')
  expect(await ttls()).toEqual(['0'])
})
