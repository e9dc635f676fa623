import { type ApiObject, createFeatures, type DeepReadonly } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import type { Strategy } from '../../interfaces.ts'
import { runPreparation } from '../../preparation.ts'
import { runValidation } from '../../validation.ts'
import { testContext } from '../testing/context.ts'
import { csiDriverStrategy } from './csi-driver/strategy.ts'
import { csiNodeStrategy } from './csi-node/strategy.ts'
import { storageClassStrategy } from './storage-class/strategy.ts'
import { volumeAttachmentStrategy } from './volume-attachment/strategy.ts'
import { volumeAttributesClassStrategy } from './volume-attributes-class/strategy.ts'

const at = (release: string, gates: Record<string, boolean> = {}) => testContext({ features: createFeatures(release, gates) })
const object = (members: object, metadata: object = {}) =>
  ({
    apiVersion: 'storage.k8s.io/v1',
    kind: 'K',
    metadata: { name: 'x', uid: 'u', resourceVersion: '1', ...metadata },
    ...members,
  }) as ApiObject
const fields = (errors: DeepReadonly<{ field: string; reason: string }[]>) =>
  errors.map(({ field, reason }) => `${field} ${reason}`)
const updated = (strategy: Strategy, now: ApiObject, old: ApiObject, release: string) =>
  fields(runValidation(strategy.validateUpdate?.(now, old, at(release))))

describe('CSI drivers', () => {
  const tokens = { spec: { tokenRequests: [{ audience: 'a' }] } }
  const secrets = { CSIServiceAccountTokenSecrets: true }

  it('default and require preventPodSchedulingIfMissing behind a gate', () => {
    const defaulted = (gates: Record<string, boolean>) => {
      const driver = object({})
      runPreparation(csiDriverStrategy.defaults?.(driver, 'v1', testContext().profile, at('1.37', gates)))
      return (driver as { spec?: object }).spec
    }
    expect(defaulted({ VolumeLimitScaling: true })).toHaveProperty('preventPodSchedulingIfMissing', false)
    expect(defaulted({ VolumeLimitScaling: false })).not.toHaveProperty('preventPodSchedulingIfMissing')
    const spec = { attachRequired: true, podInfoOnMount: true, storageCapacity: true }
    const found = (gates: Record<string, boolean>) =>
      fields(runValidation(csiDriverStrategy.validate?.(object({ spec }), at('1.37', gates))))
    expect(found({ VolumeLimitScaling: true })).toEqual(['spec.preventPodSchedulingIfMissing FieldValueRequired'])
    expect(found({ VolumeLimitScaling: false })).toEqual([])
  })

  it('warn of tokens outside secrets when requests are added or changed', () => {
    const warned = (old: ApiObject | undefined, gates: Record<string, boolean>) =>
      csiDriverStrategy.warnings?.(object(tokens), old, at('1.35', gates))?.length
    expect([warned(undefined, secrets), warned(object({ spec: {} }), secrets)]).toEqual([1, 1])
    expect([warned(object(tokens), secrets), warned(undefined, { CSIServiceAccountTokenSecrets: false })]).toEqual([0, 0])
  })

  it('lose serviceAccountTokenInSecrets with the gate off, and need token requests for it', () => {
    const kept = (gates: Record<string, boolean>) => {
      const driver = object({ spec: { serviceAccountTokenInSecrets: true } })
      runPreparation(csiDriverStrategy.prepareForCreate?.(driver, at('1.35', gates)))
      return (driver as { spec?: object }).spec
    }
    expect([kept(secrets), kept({ CSIServiceAccountTokenSecrets: false })]).toEqual([{ serviceAccountTokenInSecrets: true }, {}])
    const spec = { attachRequired: true, podInfoOnMount: true, storageCapacity: true, serviceAccountTokenInSecrets: false }
    expect(fields(runValidation(csiDriverStrategy.validate?.(object({ spec }), at('1.35'))))).toEqual([
      'spec.serviceAccountTokenInSecrets FieldValueInvalid',
    ])
  })
})

describe('CSI nodes', () => {
  const node = object({ spec: { drivers: [{ name: '', nodeID: 'n' }] } })

  it('report an absent driver name once since 1.35, and are validated once in an update since 1.36', () => {
    const name = 'spec.drivers[0].name'
    const two = [`${name} FieldValueRequired`, `${name} FieldValueInvalid`]
    expect(updated(csiNodeStrategy, node, node, '1.34')).toEqual([...two, ...two])
    expect(updated(csiNodeStrategy, node, node, '1.35')).toEqual([two[0], two[0]])
    expect(updated(csiNodeStrategy, node, node, '1.36')).toEqual([two[0]])
  })

  it('have the health of storage in their status', () => {
    const healthConditions = [{ status: 'Fine', reason: '1', accessMode: 'x' }]
    const next = object({ status: { storageHealth: [{ name: 'd' }, { name: 'd', healthConditions }] } })
    const { status } = csiNodeStrategy.subresources ?? {}
    const found = fields(runValidation(status?.validateUpdate(next, object({}), at('1.37'))))
    const second = 'status.storageHealth[1]'
    expect(found).toEqual([
      `${second} FieldValueDuplicate`,
      `${second}.healthConditions[0].status FieldValueNotSupported`,
      `${second}.healthConditions[0].accessMode FieldValueNotSupported`,
      `${second}.healthConditions[0].reason FieldValueInvalid`,
    ])
    const kept = (gates: Record<string, boolean>) => {
      const written = object({ status: { storageHealth: [{ name: 'd' }] } })
      runPreparation(status?.prepareForUpdate(written, object({}), at('1.37', gates)))
      return (written as { status?: object }).status
    }
    expect([kept({ CSIVolumeHealth: true }), kept({})]).toEqual([{ storageHealth: [{ name: 'd' }] }, {}])
  })
})

it('volume attributes classes are validated once in an update since 1.35', () => {
  const empty = object({ driverName: 'd', parameters: {} })
  const required = 'parameters FieldValueRequired'
  expect(updated(volumeAttributesClassStrategy, empty, empty, '1.34')).toEqual([required, required])
  expect(updated(volumeAttributesClassStrategy, empty, empty, '1.35')).toEqual([required])
})

it('attachments are validated once in an update since 1.35, with the rules of new ones since 1.36', () => {
  const attachment = object({ spec: { attacher: '_', nodeName: 'N', source: { persistentVolumeName: 'p' } } })
  const node = 'spec.nodeName FieldValueInvalid'
  expect(updated(volumeAttachmentStrategy, attachment, attachment, '1.34')).toEqual([node, node])
  expect(updated(volumeAttachmentStrategy, attachment, attachment, '1.35')).toEqual([node])
  expect(updated(volumeAttachmentStrategy, attachment, attachment, '1.36')).toEqual(['spec.attacher FieldValueInvalid', node])
})

it('storage classes name immutable members in one form since 1.36', () => {
  const stored = object({ provisioner: 'p', reclaimPolicy: 'Delete', volumeBindingMode: 'Immediate' })
  const next = object({ provisioner: 'q', reclaimPolicy: 'Delete', volumeBindingMode: 'Immediate' })
  expect(updated(storageClassStrategy, next, stored, '1.35')).toEqual(['provisioner FieldValueForbidden'])
  expect(updated(storageClassStrategy, next, stored, '1.36')).toEqual(['provisioner FieldValueInvalid'])
})
