import { fileURLToPath } from 'node:url'
import type { Client } from '@krmkit/client'
import { ConfigMap, Namespace } from '@krmkit/kinds/core/v1'
import { createTestServer, type TestServer } from '@krmkit/testing'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Operator, startOperator, teamLabel } from './operator.ts'

const seed = fileURLToPath(new URL('./manifests', import.meta.url))
// The exact permissions of the operator: the test fails when its role lacks one.
const users = {
  operator: [
    { verbs: ['list', 'watch', 'delete'], resources: ['namespaces'] },
    { verbs: ['list', 'watch', 'create', 'patch'], resources: ['configmaps'] },
  ],
}

describe('team operator', () => {
  let seeded: TestServer
  let cluster: TestServer
  let client: Client
  let operator: Operator

  // One server with the seed, and a cheap fork of it for every test.
  beforeAll(async () => {
    seeded = await createTestServer({ seed, users })
  })
  afterAll(() => seeded.close())
  beforeEach(async () => {
    cluster = seeded.fork()
    client = cluster.client
    operator = startOperator(cluster.as('operator'), cluster.clock)
    await operator.started
    await cluster.settle()
  })
  afterEach(async () => {
    await operator[Symbol.asyncDispose]()
    await cluster.close()
  })

  const teams = async () => {
    const { items } = await client.list(ConfigMap, { fieldSelector: 'metadata.name=team' })
    return items.map(({ metadata, data }) => `${metadata.namespace}: ${data?.team}`)
  }

  it('creates the ConfigMap of labeled namespaces only', async () => {
    expect(await teams()).toEqual(['blue: Blue', 'preview: Green'])
  })

  it('follows the label, and reverts other changes', async () => {
    const labels = { [teamLabel]: 'Red' }
    await client.patch(Namespace, 'private', { type: 'merge', patch: { metadata: { labels } } })
    await client.patch(ConfigMap, 'team', { namespace: 'blue', type: 'merge', patch: { data: { team: 'nobody' } } })
    await client.delete(ConfigMap, 'team', { namespace: 'preview' })
    await cluster.settle()
    expect(await teams()).toEqual(['blue: Blue', 'preview: Green', 'private: Red'])
  })

  it('sends no requests while idle', async () => {
    cluster.ledger.clear()
    await cluster.clock.advance({ hours: 23 })
    cluster.ledger.expectNone({ user: 'operator', verb: ['create', 'patch', 'delete', 'list'] })
  })

  it('deletes expired namespaces with their content', async () => {
    await cluster.clock.advance({ hours: 25 })
    await expect(client.get(Namespace, 'preview')).rejects.toMatchObject({ reason: 'NotFound' })
    await expect(client.get(ConfigMap, 'page', { namespace: 'preview' })).rejects.toMatchObject({ reason: 'NotFound' })
    expect(await teams()).toEqual(['blue: Blue'])
  })

  it('retries when the server fails', async () => {
    const write = { user: 'operator', verb: 'patch' }
    cluster.faults.next(write, { fail: 500 }, { times: 2 })
    await client.delete(ConfigMap, 'team', { namespace: 'blue' })
    await cluster.settle()
    expect(await teams()).toEqual(['preview: Green'])
    await cluster.clock.advance({ seconds: 10 })
    expect(await teams()).toEqual(['blue: Blue', 'preview: Green'])
  })

  it('misses no events when watches break', async () => {
    expect(cluster.faults.dropWatches({ user: 'operator' })).toBe(2)
    await client.delete(ConfigMap, 'team', { namespace: 'blue' })
    await cluster.clock.advance({ minutes: 1 })
    expect(await teams()).toEqual(['blue: Blue', 'preview: Green'])
  })
})
