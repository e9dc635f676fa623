import { createFeatures } from '@krmkit/meta'
import { expect, it } from 'vitest'
import type { PersistentVolume } from '../../../types/core-v1.generated.ts'
import { validateWith } from '../../shared/strategy.direct.ts'
import { testContext } from '../../testing/context.ts'
import { validateAttributesClass, validateAttributesClassUpdate } from './attributes-class.ts'

const volume = (volumeAttributesClassName?: string, csi: object | undefined = {}) =>
  ({ metadata: { name: 'v' }, spec: { volumeAttributesClassName, csi } }) as unknown as PersistentVolume
const on = testContext({ features: createFeatures('1.33', { VolumeAttributesClass: true }) })

it('names a class of a CSI driver, where its gate is on or was', () => {
  const found = (object: PersistentVolume, context = on, old?: PersistentVolume) =>
    validateWith(context, (errors) => validateAttributesClass(object, errors, old)).map(
      ({ field, message }) => `${field}: ${message.slice(0, 40)}`,
    )
  expect(found(volume('gold'))).toEqual([])
  expect(found(volume(''))).toEqual(['spec.volumeAttributesClassName: Required value: an empty string is disal'])
  const foreign = { metadata: { name: 'v' }, spec: { volumeAttributesClassName: 'G_' } } as unknown as PersistentVolume
  expect(found(foreign)).toEqual([
    'spec.volumeAttributesClassName: Invalid value: "G_": a lowercase RFC 112',
    'spec.csi: Required value: has to be specified when',
  ])
  expect(found(foreign, testContext())).toEqual([])
  expect(found(foreign, testContext(), volume('x'))).toHaveLength(2)
})

it('changes, where its gate is on', () => {
  const found = (next: PersistentVolume, old: PersistentVolume, context = on) =>
    validateWith(context, (errors) => validateAttributesClassUpdate(next, old, errors)).map(({ message }) => message)
  expect(found(volume('b'), volume('a'))).toEqual([])
  expect(found(volume(), volume('a'))).toEqual(['Forbidden: update from non-nil value to nil is forbidden'])
  expect(found(volume('b'), volume('a'), testContext())).toEqual([
    'Forbidden: update is forbidden when the VolumeAttributesClass feature gate is disabled',
  ])
  expect(found(volume('a'), volume('a'), testContext())).toEqual([])
})
