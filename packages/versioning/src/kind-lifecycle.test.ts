import { createCatalog, readLifecycle } from '@krmkit/kinds'
import { describe, expect, it } from 'vitest'
import { createFeatureGates } from './feature-gates.ts'
import { isServedAt, kindApiPlan, kindStateAt } from './kind-lifecycle.ts'

const lifecycles = readLifecycle()
function lifecycleOf(group: string, version: string, kind: string) {
  const found = lifecycles.find(
    (lifecycle) => lifecycle.group === group && lifecycle.version === version && lifecycle.kind === kind,
  )
  if (found === undefined) throw new Error(`no ${group}/${version} ${kind}`)
  return found
}
const cronJob = lifecycleOf('batch', 'v1beta1', 'CronJob')

describe('lifecycles of kinds', () => {
  it('run from future to removed [P334]', () => {
    expect(['1.7', '1.20', '1.21', '1.24', '1.25'].map((release) => kindStateAt(cronJob, release).phase)).toEqual([
      'future',
      'current',
      'deprecated',
      'deprecated',
      'removed',
    ])
    expect(kindStateAt(cronJob, '1.24')).toEqual({
      phase: 'deprecated',
      stability: 'beta',
      removed: '1.25',
      replacement: 'batch,v1,CronJob',
    })
  })

  it.each([
    ['1.26', 'flowcontrol.apiserver.k8s.io', 'v1beta1', 'FlowSchema', 'flowschemas', 'v1beta2'],
    ['1.26', 'flowcontrol.apiserver.k8s.io', 'v1beta1', 'PriorityLevelConfiguration', 'prioritylevelconfigurations', 'v1beta2'],
    ['1.26', 'autoscaling', 'v2beta2', 'HorizontalPodAutoscaler', 'horizontalpodautoscalers', 'v2'],
    ['1.27', 'storage.k8s.io', 'v1beta1', 'CSIStorageCapacity', 'csistoragecapacities', 'v1'],
  ])(
    'end in %s: the release before serves %s/%s %s and its successor, which stays [P335]',
    (end, group, version, kind, resource, next) => {
      const before = `1.${Number(end.slice(2)) - 1}`
      const [old, current] = [lifecycleOf(group, version, kind), lifecycleOf(group, next, kind)]
      const served = (release: string) => [old, current].map((lifecycle) => isServedAt(lifecycle, release, { resource }))
      expect([served(before), served(end)]).toEqual([
        [true, true],
        [false, true],
      ])
      // No configuration brings a removed version back.
      expect(isServedAt(old, end, { resource, runtimeConfig: 'api/all=true' })).toBe(false)
    },
  )

  it('serve beta and stable kinds unless disabled [P329, P330]', () => {
    const served = (release: string, runtimeConfig?: string) =>
      isServedAt(cronJob, release, { resource: 'cronjobs', ...(runtimeConfig === undefined ? {} : { runtimeConfig }) })
    expect(served('1.24')).toBe(true)
    for (const off of ['batch/v1beta1=false', 'batch/v1beta1/cronjobs=false', 'api/beta=false'])
      expect(served('1.24', off)).toBe(false)
    expect(served('1.24', 'batch/v1=false')).toBe(true)
    expect(served('1.25', 'batch/v1beta1=true')).toBe(false)
  })

  it('serve alpha kinds only when enabled [P328, P330]', () => {
    const alpha = lifecycles.find(({ version, removed }) => version === 'v1alpha1' && removed === null)
    if (alpha === undefined) throw new Error('no alpha kind lifecycles')
    const release = alpha.introduced ?? '1.33'
    expect(isServedAt(alpha, release, { resource: 'x' })).toBe(false)
    expect(isServedAt(alpha, release, { resource: 'x', runtimeConfig: `${alpha.group}/v1alpha1` })).toBe(true)
  })

  it('convert to plans', () => {
    expect(kindApiPlan(lifecycles, 'batch', 'CronJob').versions).toEqual([
      { version: 'v1', introduced: '1.21' },
      { version: 'v1beta1', introduced: '1.8', deprecated: '1.21', removed: '1.25', replacement: 'v1' },
    ])
  })
})

it('createFeatureGates emulates an older release', () => {
  const features = createFeatureGates({ release: '1.29', gates: [] })
  const older = createCatalog({ features }).definitions
  const newest = createCatalog().definitions
  const policy = { group: 'admissionregistration.k8s.io', version: 'v1', resource: 'validatingadmissionpolicies' }
  const serves = (definitions: typeof older) =>
    definitions.some(
      ({ group, version, resource }) => group === policy.group && version === policy.version && resource.name === policy.resource,
    )
  expect([serves(older), serves(newest)]).toEqual([false, true])
})
