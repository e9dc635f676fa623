import {
  type ApiObject,
  type DeepReadonly,
  formatApiVersion,
  type GroupVersionKind,
  type NamingProfile,
  stockProfile,
} from '@krmkit/meta'
import { conversionBetween } from '../conversions/index.ts'
import { stockGroup } from '../groups.ts'
import { admissionregistration } from './admissionregistration.ts'
import { apiextensions } from './apiextensions.ts'
import { apps } from './apps.ts'
import { authorization } from './authorization.ts'
import { autoscaling } from './autoscaling.ts'
import { certificates } from './certificates.ts'
import { coordination } from './coordination.ts'
import { discovery } from './discovery.ts'
import { flowcontrol } from './flowcontrol.ts'
import type { FormerKind } from './interfaces.ts'
import { networking } from './networking.ts'
import { node } from './node.ts'
import { policy } from './policy.ts'
import { rbac } from './rbac.ts'
import { sameShapeKinds } from './same-shape.ts'
import { applyTable, type Loose, type OnLoss, type Step } from './shape.ts'

export type { FormerKind } from './interfaces.ts'
export type { Loose, OnLoss, Rewrite, Step, StepContext } from './shape.ts'

/** Kinds with versions that current releases do not serve any more. A separate entry point, so that only those who need it load it. */
export const formerKinds: readonly FormerKind[] = [
  ...admissionregistration,
  ...apiextensions,
  ...apps,
  ...authorization,
  ...autoscaling,
  ...certificates,
  ...coordination,
  ...discovery,
  ...flowcontrol,
  ...networking,
  ...node,
  ...policy,
  ...rbac,
  ...sameShapeKinds,
]

/**
 * Converts an object; never changes its argument, and shares unchanged members with it. Members keep their order; `normalize` of
 * `@krmkit/schema` restores the order of the type.
 *
 * @param onLoss called for each member that the target version cannot express; without it the loss is silent.
 */
export type FormerConvert = (object: DeepReadonly<ApiObject>, onLoss?: OnLoss) => ApiObject

export interface FormerConversionOptions {
  /** Default: the stock names. */
  readonly profile?: NamingProfile
  /**
   * Writes out defaults that differ between the versions, so that an object without them keeps its meaning. Default: true. Servers
   * convert objects that have the defaults of their version.
   */
  readonly defaults?: boolean
}

/**
 * Returns the conversion between two versions of a kind of which at least one is a former version, by way of the hub.
 *
 * @returns undefined when no conversion between the two is known.
 * @example
 * import { formerConversion } from '@krmkit/kinds/former-versions'
 * const former = { group: 'extensions', version: 'v1beta1', kind: 'Ingress' }
 * const current = { group: 'networking.k8s.io', version: 'v1', kind: 'Ingress' }
 * const spec = { backend: { serviceName: 'web', servicePort: 80 } }
 * const ingress = { apiVersion: 'extensions/v1beta1', kind: 'Ingress', metadata: { name: 'web' }, spec }
 * formerConversion(former, current)?.(ingress)
 * // { apiVersion: 'networking.k8s.io/v1', kind: 'Ingress', metadata: { name: 'web' },
 * //   spec: { defaultBackend: { service: { name: 'web', port: { number: 80 } } } } }
 * @see API protocol specification, 9.3 (rule 2) and 9.4
 */
export function formerConversion(
  from: GroupVersionKind,
  to: GroupVersionKind,
  { profile = stockProfile, defaults = true }: FormerConversionOptions = {},
): FormerConvert | undefined {
  const [source, target] = [placeOf(from, profile), placeOf(to, profile)]
  if (source === undefined && target === undefined) return undefined
  const kind = (source ?? target)?.kind as FormerKind
  if (source !== undefined && target !== undefined && source.kind !== target.kind) return undefined
  const hub = { group: kind.group, version: kind.hub, kind: kind.kind }
  const apiVersion = formatApiVersion(to)
  // A version with another shape that is still served: `autoscaling/v1`, the core `Event`.
  const before = source === undefined ? servedConversion(from, hub, profile) : undefined
  const after = target === undefined ? servedConversion(hub, to, profile) : undefined
  if ((source === undefined && before === undefined) || (target === undefined && after === undefined)) return undefined
  const [there, back] = [source, target].map((place) =>
    place?.steps.filter(({ isDefaulting }) => defaults || isDefaulting !== true),
  )
  return (object, onLoss = () => {}) => {
    const given = (before === undefined ? object : before(object)) as Loose
    const inHub = there === undefined ? given : applyTable(there, given, { direction: 'toHub', onLoss, profile })
    const result = back === undefined ? inHub : applyTable(back, inHub, { direction: 'fromHub', onLoss, profile })
    const converted = after === undefined ? result : after(result as unknown as ApiObject)
    return { ...converted, apiVersion } as ApiObject
  }
}

interface Place {
  readonly kind: FormerKind
  readonly steps: readonly Step[]
}

/** Where a version is in the table; the hub has no steps. */
function placeOf({ group, version, kind }: GroupVersionKind, profile: NamingProfile): Place | undefined {
  const stock = stockGroup(group, profile)
  for (const each of formerKinds) {
    if (each.kind !== kind) continue
    const inGroup = each.group === stock
    if (inGroup && each.hub === version) return { kind: each, steps: [] }
    const name = inGroup ? version : `${stock}/${version}`
    if (Object.hasOwn(each.versions, name)) return { kind: each, steps: each.versions[name] as readonly Step[] }
  }
  return undefined
}

/** The conversion between two versions that are both served today and differ in shape. */
function servedConversion(from: GroupVersionKind, to: GroupVersionKind, profile: NamingProfile) {
  const [source, target] = [stockGroup(from.group, profile), stockGroup(to.group, profile)]
  const isEvent = from.kind === 'Event' && [source, target].includes('') && [source, target].includes('events.k8s.io')
  const isAutoscaler = from.kind === 'HorizontalPodAutoscaler' && source === 'autoscaling' && target === 'autoscaling'
  if (!isEvent && !isAutoscaler) return undefined
  if (isAutoscaler && ![from.version, to.version].includes('v1')) return undefined
  return conversionBetween(from, to, profile)
}
