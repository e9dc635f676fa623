import { resourceType } from '@krmkit/client'
import type { ApiObject } from '@krmkit/meta'
import { expect, it } from 'vitest'
import { createTestServer } from '../test-server.ts'

interface Node extends ApiObject {
  spec?: { taints?: { key: string; effect: string }[] }
}

const nodes = resourceType<Node>({ group: '', version: 'v1', resource: 'nodes', kind: 'Node', namespaced: false })

it('a node is tainted according to its conditions [P293]', async () => {
  await using server = await createTestServer()
  const { client } = server
  await client.create(nodes, { metadata: { name: 'n' } })
  const after = async (status: string) => {
    const patch = { status: { conditions: [{ type: 'Ready', status }] } }
    await client.patch(nodes, 'n', { type: 'merge', patch, subresource: 'status' })
    await server.settle()
    return ((await client.get(nodes, 'n')).spec?.taints ?? []).map(({ key, effect }) => `${key}:${effect}`)
  }
  expect(await after('False')).toEqual(['node.kubernetes.io/not-ready:NoSchedule', 'node.kubernetes.io/not-ready:NoExecute'])
  expect(await after('Unknown')).toEqual([
    'node.kubernetes.io/unreachable:NoSchedule',
    'node.kubernetes.io/unreachable:NoExecute',
  ])
  expect(await after('True')).toEqual([])
})
