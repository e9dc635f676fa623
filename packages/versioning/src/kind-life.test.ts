import { createCatalog, readLifecycle } from '@krmkit/kinds'
import { describe, expect, it } from 'vitest'
import { createFeatureGates } from './feature-gates.ts'
import { isServedAt, kindStateAt, planOfKind } from './kind-life.ts'

const lives = readLifecycle()
function lifeOf(group: string, version: string, kind: string) {
  const found = lives.find((life) => life.group === group && life.version === version && life.kind === kind)
  if (found === undefined) throw new Error(`no ${group}/${version} ${kind}`)
  return found
}
const cronJob = lifeOf('batch', 'v1beta1', 'CronJob')

describe('recorded lives', () => {
  it('P334 go from the future to removal', () => {
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

  it('P329 P330 beta and stable kinds are served while they live, unless they are switched off', () => {
    const served = (release: string, runtimeConfig?: string) =>
      isServedAt(cronJob, release, { resource: 'cronjobs', ...(runtimeConfig === undefined ? {} : { runtimeConfig }) })
    expect(served('1.24')).toBe(true)
    for (const off of ['batch/v1beta1=false', 'batch/v1beta1/cronjobs=false', 'api/beta=false'])
      expect(served('1.24', off)).toBe(false)
    expect(served('1.24', 'batch/v1=false')).toBe(true)
    expect(served('1.25', 'batch/v1beta1=true')).toBe(false)
  })

  it('P328 P330 alpha kinds wait to be switched on', () => {
    const alpha = lives.find(({ version, removed }) => version === 'v1alpha1' && removed === null)
    if (alpha === undefined) throw new Error('no alpha kind lives')
    const release = alpha.introduced ?? '1.33'
    expect(isServedAt(alpha, release, { resource: 'x' })).toBe(false)
    expect(isServedAt(alpha, release, { resource: 'x', runtimeConfig: `${alpha.group}/v1alpha1` })).toBe(true)
  })

  it('become plans', () => {
    expect(planOfKind(lives, 'batch', 'CronJob').versions).toEqual([
      { version: 'v1', introduced: '1.21' },
      { version: 'v1beta1', introduced: '1.8', deprecated: '1.21', removed: '1.25', replacement: 'v1' },
    ])
  })
})

it('an older release is emulated by its features', () => {
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
