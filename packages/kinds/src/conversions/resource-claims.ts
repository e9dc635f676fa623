import { type ApiObject, formatApiVersion, isJsonObject } from '@krmkit/meta'
import { type ConvertFactory, type Loose, omitUndefined } from './convert.ts'

/**
 * Conversion of device requests and devices. `v1beta2` nests the members of a plain request in `exactly` and flattens those of
 * a device; older versions do the reverse. In `v1alpha3` capacities of a device are quantities, in later versions objects with
 * a `value`.
 */

type Change = (member: Loose) => Loose

const requestParts = [
  'deviceClassName',
  'selectors',
  'allocationMode',
  'count',
  'adminAccess',
  'tolerations',
  'capacity',
] as const

/** Older versions mark a request with alternatives by an empty device class, so an empty request gets no `exactly`. */
const nestRequest: Change = ({ name, firstAvailable, ...rest }) => {
  const parts = Object.fromEntries(requestParts.filter((part) => rest[part] !== undefined).map((part) => [part, rest[part]]))
  return omitUndefined({ name, exactly: Object.values(parts).every(isUnset) ? undefined : parts, firstAvailable })
}

const flattenRequest: Change = ({ name, exactly, firstAvailable }) =>
  omitUndefined({ name, ...(exactly as Loose), firstAvailable })

const flattenDevice: Change = ({ name, basic }) => omitUndefined({ name, ...(basic as Loose) })

const nestDevice: Change = ({ name, ...basic }) => ({ name, basic })

/** Changes `basic.capacity` of a device. */
function withCapacity(change: (amount: unknown) => unknown): Change {
  return (device) =>
    at(device, 'basic', (basic) =>
      at(basic, 'capacity', (all) => Object.fromEntries(Object.entries(all).map(([name, each]) => [name, change(each)]))),
    )
}

const namedCapacity = withCapacity((amount) => ({ value: amount }))
const plainCapacity = withCapacity((capacity) => (isJsonObject(capacity) ? capacity['value'] : capacity))

/** Changes `spec.devices.requests` of a claim. */
function inClaim(change: Change): Change {
  return (spec) => at(spec, 'devices', (devices) => each(devices, 'requests', change))
}

function conversion(change: (object: Loose) => Loose): ConvertFactory {
  return (to) => {
    const apiVersion = formatApiVersion(to)
    return (object) => ({ ...change(object as Loose), apiVersion }) as ApiObject
  }
}

const claim = (change: Change) => conversion((object) => at(object, 'spec', inClaim(change)))
const template = (change: Change) => conversion((object) => at(object, 'spec', (spec) => at(spec, 'spec', inClaim(change))))
const slice = (change: Change) => conversion((object) => at(object, 'spec', (spec) => each(spec, 'devices', change)))

const claims = { v1beta1: claim(flattenRequest), v1beta2: claim(nestRequest) }
const templates = { v1beta1: template(flattenRequest), v1beta2: template(nestRequest) }

/** The version whose shape a version has: `v1` has that of `v1beta2`. */
export function resourceShape(version: string): string {
  return version === 'v1' ? 'v1beta2' : version
}

/** By kind, then by source and target version; pairs not listed have the same shape. */
export const resourceConversions: Readonly<Record<string, Readonly<Record<string, ConvertFactory>>>> = {
  ResourceClaim: {
    'v1alpha3 v1beta2': claims.v1beta2,
    'v1beta1 v1beta2': claims.v1beta2,
    'v1beta2 v1alpha3': claims.v1beta1,
    'v1beta2 v1beta1': claims.v1beta1,
  },
  ResourceClaimTemplate: {
    'v1alpha3 v1beta2': templates.v1beta2,
    'v1beta1 v1beta2': templates.v1beta2,
    'v1beta2 v1alpha3': templates.v1beta1,
    'v1beta2 v1beta1': templates.v1beta1,
  },
  ResourceSlice: {
    'v1alpha3 v1beta1': slice(namedCapacity),
    'v1beta1 v1alpha3': slice(plainCapacity),
    'v1alpha3 v1beta2': slice((device) => flattenDevice(namedCapacity(device))),
    'v1beta1 v1beta2': slice(flattenDevice),
    'v1beta2 v1alpha3': slice((device) => plainCapacity(nestDevice(device))),
    'v1beta2 v1beta1': slice(nestDevice),
  },
}

/** A copy with one member changed, if it is an object. */
function at(object: Loose, name: string, change: Change): Loose {
  const member = object[name]
  return isJsonObject(member) ? { ...object, [name]: change(member) } : object
}

/** A copy with every object of a list changed. */
function each(object: Loose, name: string, change: Change): Loose {
  const list = object[name]
  return Array.isArray(list) ? { ...object, [name]: list.map((item) => (isJsonObject(item) ? change(item) : item)) } : object
}

function isUnset(value: unknown): boolean {
  return value === undefined || value === '' || value === null || value === 0
}
