import { type ApiObject, formatApiVersion } from '@krmkit/meta'
import { type Loose, type MakeConvert, present } from './convert.ts'

/**
 * Device requests and devices: `v1beta2` puts what a plain request asks into `exactly`, and what a device is straight into the
 * device, where older versions had them the other way round.
 */

type Change = (member: Loose) => Loose

const requestParts = ['deviceClassName', 'selectors', 'allocationMode', 'count', 'adminAccess', 'tolerations'] as const

/** Older versions mark a request with alternatives by an empty class; it has no `exactly`. */
const nestRequest: Change = ({ name, firstAvailable, ...rest }) => {
  const parts = Object.fromEntries(requestParts.filter((part) => rest[part] !== undefined).map((part) => [part, rest[part]]))
  const plain = Array.isArray(firstAvailable) && firstAvailable.length > 0 && Object.values(parts).every(isUnset)
  return present({ name, exactly: plain ? undefined : parts, firstAvailable })
}

const flattenRequest: Change = ({ name, exactly, firstAvailable }) => present({ name, ...(exactly as Loose), firstAvailable })

const flattenDevice: Change = ({ name, basic }) => present({ name, ...(basic as Loose) })

const nestDevice: Change = ({ name, ...basic }) => ({ name, basic })

/** `spec.devices.requests` of a claim. */
function inClaim(change: Change): Change {
  return (spec) => at(spec, 'devices', (devices) => each(devices, 'requests', change))
}

function conversion(change: (object: Loose) => Loose): MakeConvert {
  return (to) => {
    const apiVersion = formatApiVersion(to)
    return (object) => ({ ...change(object as Loose), apiVersion }) as ApiObject
  }
}

const claim = (change: Change) => conversion((object) => at(object, 'spec', inClaim(change)))
const template = (change: Change) => conversion((object) => at(object, 'spec', (spec) => at(spec, 'spec', inClaim(change))))
const slice = (change: Change) => conversion((object) => at(object, 'spec', (spec) => each(spec, 'devices', change)))

/** By kind: to and from the shape of `v1beta2`. */
export const resourceConversions: Readonly<Record<string, { readonly newer: MakeConvert; readonly older: MakeConvert }>> = {
  ResourceClaim: { newer: claim(nestRequest), older: claim(flattenRequest) },
  ResourceClaimTemplate: { newer: template(nestRequest), older: template(flattenRequest) },
  ResourceSlice: { newer: slice(flattenDevice), older: slice(nestDevice) },
}

/** A copy with one member changed, if it is an object. */
function at(object: Loose, name: string, change: Change): Loose {
  const member = object[name]
  return isObject(member) ? { ...object, [name]: change(member) } : object
}

/** A copy with every object of a list changed. */
function each(object: Loose, name: string, change: Change): Loose {
  const list = object[name]
  return Array.isArray(list) ? { ...object, [name]: list.map((item) => (isObject(item) ? change(item) : item)) } : object
}

function isObject(value: unknown): value is Loose {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isUnset(value: unknown): boolean {
  return value === undefined || value === '' || value === null || value === 0 || value === false
}
