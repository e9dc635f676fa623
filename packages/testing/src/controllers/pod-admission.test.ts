import { resourceType } from '@krmkit/client'
import { type ApiObject, seededRandom } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import type { TestServer, TestServerOptions } from '../interfaces.ts'
import { createTestServer } from '../test-server.ts'
import { type Pod, pods } from './workloads.fixture.ts'

interface Event extends ApiObject {
  type?: string
  reason?: string
  message?: string
}

const events = resourceType<Event>({ group: '', version: 'v1', resource: 'events', kind: 'Event' })
const nodes = resourceType({ group: '', version: 'v1', resource: 'nodes', kind: 'Node', namespaced: false })

const configMaps = resourceType<ApiObject & { data?: Record<string, string> }>({
  group: '',
  version: 'v1',
  resource: 'configmaps',
  kind: 'ConfigMap',
})
const secrets = resourceType({ group: '', version: 'v1', resource: 'secrets', kind: 'Secret' })

const start = (options: TestServerOptions = {}) =>
  createTestServer({
    cluster: { nodes: 2 },
    startAtMs: Date.UTC(2024, 0, 1),
    server: { random: seededRandom(1) },
    ...options,
  })

const onNode = (container: object = {}, spec: object = {}) => ({
  nodeName: 'node-1',
  containers: [{ name: 'c', image: 'web:1', ...container }],
  ...spec,
})

async function run(server: TestServer, name: string, spec: object) {
  const { client } = server
  await client.create(pods, { metadata: { name, namespace: 'default' }, spec: spec as NonNullable<Pod['spec']> })
  await server.settle()
  const { status } = await client.get(pods, name, { namespace: 'default' })
  return { phase: status?.phase, reason: status?.reason, message: status?.message }
}

const accepted = { phase: 'Running', reason: undefined, message: undefined }
const failed = (reason: string, message: string) => ({ phase: 'Failed', reason, message: `Pod was rejected: ${message}` })

describe('kubelets of simulated nodes', () => {
  it('reject a pod whose host port is in use, and admit it when the port is free', async () => {
    await using server = await start()
    const spec = onNode({ ports: [{ containerPort: 80, hostPort: 8080 }] })
    expect(await run(server, 'first', spec)).toEqual(accepted)
    const text = "Predicate NodePorts failed: node(s) didn't have free ports for the requested pod ports"
    expect(await run(server, 'second', spec)).toEqual(failed('NodePorts', text))
    const { items } = await server.client.list(events, { namespace: 'default' })
    const found = items.find(({ reason }) => reason === 'NodePorts')
    expect(found).toMatchObject({ type: 'Warning', message: text })
    await server.client.delete(pods, 'first', { namespace: 'default' })
    await server.settle()
    expect(await run(server, 'third', spec)).toEqual(accepted)
  })

  it('reject a pod that requests more than the node has left', async () => {
    await using server = await start()
    const requests = (cpu: string) => onNode({ resources: { requests: { cpu } } })
    expect(await run(server, 'small', requests('1500m'))).toEqual(accepted)
    const text = "Node didn't have enough resource: cpu, requested: 3000, used: 1500, capacity: 4000"
    expect(await run(server, 'large', requests('3'))).toEqual(failed('OutOfcpu', text))
    expect(await run(server, 'unknown', onNode({ resources: { limits: { 'example.com/x': '1' } } }))).toEqual(accepted)
  })

  it('reject pods for other nodes and operating systems', async () => {
    await using server = await start({ controllers: ['*', '-taint-eviction-controller'] })
    const affinity = "Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector"
    expect(await run(server, 'selector', onNode({}, { nodeSelector: { disk: 'ssd' } }))).toEqual(failed('NodeAffinity', affinity))
    const os = "Failed to admit pod as the OS field doesn't match node OS"
    expect(await run(server, 'windows', onNode({}, { os: { name: 'windows' } }))).toEqual(failed('PodOSNotSupported', os))
    const sysctls = onNode(
      {},
      {
        securityContext: {
          sysctls: [
            { name: 'net.ipv4.tcp_wmem', value: '1' },
            { name: 'kernel.msgmax', value: '1' },
          ],
        },
      },
    )
    expect(await run(server, 'sysctl', sysctls)).toEqual(
      failed('SysctlForbidden', 'forbidden sysctl: "kernel.msgmax" not allowlisted'),
    )
    const taints = [{ key: 'maintenance', effect: 'NoExecute' }]
    await server.client.patch(nodes, 'node-1', { type: 'merge', patch: { spec: { taints } } })
    await server.settle()
    const taint = "Predicate TaintToleration failed: node(s) had taints that the pod didn't tolerate"
    expect(await run(server, 'tainted', onNode())).toEqual(failed('TaintToleration', taint))
  })

  it('delete rejected pods', async () => {
    await using server = await start()
    await run(server, 'windows', onNode({}, { os: { name: 'windows' } }))
    await server.client.delete(pods, 'windows', { namespace: 'default' })
    await server.settle()
    await expect(server.client.get(pods, 'windows', { namespace: 'default' })).rejects.toMatchObject({ reason: 'NotFound' })
  })

  it('start pods once the config maps and secrets of their volumes exist', async () => {
    await using server = await start()
    const { client } = server
    const volumes = [
      { name: 'config', configMap: { name: 'settings', items: [{ key: 'a', path: 'a' }] } },
      { name: 'both', projected: { sources: [{ secret: { name: 'keys' } }] } },
      { name: 'maybe', secret: { secretName: 'absent', optional: true } },
    ]
    const pending = { phase: 'Pending', reason: undefined, message: undefined }
    expect(await run(server, 'web', onNode({}, { volumes }))).toEqual(pending)
    const messages = async () =>
      (await client.list(events, { namespace: 'default' })).items.flatMap(({ reason, message }) =>
        reason === 'FailedMount' ? message : [],
      )
    const failure = (volume: string) => `MountVolume.SetUp failed for volume "${volume}" :`
    expect(await messages()).toEqual([`${failure('config')} configmap "settings" not found`])
    await client.create(configMaps, { metadata: { name: 'settings', namespace: 'default' }, data: { b: 'x' } })
    await server.clock.advance('5s')
    expect(await messages()).toContain(`${failure('config')} configmap references non-existent config key: a`)
    await client.patch(configMaps, 'settings', { namespace: 'default', type: 'merge', patch: { data: { a: 'x' } } })
    await server.clock.advance('20s')
    expect(await messages()).toContain(`${failure('both')} secret "keys" not found`)
    await client.create(secrets, { metadata: { name: 'keys', namespace: 'default' } })
    await server.clock.advance('1m')
    expect((await client.get(pods, 'web', { namespace: 'default' })).status?.phase).toBe('Running')
  })
})
