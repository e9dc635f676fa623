import { createFeatures } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { runPreparation } from '../../../preparation.ts'
import type { Pod } from '../../../types/core-v1.generated.ts'
import { runValidation } from '../../../validation.ts'
import { testContext } from '../../testing/context.ts'
import { resizeStrategy } from './resize.ts'

interface Resize {
  readonly release?: string
  readonly gates?: Readonly<Record<string, boolean>>
  readonly status?: object
}

const amounts = (cpu: string, memory = '1Gi') => ({ cpu, memory })
const container = (resources: object, members: object = {}) => ({
  ...{ name: 'c', image: 'i', terminationMessagePolicy: 'File', imagePullPolicy: 'Always', resources },
  ...members,
})
const requests = (cpu: string) => ({ requests: amounts(cpu) })
const defaults = { restartPolicy: 'Always', dnsPolicy: 'ClusterFirst' }

function podOf(spec: object, status: object = {}): Pod {
  const metadata = { name: 'p', namespace: 'n', uid: 'u', resourceVersion: '1' }
  const containers = [container(requests('1'))]
  return { apiVersion: 'v1', kind: 'Pod', metadata, spec: { ...defaults, containers, ...spec }, status } as unknown as Pod
}

/** The errors of a resize that are not about a pod without the defaults of other fields, and the prepared pod. */
function resize(before: object, after: object, { release = '1.37', gates = {}, status = {} }: Resize = {}) {
  const context = testContext({ features: createFeatures(release, gates) })
  const [old, next] = [podOf(before, status), podOf(after, status)]
  runPreparation(resizeStrategy.prepareForUpdate?.(next, old, context))
  const errors = runValidation(resizeStrategy.validateUpdate?.(next, old, context))
  return { spec: next.spec, errors: errors.map(({ field, message }) => `${field}: ${message}`) }
}
const errorsOf = (before: object, after: object, options: Resize = {}) => resize(before, after, options).errors

describe('a resize of containers', () => {
  const limits = (memory: string) => ({
    containers: [container({ requests: amounts('1', '64Mi'), limits: amounts('2', memory) })],
  })

  it('decreases memory limits since 1.34', () => {
    const refusal =
      'spec.containers[0].resources.limits[memory]: Forbidden: memory limits cannot be decreased unless resizePolicy is RestartContainer'
    expect(errorsOf(limits('2Gi'), limits('1Gi'), { release: '1.33' })).toEqual([refusal])
    expect(errorsOf(limits('2Gi'), limits('1Gi'), { release: '1.34' })).toEqual([])
  })

  it('adds no other resources since 1.35', () => {
    const more = { containers: [container({ ...requests('1'), limits: { 'ephemeral-storage': '1Gi' } })] }
    expect(errorsOf({}, more, { release: '1.34' })).toEqual([])
    expect(errorsOf({}, more, { release: '1.35' })).toEqual(['spec: Forbidden: only cpu and memory resources are mutable'])
  })

  it('keeps claims since 1.37', () => {
    const claims = [{ name: 'gpu' }]
    const pod = (cpu: string) => ({
      containers: [container({ ...requests(cpu), claims })],
      resourceClaims: [{ name: 'gpu', resourceClaimName: 'gpu' }],
    })
    expect(errorsOf(pod('1'), pod('2'), { release: '1.36' })).toEqual([
      'spec: Forbidden: only cpu and memory resources are mutable',
    ])
    expect(errorsOf(pod('1'), pod('2'))).toEqual([])
  })

  it('is refused in 1.36 with claims of resources of the node', () => {
    const status = { nodeAllocatableResourceClaimStatuses: [{ resourceClaimName: 'gpu' }] }
    const bigger = { containers: [container(requests('2'))] }
    const refusal = 'spec: Forbidden: pods with node allocatable resource claims cannot be resized'
    expect(errorsOf({}, bigger, { release: '1.36', status })).toEqual([refusal])
    expect(errorsOf({}, bigger, { status })).toEqual([])
  })
})

describe('a resize of init containers', () => {
  const init = (resources: object, members: object = {}) => ({
    initContainers: [container(resources, { name: 'i', ...members })],
  })
  const sidecar = { restartPolicy: 'Always' }

  it('changes those that are no sidecars since 1.36', () => {
    const immutable = 'spec: Forbidden: resources for non-sidecar init containers are immutable'
    expect(errorsOf(init(requests('1')), init(requests('2')), { release: '1.35' })).toEqual([immutable])
    expect(errorsOf(init(requests('1')), init(requests('2')), { release: '1.36' })).toEqual([])
    const gates = { InPlacePodVerticalScalingInitContainers: false }
    expect(errorsOf(init(requests('1')), init(requests('2')), { release: '1.36', gates })).toEqual([immutable])
    expect(errorsOf(init(requests('1')), init({}), { release: '1.36' })).toEqual([
      'spec.initContainers[0].resources.requests: Forbidden: resource requests cannot be removed',
    ])
  })

  it('names the container since 1.36', () => {
    const more = { requests: { ...amounts('1'), 'ephemeral-storage': '1Gi' } }
    expect(errorsOf(init(requests('1'), sidecar), init(more, sidecar), { release: '1.35' })).toEqual([
      'spec: Forbidden: only cpu and memory resources for sidecar containers are mutable',
    ])
    expect(errorsOf(init(requests('1'), sidecar), init(more, sidecar))).toEqual([
      'spec.initContainers[0]: Forbidden: only cpu and memory resources for init or sidecar containers are mutable',
    ])
  })

  it('does not restart those that are no sidecars', () => {
    const policy = { resizePolicy: [{ resourceName: 'cpu', restartPolicy: 'RestartContainer' }] }
    expect(errorsOf(init(requests('1'), policy), init(requests('2'), policy))).toContain(
      'spec.initContainers[0]: Forbidden: non-sidecar init containers with a resize policy of RestartContainer cannot be resized',
    )
  })
})

describe('a resize of the resources of a pod', () => {
  const level = (cpu: string, more: object = {}) => ({ resources: { requests: { ...amounts(cpu), ...more } } })
  const on = { PodLevelResources: true, InPlacePodLevelResourcesVerticalScaling: true }

  it('is refused before 1.35, and without its gate', () => {
    expect(errorsOf(level('2'), level('3'), { release: '1.34' })).toEqual([
      '[]: Forbidden: pods with pod-level resources cannot be resized',
    ])
    expect(errorsOf(level('2'), level('3'), { release: '1.35' })).toEqual([
      '[]: Forbidden: resize of pods with pod-level resources is forbidden when InPlacePodLevelResourcesVerticalScalingEnabled feature gate is disabled',
    ])
    expect(errorsOf(level('2'), level('3'), { release: '1.35', gates: on })).toEqual([])
    expect(resize(level('2'), level('3'), { release: '1.36' })).toMatchObject({ errors: [], spec: level('3') })
  })

  it('changes CPU and memory, and removes nothing', () => {
    const fewer = { resources: { requests: { cpu: '2' } } }
    expect(errorsOf(level('2'), fewer, { release: '1.36' })).toEqual([
      'spec.resources.requests: Forbidden: pod-level resource requests cannot be removed',
    ])
    expect(errorsOf(level('2'), {}, { release: '1.36' })).toEqual([
      'spec.resources: Forbidden: pod-level resources cannot be removed',
    ])
    expect(errorsOf({}, level('2'), { release: '1.36' })).toEqual([])
    const pages = errorsOf(
      level('2'),
      { resources: { ...level('2', { 'hugepages-2Mi': '2Mi' }).resources } },
      { release: '1.36' },
    )
    expect(pages).toContain('spec: Forbidden: only cpu and memory resources are mutable at pod-level')
  })

  it('keeps resources that the client leaves out since 1.37', () => {
    expect(resize(level('2'), {})).toMatchObject({ errors: [], spec: level('2') })
  })
})

describe('a resize of volumes', () => {
  const volume = (sizeLimit?: string, medium = 'Memory', name = 'v') => ({
    volumes: [{ name, emptyDir: { medium, ...(sizeLimit === undefined ? {} : { sizeLimit }) } }],
  })
  const gates = { InPlacePodVerticalScalingMemoryBackedVolumes: true }

  it('changes nothing without its gate', () => {
    expect(resize(volume('1Gi'), volume('2Gi'))).toMatchObject({ errors: [], spec: volume('1Gi') })
  })

  it.each([
    ['the size limit of a volume in memory', volume('1Gi'), volume('2Gi'), []],
    [
      'a new limit',
      volume(),
      volume('2Gi'),
      ['.emptyDir.sizeLimit: Forbidden: adding or removing sizeLimit on an existing volume is not allowed'],
    ],
    [
      'a volume on disk',
      volume('1Gi', ''),
      volume('2Gi', ''),
      ['.emptyDir.sizeLimit: Forbidden: sizeLimit is only mutable for memory-backed emptyDir volumes'],
    ],
    [
      'the medium',
      volume('1Gi'),
      volume('1Gi', ''),
      [': Forbidden: only sizeLimit of memory-backed emptyDir volumes is mutable on resize'],
    ],
    [
      'the name',
      volume('1Gi'),
      volume('1Gi', 'Memory', 'w'),
      ['.name: Forbidden: volumes may not be renamed or reordered on resize'],
    ],
  ])('with its gate: %s', (_, before, after, expected) => {
    expect(errorsOf(before, after, { gates })).toEqual(expected.map((text) => `spec.volumes[0]${text}`))
  })

  it('does not remove volumes', () => {
    expect(errorsOf(volume('1Gi'), { volumes: [] }, { gates })).toEqual([
      'spec.volumes: Forbidden: volumes may not be added or removed on resize',
    ])
  })
})
