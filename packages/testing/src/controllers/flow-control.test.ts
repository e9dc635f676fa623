import { resourceType } from '@krmkit/client'
import { runControllers, serverControllers } from '@krmkit/controllers'
import type { ApiObject } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { namesOf } from '../resources.fixture.ts'
import { createTestServer } from '../test-server.ts'

interface FlowSchema extends ApiObject {
  spec: { matchingPrecedence?: number; priorityLevelConfiguration: { name: string }; rules?: object[] }
  status?: { conditions?: { type: string; status: string; reason: string }[] }
}

interface Level extends ApiObject {
  spec: { type: string; limited?: { nominalConcurrencyShares?: number; limitResponse: { type: string } } }
}

const group = { group: 'flowcontrol.apiserver.k8s.io', version: 'v1', namespaced: false }
const schemas = resourceType<FlowSchema>({ ...group, resource: 'flowschemas', kind: 'FlowSchema' })
const levels = resourceType<Level>({ ...group, resource: 'prioritylevelconfigurations', kind: 'PriorityLevelConfiguration' })
const autoUpdate = 'apf.kubernetes.io/autoupdate-spec'

async function cluster() {
  const made = await createTestServer({ controllers: [] })
  const errors: unknown[] = []
  const running = runControllers({
    client: made.as({ username: 'system:apiserver', groups: ['system:masters'] }),
    clock: made.clock,
    available: serverControllers({
      name: 'apiserver-a',
      holder: 'a',
      hostname: 'here',
      address: undefined,
      port: 6443,
      serviceRanges: ['10.0.0.0/24'],
      serviceAddress: '10.0.0.1',
    }),
    controllers: ['flow-control'],
    onError: (error) => errors.push(error),
  })
  await running.settled()
  const end = async () => {
    await running.close()
    await made.close()
  }
  return Object.assign(made, { running, errors, [Symbol.asyncDispose]: end })
}

const danglingOf = ({ status }: FlowSchema) => status?.conditions?.find(({ type }) => type === 'Dangling')

describe('flow control objects', () => {
  it('have separate field managers for spec and status', async () => {
    await using made = await cluster()
    const { metadata } = await made.client.get(schemas, 'catch-all')
    const owners = metadata.managedFields?.map(({ manager, operation, subresource }) => [manager, operation, subresource])
    expect(owners).toEqual([
      ['api-priority-and-fairness-config-consumer-v1', 'Apply', 'status'],
      ['api-priority-and-fairness-config-producer-v1', 'Update', undefined],
    ])
  })

  it('exist from the start, and every schema refers to an existing level', async () => {
    await using made = await cluster()
    const { client } = made
    expect(namesOf(await client.list(levels))).toEqual([
      'catch-all',
      'exempt',
      'global-default',
      'leader-election',
      'node-high',
      'system',
      'workload-high',
      'workload-low',
    ])
    const { items } = await client.list(schemas)
    expect(items.map(({ metadata, spec }) => [metadata.name, spec.matchingPrecedence])).toEqual([
      ['catch-all', 10_000],
      ['endpoint-controller', 150],
      ['exempt', 1],
      ['global-default', 9900],
      ['kube-controller-manager', 800],
      ['kube-scheduler', 800],
      ['kube-system-service-accounts', 900],
      ['probes', 2],
      ['service-accounts', 9000],
      ['system-leader-election', 100],
      ['system-node-high', 400],
      ['system-nodes', 500],
      ['workload-leader-election', 200],
    ])
    expect(items.map(danglingOf)).toEqual(items.map(() => expect.objectContaining({ status: 'False', reason: 'Found' })))
    expect(made.errors).toEqual([])
  })

  it('are restored unless their annotation disables it; a second sync changes nothing', async () => {
    await using made = await cluster()
    const { client, clock, running } = made
    const before = await client.list(schemas)
    await clock.advance({ seconds: 10 })
    await running.settled()
    expect((await client.list(schemas)).items).toEqual(before.items)
    const shares = (nominalConcurrencyShares: number) => ({ spec: { limited: { nominalConcurrencyShares } } })
    await client.patch(levels, 'workload-low', { type: 'merge', patch: shares(7) })
    const kept = { metadata: { annotations: { [autoUpdate]: 'false' } }, ...shares(8) }
    await client.patch(levels, 'global-default', { type: 'merge', patch: kept })
    await client.delete(schemas, 'probes')
    await clock.advance({ seconds: 10 })
    await running.settled()
    const sharesOf = async (name: string) => (await client.get(levels, name)).spec.limited?.nominalConcurrencyShares
    expect([await sharesOf('workload-low'), await sharesOf('global-default')]).toEqual([100, 8])
    expect(namesOf(await client.list(schemas))).toContain('probes')
  })

  it('report whether the level of a schema is missing', async () => {
    await using made = await cluster()
    const { client, running } = made
    const rules = [
      {
        subjects: [{ kind: 'User', user: { name: 'jane' } }],
        nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
      },
    ]
    const spec = { priorityLevelConfiguration: { name: 'few' }, rules }
    await client.create(schemas, { metadata: { name: 'own' }, spec })
    await running.settled()
    expect(danglingOf(await client.get(schemas, 'own'))).toMatchObject({ status: 'True', reason: 'NotFound' })
    const limited = { nominalConcurrencyShares: 1, limitResponse: { type: 'Reject' } }
    await client.create(levels, { metadata: { name: 'few' }, spec: { type: 'Limited', limited } })
    await running.settled()
    expect(danglingOf(await client.get(schemas, 'own'))).toMatchObject({ status: 'False', reason: 'Found' })
    await client.delete(levels, 'few')
    await running.settled()
    expect(danglingOf(await client.get(schemas, 'own'))).toMatchObject({ status: 'True' })
    expect(made.errors).toEqual([])
  })
})
