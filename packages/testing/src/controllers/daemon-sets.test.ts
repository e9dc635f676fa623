import { resourceType } from '@krmkit/client'
import type { ApiObject } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import type { TestServer } from '../interfaces.ts'
import { endPod, labels, type Pod, pods, podsOf, runPods, startWith, template } from './workloads.fixture.ts'

const apps = { group: 'apps', version: 'v1' }
const daemonSets = resourceType<ApiObject & { status?: object }>({ ...apps, resource: 'daemonsets', kind: 'DaemonSet' })
const revisions = resourceType({ ...apps, resource: 'controllerrevisions', kind: 'ControllerRevision' })
const nodes = resourceType({ group: '', version: 'v1', resource: 'nodes', kind: 'Node', namespaced: false })

function node(name: string, { taints = [], ...nodeLabels }: { taints?: object[]; [label: string]: unknown } = {}): ApiObject {
  return { apiVersion: 'v1', kind: 'Node', metadata: { name, labels: nodeLabels as Record<string, string> }, spec: { taints } }
}

function daemonSet(spec: object = {}): ApiObject {
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name: 'agent', namespace: 'default' },
    spec: { selector: { matchLabels: labels }, template: template(), ...spec },
  }
}

const three = [node('node-1'), node('node-2'), node('node-3')]
const start = (spec: object = {}, seed: readonly ApiObject[] = three) =>
  startWith(['daemonset-controller'], [...seed, daemonSet(spec)])
const statusOf = async ({ client }: TestServer) => (await client.get(daemonSets, 'agent')).status
const change = async (server: TestServer, spec: object) => {
  await server.client.patch(daemonSets, 'agent', { type: 'merge', patch: { spec: spec as never } })
  await server.settle()
}

interface WithAffinity {
  affinity?: {
    nodeAffinity?: {
      requiredDuringSchedulingIgnoredDuringExecution?: { nodeSelectorTerms: { matchFields?: { values: string[] }[] }[] }
    }
  }
}
const nodeOf = ({ spec }: Pod) =>
  (spec as WithAffinity).affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms[0]
    ?.matchFields?.[0]?.values[0]
const placements = async (server: TestServer) =>
  (await podsOf(server)).map((pod) => `${nodeOf(pod)} ${pod.spec?.containers?.[0]?.image}`).sort()

describe('daemon set controller', () => {
  it('runs a pod on every node, placed by affinity', async () => {
    await using server = await start()
    const all = await podsOf(server)
    expect(all.map(nodeOf).sort()).toEqual(['node-1', 'node-2', 'node-3'])
    const required = {
      nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: [nodeOf(all[0]!)] }] }],
    }
    expect(all[0]).toMatchObject({
      metadata: {
        generateName: 'agent-',
        labels: { ...labels, 'controller-revision-hash': expect.any(String), 'pod-template-generation': '1' },
        ownerReferences: [{ kind: 'DaemonSet', name: 'agent', controller: true }],
      },
      spec: { affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required } } },
    })
    expect(all[0]?.spec?.['tolerations']).toContainEqual({
      key: 'node.kubernetes.io/unschedulable',
      operator: 'Exists',
      effect: 'NoSchedule',
    })
    await runPods(server)
    expect(await statusOf(server)).toEqual({
      observedGeneration: 1,
      currentNumberScheduled: 3,
      desiredNumberScheduled: 3,
      numberMisscheduled: 0,
      numberReady: 3,
      numberAvailable: 3,
      updatedNumberScheduled: 3,
    })
  })

  it('follows changes of nodes, labels and taints', async () => {
    const seed = [
      node('node-1', { disk: 'ssd' }),
      node('node-2'),
      node('node-3', { disk: 'ssd', taints: [{ key: 'x', effect: 'NoSchedule' }] }),
    ]
    await using server = await start({ template: template('web:1', { nodeSelector: { disk: 'ssd' } }) }, seed)
    expect(await placements(server)).toEqual(['node-1 web:1'])
    await server.client.create(nodes, node('node-4', { disk: 'ssd' }))
    await server.client.patch(nodes, 'node-2', { type: 'merge', patch: { metadata: { labels: { disk: 'ssd' } } } })
    await server.settle()
    expect(await placements(server)).toEqual(['node-1 web:1', 'node-2 web:1', 'node-4 web:1'])
    await server.client.patch(nodes, 'node-1', {
      type: 'merge',
      patch: { spec: { taints: [{ key: 'x', effect: 'NoExecute' }] } },
    })
    await server.client.patch(nodes, 'node-2', {
      type: 'merge',
      patch: { spec: { taints: [{ key: 'x', effect: 'NoSchedule' }] } },
    })
    await server.settle()
    expect(await placements(server)).toEqual(['node-2 web:1', 'node-4 web:1'])
    expect(await statusOf(server)).toMatchObject({ desiredNumberScheduled: 1, numberMisscheduled: 1 })
  })

  it('writes revisions that patches of other clients do not change', async () => {
    await using server = await start()
    await server.settle()
    const { items } = await server.client.list(revisions, { namespace: 'default' })
    const [{ metadata, data } = { metadata: {}, data: {} }] = items as { metadata: { name?: string }; data?: object }[]
    const keys = Object.keys((data as { spec: { template: { spec: object } } }).spec.template.spec)
    expect(keys).toEqual([...keys].sort())
    const patch = { metadata: { labels: { checked: 'yes' } } }
    const patched = await server.client.patch(revisions, metadata.name ?? '', { namespace: 'default', type: 'strategic', patch })
    expect(patched.metadata.labels).toMatchObject({ checked: 'yes' })
  })

  it('replaces outdated pods within maxUnavailable', async () => {
    await using server = await start()
    await runPods(server)
    await change(server, { template: template('web:2') })
    const count = async (image: string) => (await placements(server)).filter((text) => text.endsWith(image)).length
    expect([await count('web:1'), await count('web:2')]).toEqual([2, 1])
    await runPods(server)
    expect([await count('web:1'), await count('web:2')]).toEqual([1, 2])
    await runPods(server)
    await runPods(server)
    expect(await count('web:2')).toBe(3)
    expect(await statusOf(server)).toMatchObject({ updatedNumberScheduled: 3, numberAvailable: 3, observedGeneration: 2 })
    const { items } = await server.client.list(revisions, { namespace: 'default' })
    expect(items.map(({ revision }) => revision).sort()).toEqual([1, 2])
  })

  it('creates new pods before it deletes old ones with maxSurge', async () => {
    const updateStrategy = { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } }
    await using server = await start({ updateStrategy })
    await runPods(server)
    await change(server, { template: template('web:2') })
    expect(await podsOf(server)).toHaveLength(4)
    for (let i = 0; i < 3; i++) await runPods(server)
    expect((await placements(server)).map((text) => text.split(' ')[1])).toEqual(['web:2', 'web:2', 'web:2'])
  })

  it('replaces pods only when they are deleted with OnDelete', async () => {
    await using server = await start({ updateStrategy: { type: 'OnDelete' } })
    await runPods(server)
    await change(server, { template: template('web:2') })
    const [first] = await podsOf(server)
    await server.client.delete(pods, first?.metadata.name ?? '')
    await server.settle()
    expect((await placements(server)).filter((text) => text.endsWith('web:2'))).toEqual([`${nodeOf(first!)} web:2`])
  })

  it('replaces failed pods with a growing delay', async () => {
    await using server = await start({}, [node('node-1')])
    const fail = async () => {
      const [pod] = await podsOf(server)
      await endPod(server, pod?.metadata.name ?? '', 1)
      await server.settle()
      return (await podsOf(server))[0]?.status?.phase
    }
    expect(await fail()).toBe('Pending')
    expect(await fail()).toBe('Failed')
    await server.clock.advance('1s')
    expect((await podsOf(server))[0]?.status?.phase).toBe('Pending')
  })
})
