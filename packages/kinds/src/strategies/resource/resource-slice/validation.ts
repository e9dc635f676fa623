/** Rules of slices. */

import type { Work } from '@krmkit/base/work'
import type { DeepReadonly } from '@krmkit/meta'
import type {
  CounterSet,
  Device,
  ResourcePool,
  ResourceSlice,
  ResourceSliceSpec,
} from '../../../types/resource-v1beta1.generated.ts'
import type { ContextErrorList, FieldPath } from '../../shared/field-path.ts'
import { validateMetadata, validateMetadataUpdate } from '../../shared/metadata.ts'
import { creationRules, updateRules } from '../../shared/strategy.ts'
import { isEmpty, isSet, type R } from '../../shared/values.ts'
import { validateDriverName } from '../../shared/volume-network.ts'
import { validateSet } from '../lists.ts'
import { validatePoolName } from '../names.ts'
import { countersOf, partsOf, validateCounterSet, validateDevice } from './device.ts'
import { validateSliceNodes } from './nodes.ts'

const maxDevices = 128
const maxAdvancedDevices = 64
const maxCounterSets = 8
const maxSharedCounters = 32
const maxConsumedCounters = 1024

type Slice = DeepReadonly<ResourceSlice>
type Spec = R<Partial<ResourceSliceSpec>>

const noSpec: Spec = {}
const noPool: R<Partial<ResourcePool>> = {}

function* validateSpec(spec: Spec, errors: ContextErrorList, old: Spec | undefined): Work {
  const at = errors.child('spec')
  const { devices, sharedCounters } = spec
  validateDriverName(spec.driver ?? '', at.child('driver'))
  validatePool(spec.pool ?? noPool, at.child('pool'))
  if (old !== undefined) validateImmutableMembers(spec, old, at)
  yield* validateSliceNodes(spec, at, errors.context.requestVersion?.version !== 'v1beta2')
  const rules = {
    shared: new Map((sharedCounters ?? []).map(({ name = '', counters }) => [name, counters ?? {}])),
    perDeviceNodes: spec.perDeviceNodeSelection === true,
    stored: new Map((old?.devices ?? []).map((device) => [device.name ?? '', device])),
  }
  const isLater = errors.context.features.release.atLeast('1.35')
  if (isLater && isSet(sharedCounters) && isSet(devices)) at.invalid('', 'only one of `sharedCounters` or `devices` is allowed')
  yield* validateSet(devices, at.child('devices'), {
    max: isLater && devices?.some(isAdvanced) === true ? maxAdvancedDevices : maxDevices,
    each: (device, here) => validateDevice(device, here, rules),
    key: ({ name = '' }) => name,
    member: 'name',
  })
  const countersAt = at.child('sharedCounters')
  const counterSets = { each: validateCounterSet, key: ({ name = '' }: R<CounterSet>) => name, member: 'name' }
  if (isLater) {
    yield* validateSet(sharedCounters, countersAt, { ...counterSets, max: maxCounterSets })
    return
  }
  let consumed = 0
  for (const device of devices ?? []) consumed += yield* countersOf(partsOf(device).consumesCounters)
  if (consumed > maxConsumedCounters) {
    at.child('devices').invalid(consumed, `the total number of counters in devices must not exceed ${maxConsumedCounters}`)
  }
  const shared = yield* countersOf(sharedCounters)
  if (shared > maxSharedCounters) {
    countersAt.invalid(shared, `the total number of shared counters must not exceed ${maxSharedCounters}`)
  }
  yield* validateSet(sharedCounters, countersAt, counterSets)
}

/** Devices with taints or counters take more room, as do those with lists of values. */
function isAdvanced(device: R<Device>): boolean {
  const { taints, consumesCounters, attributes } = partsOf(device)
  if (!isEmpty(taints) || !isEmpty(consumesCounters)) return true
  return Object.values(attributes ?? {}).some((attribute) => listMembers.some((member) => isSet((attribute as Members)[member])))
}

type Members = Readonly<Record<string, unknown>>

const listMembers = ['bools', 'ints', 'strings', 'versions']

function validatePool({ name = '', resourceSliceCount = 0, generation = 0 }: R<Partial<ResourcePool>>, at: FieldPath): void {
  validatePoolName(name, at.child('name'))
  if (resourceSliceCount <= 0) at.child('resourceSliceCount').invalid(resourceSliceCount, 'must be greater than zero')
  if (generation < 0) at.child('generation').invalid(generation, 'must be greater than or equal to zero')
}

function validateImmutableMembers(spec: Spec, old: Spec, at: FieldPath): void {
  const frozen = 'field is immutable'
  const pool = spec.pool?.name ?? ''
  const driver = spec.driver ?? ''
  const node = spec.nodeName ?? ''
  if (pool !== (old.pool?.name ?? '')) at.child('pool').child('name').invalid(pool, frozen)
  if (driver !== (old.driver ?? '')) at.child('driver').invalid(driver, frozen)
  if (node !== (old.nodeName ?? '')) at.child('nodeName').invalid(node === '' ? null : node, frozen)
}

export const validate = /* @__PURE__ */ creationRules(function* (errors, slice: Slice) {
  yield* validateMetadata(slice, errors, { namespaced: false })
  yield* validateSpec(slice.spec ?? noSpec, errors, undefined)
})

export const validateUpdate = /* @__PURE__ */ updateRules(function* (errors, slice: Slice, old: Slice) {
  yield* validateMetadataUpdate(slice, old, errors)
  yield* validateSpec(slice.spec ?? noSpec, errors, old.spec ?? noSpec)
})
