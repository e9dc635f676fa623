/** A device of a resource slice. */

import type { Work } from '@krmkit/base/work'
import { utf8Length } from '@krmkit/meta/go-text'
import type {
  BasicDevice,
  Counter,
  CounterSet,
  Device,
  DeviceAttribute,
  DeviceCounterConsumption,
} from '../../../types/resource-v1beta1.generated.ts'
import { semanticEqual } from '../../shared/equality.ts'
import type { FieldPath } from '../../shared/field-path.ts'
import { namesOf } from '../../shared/map-members.ts'
import { validateDnsLabel } from '../../shared/names.ts'
import { validateNodeSelector } from '../../shared/node-selector.ts'
import { isEmpty, isEmptyMap, isSet, type R } from '../../shared/values.ts'
import { type Bindings, validateBindings } from '../bindings.ts'
import { goAttribute } from '../go-form.ts'
import { validateList, validateMembers, validateSet } from '../lists.ts'
import { longestQualifiedName, validateQualifiedName } from '../names.ts'
import { validateTaint } from '../taints.ts'
import { validateNodeName } from './nodes.ts'

const maxTaints = 4
const maxLaterTaints = 16
const maxConsumptions = 2
const maxNamedValues = 32
const maxCounters = 32
const longestCounterName = 63
const longestValue = 64

const number = String.raw`(0|[1-9]\d*)`
const preRelease = String.raw`(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)`
const build = '[0-9a-zA-Z-]+'
const version = new RegExp(
  String.raw`^${number}\.${number}\.${number}(-${preRelease}(\.${preRelease})*)?(\+${build}(\.${build})*)?$`,
)

type Map<V> = Readonly<Record<string, V>>

/** Parts of a device; older versions keep them in `basic`, which all their devices have. */
export function partsOf(device: R<Device>): R<BasicDevice> {
  return device.basic ?? (device as R<BasicDevice>)
}

export interface DeviceRules {
  /** Counters that the devices of the slice share, by set. */
  readonly shared: ReadonlyMap<string, Map<unknown>>
  /** Each device names its nodes. */
  readonly perDeviceNodes: boolean
  /** The stored devices by name. */
  readonly stored: ReadonlyMap<string, R<Device>>
}

export function* validateDevice(device: R<Device>, at: FieldPath, rules: DeviceRules): Work {
  const parts = partsOf(device)
  const { attributes, capacity, taints, consumesCounters } = parts
  validateDnsLabel(device.name ?? '', at.child('name'))
  const count = (yield* countOf(attributes)) + (yield* countOf(capacity))
  if (count > maxNamedValues) at.invalid(count, `the total number of attributes and capacities must not exceed ${maxNamedValues}`)
  const named = { longestKey: longestQualifiedName, key: validateQualifiedName }
  yield* validateMembers(attributes, at.child('attributes'), { ...named, value: validateAttribute })
  yield* validateMembers(capacity, at.child('capacity'), named)
  const isLater = at.errors.context.features.release.atLeast('1.35')
  const before = rules.stored.get(device.name ?? '')
  // Since 1.35 taints that are stored are not validated again.
  if (!isLater || before === undefined || !(yield* semanticEqual(taints, partsOf(before).taints)))
    yield* validateList(taints, at.child('taints'), { max: isLater ? maxLaterTaints : maxTaints, each: validateTaint })
  yield* validateSet(consumesCounters, at.child('consumesCounters'), {
    ...(isLater ? { max: maxConsumptions } : {}),
    each: validateConsumption,
    key: ({ counterSet = '' }) => counterSet,
    member: 'counterSet',
  })
  if (!isLater) yield* validateSharedUse(consumesCounters ?? [], at, rules)
  if (rules.perDeviceNodes) yield* validateNodes(parts, at)
  else if (isSet(parts.nodeName) || isSet(parts.nodeSelector) || isSet(parts.allNodes)) {
    const members = '`nodeName`, `nodeSelector` and `allNodes`'
    at.invalid(null, `${members} can only be set if \`perDeviceNodeSelection\` is set to true in the ResourceSlice spec`)
  }
  yield* validateBindings(parts as Bindings, at)
}

/** Before 1.35 the counters of a device are those that its slice shares. */
function* validateSharedUse(consumptions: readonly R<DeviceCounterConsumption>[], at: FieldPath, rules: DeviceRules): Work {
  const consumed = yield* countersOf(consumptions)
  if (consumed > maxCounters) at.invalid(consumed, `the total number of counters must not exceed ${maxCounters}`)
  for (const [i, consumption] of consumptions.entries())
    yield* validateReferences(consumption, at.child('consumesCounters').index(i), rules.shared)
}

function* countOf(map: Map<unknown> | null | undefined): Work<number> {
  return isSet(map) ? (yield* namesOf(map)).length : 0
}

/** Number of counters in all sets. */
export function* countersOf(sets: readonly R<{ counters?: Map<Counter> }>[] | null | undefined): Work<number> {
  let count = 0
  for (const { counters } of sets ?? []) count += yield* countOf(counters)
  return count
}

function validateAttribute(attribute: R<DeviceAttribute>, at: FieldPath): void {
  const { int, bool, string, version: release } = attribute
  const { bools, ints, strings, versions } = attribute as Readonly<Record<string, unknown>>
  const count = [int, bool, string, release, bools, ints, strings, versions].filter(isSet).length
  if (isSet(string)) validateLength(string, at.child('string'))
  if (isSet(release)) {
    const here = at.child('version')
    if (!version.test(release)) here.invalid(release, 'must be a string compatible with semver.org spec 2.0.0')
    validateLength(release, here)
  }
  const isLater = at.errors.context.features.release.atLeast('1.35')
  if (count === 0 && isLater) at.invalid('', 'exactly one value must be specified')
  else if (count === 0) at.required('exactly one value must be specified')
  else if (count > 1) at.invalid(goAttribute(attribute), 'exactly one value must be specified')
}

function validateLength(value: string, at: FieldPath): void {
  if (utf8Length(value) > longestValue) at.tooLong('', longestValue)
}

function validateConsumption({ counterSet, counters }: R<DeviceCounterConsumption>, at: FieldPath): Work {
  if (isEmpty(counterSet)) at.child('counterSet').required()
  else if (at.errors.context.features.release.atLeast('1.35')) validateDnsLabel(counterSet, at.child('counterSet'))
  return validateCounters(counters, at.child('counters'))
}

/** A set of counters that the devices of a slice share. */
export function validateCounterSet({ name, counters }: R<CounterSet>, at: FieldPath): Work {
  if (isEmpty(name)) at.child('name').required()
  else validateDnsLabel(name, at.child('name'))
  return validateCounters(counters, at.child('counters'))
}

function* validateCounters(counters: R<Record<string, Counter>> | null | undefined, at: FieldPath): Work {
  if (isEmptyMap(counters)) at.required()
  else {
    const max = at.errors.context.features.release.atLeast('1.35') ? { max: maxCounters } : {}
    yield* validateMembers(counters, at, { ...max, longestKey: longestCounterName, key: validateDnsLabel })
  }
}

function* validateReferences(
  { counterSet = '', counters }: R<DeviceCounterConsumption>,
  at: FieldPath,
  shared: DeviceRules['shared'],
): Work {
  const known = shared.get(counterSet)
  if (known === undefined) {
    at.child('counterSet').invalid(counterSet, 'must reference a counterSet defined in the ResourceSlice sharedCounters')
    return
  }
  for (const name of isSet(counters) ? [...(yield* namesOf(counters))].sort() : []) {
    if (!Object.hasOwn(known, name)) {
      at.child('counters').invalid(name, 'must reference a counter defined in the ResourceSlice sharedCounters')
    }
  }
}

const oneOf =
  'exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to true in the ResourceSlice spec'

function* validateNodes({ nodeName, nodeSelector, allNodes }: R<BasicDevice>, at: FieldPath): Work {
  const given: string[] = []
  if (nodeName === '') at.child('nodeName').invalid(nodeName, 'must not be empty')
  else if (isSet(nodeName)) {
    given.push('`nodeName`')
    validateNodeName(nodeName, at.child('nodeName'))
  }
  if (isSet(nodeSelector)) {
    given.push('`nodeSelector`')
    yield* validateNodeSelector(nodeSelector, at.child('nodeSelector'))
  }
  if (allNodes === true) given.push('`allNodes`')
  else if (allNodes === false) at.child('allNodes').invalid(false, 'must be either unset or set to true')
  if (given.length === 0) at.required(oneOf)
  else if (given.length > 1) at.invalid(`{${given.join(', ')}}`, oneOf)
}
