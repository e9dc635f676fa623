import { stockProfile } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { clusterOf, runAdmission } from '../testing/run-admission.ts'
import { podResizeValidator } from './pod-resize-validator.ts'

const requests = (cpu: string, memory = '1Gi') => ({ resources: { requests: { cpu, memory } } })
const pod = (spec: object, generation: number) => ({ metadata: { generation }, spec: { nodeName: 'n', ...spec } })
const container = (cpu: string, memory?: string) => ({ name: 'c', ...requests(cpu, memory) })

async function resized(spec: object, node: object | null = {}, generation = 2) {
  const allocatable = { cpu: '4', memory: '8Gi' }
  const cluster = clusterOf(node === null ? {} : { 'nodes//n': { status: { allocatable }, ...node } })
  const request = { object: pod(spec, generation), oldObject: pod({ containers: [container('1')] }, 1), subresource: 'resize' }
  return (await runAdmission(podResizeValidator(stockProfile), 'pods', request, cluster)).status
}

describe('PodResizeValidator', () => {
  it('refuses resizes beyond the node', async () => {
    const status = await resized({ containers: [container('4500m', '9Gi')] })
    expect(status?.message).toBe(
      'pods "a" is forbidden: node didn\'t have enough allocatable resources: cpu, requested: 4500, allocatable: 4000; memory, requested: 9663676416, allocatable: 8589934592',
    )
    expect(status).toMatchObject({ code: 403, reason: 'Forbidden' })
    expect(status?.details).toEqual({ name: 'a', kind: 'pods', causes: [{ reason: 'NodeCapacity' }] })
  })

  it('counts all containers, resources of the pod and its overhead', async () => {
    expect(await resized({ containers: [container('4')] })).toBeUndefined()
    expect(await resized({ containers: [container('2'), container('3')] })).toBeDefined()
    expect(await resized({ containers: [container('1')], ...requests('5') })).toBeDefined()
    expect(await resized({ containers: [container('4')], overhead: { cpu: '1m' } })).toBeDefined()
  })

  it('refuses nodes without Linux', async () => {
    const status = await resized({ containers: [container('2')] }, { metadata: { labels: { 'kubernetes.io/os': 'windows' } } })
    expect(status?.message).toMatch(/pod resize is only supported on linux nodes, node "n" is "windows"$/)
    expect(status?.details?.causes).toEqual([{ reason: 'UnsupportedPlatform' }])
  })

  it('refuses pods whose node is gone', async () => {
    expect((await resized({ containers: [container('2')] }, null))?.message).toMatch(/node "n" not found$/)
  })

  it('skips pods that are not bound, and updates without a change of the spec', async () => {
    expect(await resized({ containers: [container('9')], nodeName: '' })).toBeUndefined()
    expect(await resized({ containers: [container('9')] }, {}, 1)).toBeUndefined()
  })
})
