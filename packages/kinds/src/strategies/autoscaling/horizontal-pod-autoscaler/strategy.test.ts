import { type ApiObject, createFeatures } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { runPreparation } from '../../../preparation.ts'
import { runValidation } from '../../../validation.ts'
import { testContext } from '../../testing/context.ts'
import { horizontalPodAutoscalerStrategy as strategy } from './strategy.ts'

const at = (release: string, gates: Record<string, boolean> = {}) => testContext({ features: createFeatures(release, gates) })
const autoscaler = (ref: object, spec: object = {}, metadata: object = {}) =>
  ({
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    metadata: { name: 'a', namespace: 'n', resourceVersion: '1', uid: 'u', ...metadata },
    spec: { minReplicas: 1, maxReplicas: 2, scaleTargetRef: { name: 'd', ...ref }, ...spec },
  }) as ApiObject
const texts = (errors: readonly { readonly field: string; readonly message: string }[]) =>
  errors.map(({ field, message }) => `${field}: ${message}`)
const created = (object: ApiObject, release: string) => texts(runValidation(strategy.validate?.(object, at(release))))
const updated = (object: ApiObject, old: ApiObject, release: string) =>
  texts(runValidation(strategy.validateUpdate?.(object, old, at(release))))

describe('autoscalers by release', () => {
  const noGroup = 'spec.scaleTargetRef.apiVersion: Invalid value: "v1": apiVersion must specify API group'

  it('name the group of their target since 1.34', () => {
    const ref = { apiVersion: 'v1', kind: 'Deployment' }
    expect(created(autoscaler(ref), '1.33')).toEqual([])
    expect(created(autoscaler(ref), '1.34')).toEqual([noGroup])
    expect(created(autoscaler({ kind: 'ReplicationController' }), '1.34')).toEqual([])
    expect(created(autoscaler({ apiVersion: 'a/b/c', kind: 'ReplicationController' }), '1.34')).toEqual([
      'spec.scaleTargetRef.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c',
    ])
    expect(updated(autoscaler(ref, { maxReplicas: 3 }), autoscaler(ref), '1.34')).toEqual([])
    expect(updated(autoscaler(ref), autoscaler({ ...ref, apiVersion: 'apps/v1' }), '1.34')).toEqual([noGroup])
  })

  it('keep wrong versions of described objects that are stored', () => {
    const metric = (apiVersion: string) => {
      const object = {
        describedObject: { apiVersion, kind: 'K', name: 'x' },
        metric: { name: 'm' },
        target: { type: 'Value', value: '1' },
      }
      return autoscaler({ apiVersion: 'apps/v1', kind: 'Deployment' }, { metrics: [{ type: 'Object', object }] })
    }
    const wrong = [
      'spec.metrics[0].object.describedObject.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c',
    ]
    expect([created(metric('a/b/c'), '1.33'), created(metric('a/b/c'), '1.34'), created(metric('v1'), '1.34')]).toEqual([
      [],
      wrong,
      [],
    ])
    expect(updated(metric('a/b/c'), metric('x/y/z'), '1.34')).toEqual([])
    expect(updated(metric('a/b/c'), metric('v1'), '1.34')).toEqual(wrong)
  })

  it('require a maximum since 1.36', () => {
    const ref = { apiVersion: 'apps/v1', kind: 'Deployment' }
    const maximum = (maxReplicas: number) => autoscaler(ref, { maxReplicas, minReplicas: undefined })
    expect(created(maximum(0), '1.35')).toEqual(['spec.maxReplicas: Invalid value: 0: must be greater than 0'])
    expect(created(maximum(0), '1.36')).toEqual(['spec.maxReplicas: Required value: must be set and greater than 0'])
    expect(created(maximum(-1), '1.36')).toEqual(['spec.maxReplicas: Invalid value: -1: must be greater than or equal to 1'])
  })

  it('have a generation behind a gate', () => {
    const prepared = (gates: Record<string, boolean>) => {
      const object = autoscaler({}, {}, { generation: 7 })
      runPreparation(strategy.prepareForCreate?.(object, at('1.37', gates)))
      return object.metadata.generation
    }
    expect([prepared({ HPAGeneration: true }), prepared({ HPAGeneration: false })]).toEqual([1, 7])
    const next = autoscaler({}, { maxReplicas: 3 }, { generation: 4 })
    runPreparation(strategy.prepareForUpdate?.(next, autoscaler({}, {}, { generation: 4 }), at('1.37', { HPAGeneration: true })))
    expect(next.metadata.generation).toBe(5)
  })
})
