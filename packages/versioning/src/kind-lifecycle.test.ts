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
  it('go from future to removed [P334]', () => {
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
    ['flowcontrol.apiserver.k8s.io', 'v1beta1', 'FlowSchema', 'flowschemas', '1.25', '1.26', 'v1beta3'],
    ['flowcontrol.apiserver.k8s.io', 'v1beta1', 'PriorityLevelConfiguration', 'x', '1.25', '1.26', 'v1beta3'],
    ['autoscaling', 'v2beta2', 'HorizontalPodAutoscaler', 'horizontalpodautoscalers', '1.25', '1.26', 'v2'],
    ['storage.k8s.io', 'v1beta1', 'CSIStorageCapacity', 'csistoragecapacities', '1.26', '1.27', 'v1'],
  ])('%s/%s %s: %s served until %s, and not in %s [P335]', (group, version, kind, resource, last, removed, next) => {
    const lifecycle = lifecycleOf(group, version, kind)
    expect([isServedAt(lifecycle, last, { resource }), isServedAt(lifecycle, removed, { resource })]).toEqual([true, false])
    expect(kindStateAt(lifecycle, last)).toMatchObject({ phase: 'deprecated', removed })
    expect(kindStateAt(lifecycle, removed)).toMatchObject({ phase: 'removed', replacement: `${group},${next},${kind}` })
    expect(isServedAt(lifecycle, removed, { resource, runtimeConfig: `${group}/${version}=true` })).toBe(false)
    expect(isServedAt(lifecycleOf(group, next, kind), removed, { resource })).toBe(true)
  })

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
      { version: 'v2alpha1', introduced: '1.4', deprecated: '1.20', removed: '1.21', replacement: 'v1' },
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
