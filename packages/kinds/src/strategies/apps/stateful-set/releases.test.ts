import { type ApiObject, createFeatures } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { runPreparation } from '../../../preparation.ts'
import { runValidation } from '../../../validation.ts'
import { testContext } from '../../testing/context.ts'
import { statefulSetStrategy as strategy } from './strategy.ts'

const at = (release: string, gates: Readonly<Record<string, boolean>> = {}) =>
  testContext({ features: createFeatures(release, gates) })
const container = { name: 'c', image: 'i', imagePullPolicy: 'Always', terminationMessagePolicy: 'File' }
const set = (spec: object = {}, pod: object = {}) =>
  ({
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name: 's', namespace: 'n', uid: 'u', resourceVersion: '1' },
    spec: {
      podManagementPolicy: 'OrderedReady',
      updateStrategy: { type: 'OnDelete' },
      selector: { matchLabels: { a: 'b' } },
      template: {
        metadata: { labels: { a: 'b' } },
        spec: {
          containers: [container],
          restartPolicy: 'Always',
          dnsPolicy: 'Default',
          terminationGracePeriodSeconds: 1,
          ...pod,
        },
      },
      ...spec,
    },
  }) as ApiObject
const fields = (errors: readonly { readonly field: string; readonly message: string }[]) => errors.map(({ field }) => field)
const created = (object: ApiObject, release: string) => fields(runValidation(strategy.validate?.(object, at(release))))
const updated = (object: ApiObject, old: ApiObject, release: string) =>
  runValidation(strategy.validateUpdate?.(object, old, at(release)))

describe('stateful sets by release', () => {
  const wrong = set({}, { containers: [{ ...container, image: '' }] })
  const image = 'spec.template.spec.containers[0].image'

  it('have the rules of pods since 1.34', () => {
    expect([created(wrong, '1.33'), created(wrong, '1.34')]).toEqual([[], [image]])
    expect(fields(updated(wrong, set(), '1.34'))).toEqual([image])
    expect(updated(wrong, wrong, '1.34')).toEqual([])
  })

  it('mount the volumes of their claims, whose templates are validated', () => {
    const mounts = { containers: [{ ...container, volumeMounts: [{ name: 'data', mountPath: '/d' }] }], hostname: '_' }
    const claims = (spec: object) => ({ volumeClaimTemplates: [{ metadata: { name: 'data' }, spec }] })
    const fine = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } }
    expect(created(set(claims(fine), mounts), '1.34')).toEqual([])
    expect(created(set(claims({ ...fine, accessModes: [] }), mounts), '1.34')).toEqual([
      'spec.volumeClaimTemplates[0].spec.accessModes',
    ])
    expect(created(set(claims({}), mounts), '1.33')).toEqual([])
  })

  it('name each immutable member since 1.37', () => {
    const next = set({ serviceName: 'x', podManagementPolicy: 'Parallel' })
    expect(fields(updated(next, set(), '1.36'))).toEqual(['spec'])
    expect(updated(next, set(), '1.37').map(({ field, message }) => `${field}: ${message}`)).toEqual([
      'spec.serviceName: Invalid value: "x": field is immutable',
      'spec.podManagementPolicy: Invalid value: "Parallel": field is immutable',
    ])
  })

  it('are updated one pod at a time by default behind a gate', () => {
    const defaulted = (on: boolean) => {
      const object = set({ updateStrategy: {} })
      runPreparation(strategy.defaults?.(object, 'v1', testContext().profile, at('1.37', { MaxUnavailableStatefulSet: on })))
      return (object as unknown as { readonly spec: { readonly updateStrategy: object } }).spec.updateStrategy
    }
    expect(defaulted(true)).toEqual({ type: 'RollingUpdate', rollingUpdate: { partition: 0, maxUnavailable: 1 } })
    expect(defaulted(false)).toEqual({ type: 'RollingUpdate', rollingUpdate: { partition: 0 } })
  })
})
