import { createFeatures, stockProfile } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { clusterOf, refusalOf, runAdmission } from '../testing/run-admission.ts'
import { nodeDeclaredFeatureValidator } from './node-declared-feature-validator.ts'

const requests = (cpu: string) => ({ resources: { requests: { cpu } } })

interface Update {
  readonly release?: string
  readonly declared?: readonly string[]
  readonly generation?: number
}

async function updated(old: object, spec: object, { release = '1.37', declared = [], generation = 2 }: Update = {}) {
  const pod = (own: object, at: number) => ({
    metadata: { generation: at },
    spec: { nodeName: 'n', containers: [], ...own },
    status: { qosClass: 'Guaranteed' },
  })
  const plugin = nodeDeclaredFeatureValidator(stockProfile, createFeatures(release))
  const request = { object: pod(spec, generation), oldObject: pod(old, 1), subresource: 'resize' }
  const cluster = clusterOf({ 'nodes//n': { status: { declaredFeatures: declared } } })
  const message = refusalOf(await runAdmission(plugin, 'pods', request, cluster))
  return (
    /^pods "a" is forbidden: pod update requires features (.*) which are not available on node "n"$/.exec(message)?.[1] ?? message
  )
}

describe('NodeDeclaredFeatureValidator', () => {
  const podLevel = 'InPlacePodLevelResourcesVerticalScaling'
  const initContainers = 'InPlacePodVerticalScalingInitContainers'

  it('needs a node that resizes pods', async () => {
    expect(await updated(requests('1'), requests('2'))).toBe(podLevel)
    expect(await updated({}, requests('2'))).toBe(podLevel)
    expect(await updated(requests('1'), requests('2'), { declared: [podLevel] })).toBe('')
    expect(await updated(requests('1'), requests('1000m'))).toBe('')
    expect(await updated(requests('1'), requests('2'), { generation: 1 })).toBe('')
    expect(await updated(requests('1'), { ...requests('2'), nodeName: '' })).toBe('')
  })

  it('needs a node that resizes init containers, from 1.36 on', async () => {
    const init = (cpu: string, members: object = {}) => ({ initContainers: [{ name: 'i', ...requests(cpu), ...members }] })
    expect(await updated(init('1'), init('2'))).toBe(initContainers)
    expect(await updated(init('1'), init('2'), { release: '1.35' })).toBe('')
    expect(await updated(init('1', { restartPolicy: 'Always' }), init('2', { restartPolicy: 'Always' }))).toBe('')
    const both = `${podLevel}, ${initContainers}`
    expect(await updated({ ...init('1'), ...requests('1') }, { ...init('2'), ...requests('2') })).toBe(both)
  })

  it('needs a node that resizes volumes in memory, in 1.37', async () => {
    const volume = (sizeLimit: string, medium = 'Memory') => ({ volumes: [{ name: 'v', emptyDir: { medium, sizeLimit } }] })
    const name = 'InPlacePodVerticalScalingMemoryBackedVolumes'
    expect(await updated(volume('1Gi'), volume('2Gi'))).toBe(name)
    expect(await updated(volume('1Gi'), volume('2Gi'), { release: '1.36' })).toBe('')
    expect(await updated(volume('1Gi', ''), volume('2Gi', ''))).toBe('')
    expect(await updated(volume('1Gi'), volume('1024Mi'))).toBe('')
  })

  it('needs a node that resizes the CPU of guaranteed pods, in 1.35', async () => {
    const cpu = (amount: string) => ({ containers: [{ name: 'c', ...requests(amount) }] })
    expect(await updated(cpu('1'), cpu('2'), { release: '1.35' })).toBe('GuaranteedQoSPodCPUResize')
    expect(await updated(cpu('1'), cpu('2'), { release: '1.36' })).toBe('')
  })

  it('requires the node', async () => {
    expect(await updated(requests('1'), { ...requests('2'), nodeName: 'gone' })).toBe(
      'pods "a" is forbidden: node "gone" not found',
    )
  })

  describe('with devices that count as resources of a node', () => {
    const created = async (spec: object, gates: Record<string, boolean> = { DRANodeAllocatableResources: true }) => {
      const plugin = nodeDeclaredFeatureValidator(stockProfile, createFeatures('1.37', gates))
      const cluster = clusterOf({
        'nodes//n': { metadata: { labels: { zone: 'a' } } },
        'nodes//m': { metadata: { labels: { zone: 'b' } }, status: { declaredFeatures: ['DRANodeAllocatableResources'] } },
      })
      const devices = [{ name: 'd', nodeAllocatableResources: { cpu: {} } }]
      const object = { spec: { devices, ...spec } }
      const message = refusalOf(await runAdmission(plugin, 'resource.k8s.io/resourceslices', { object }, cluster))
      return message.replace('resourceslices.resource.k8s.io "a" is forbidden: ', '')
    }
    const unsupported = 'node "n" does not support DRANodeAllocatableResources feature'

    it('requires that their nodes declare the feature', async () => {
      expect(await created({ nodeName: 'n' })).toBe(unsupported)
      expect(await created({ nodeName: 'm' })).toBe('')
      expect(await created({ nodeName: 'x' })).toBe('node "x" not found for device "d"')
      expect(await created({ allNodes: true })).toBe(unsupported)
      expect(await created({})).toBe('device "d" in ResourceSlice has NodeAllocatableResources but does not map to any nodes')
      expect(await created({ nodeName: 'n' }, {})).toBe('')
    })

    it('matches the selector of the slice, or of the device', async () => {
      const zone = (...values: string[]) => ({
        nodeSelectorTerms: [{ matchExpressions: [{ key: 'zone', operator: 'In', values }] }],
      })
      expect(await created({ nodeSelector: zone('a', 'b') })).toBe(unsupported)
      expect(await created({ nodeSelector: zone('b') })).toBe('')
      const byName = { nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['n'] }] }] }
      expect(await created({ nodeSelector: byName })).toBe(unsupported)
      const device = { name: 'd', nodeAllocatableResources: { cpu: {} }, nodeName: 'n' }
      expect(await created({ perDeviceNodeSelection: true, devices: [device] })).toBe(unsupported)
      expect(await created({ nodeName: 'n', devices: [{ name: 'd' }] })).toBe('')
    })
  })
})
