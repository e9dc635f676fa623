import { ApiError, type ApiObject, type DeepReadonly, type NamingProfile } from '@krmkit/meta'
import { aggregateMessages } from '@krmkit/meta/go-text'
import type { AdmissionAttributes, AdmissionContext, AdmissionPlugin, AdmissionTarget } from '../interfaces.ts'
import { type LimitItem, limitRangeViolations } from '../limit-range-constraints.ts'
import { type Container, type Pod, type ResourceAmounts, withContainers } from '../pod.ts'
import { forbidden } from '../refusals.ts'

interface LimitRange extends ApiObject {
  spec?: { limits?: LimitItem[] }
}

/** Maximum number of defaults that limit ranges may add to one pod. A larger pod could not be stored. */
const maxAddedDefaults = 100_000

const limitRanges = { group: '', resource: 'limitranges' }

/**
 * Sets default requests and limits from the limit ranges of the namespace, and enforces their constraints on pods and claims.
 *
 * @see API protocol specification, 5.10
 * @example
 * ```ts
 * import { admit, ObjectSet } from '@krmkit/admission'
 * import { limitRanger } from '@krmkit/admission/plugins'
 * import { stockProfile } from '@krmkit/meta'
 *
 * const cluster = new ObjectSet()
 * const metadata = { name: 'cpu', namespace: 'shop' }
 * const range = { apiVersion: 'v1', kind: 'LimitRange', metadata, spec: { limits: [{ type: 'Container', max: { cpu: '2' } }] } }
 * cluster.put({ group: '', resource: 'limitranges' }, range)
 * const pods = { kind: { group: '', version: 'v1', kind: 'Pod' }, resource: { group: '', version: 'v1', resource: 'pods' } }
 * const spec = { containers: [{ name: 'app', image: 'app:1', resources: { limits: { cpu: '4' } } }] }
 * const object = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web', namespace: 'shop' }, spec }
 * const { status } = await admit({ ...pods, object }, [limitRanger(stockProfile)], cluster)
 * status?.message // 'pods "web" is forbidden: maximum cpu usage per Container is 2, but limit is 4'
 * ```
 */
export function limitRanger({ domain }: NamingProfile): AdmissionPlugin {
  const annotation = `${domain}/limit-ranger`
  return {
    name: 'LimitRanger',
    changes: 'members',
    handles,
    async admit(object, attributes, context) {
      if (attributes.resource.resource !== 'pods') return
      for (const range of await rangesFor(attributes, context)) {
        setDefaults(object as Pod, range, { annotation, explain: context.explain })
      }
    },
    async validate(object, attributes, context) {
      for (const { spec } of await rangesFor(attributes, context)) {
        const violations = limitRangeViolations(
          spec?.limits ?? [],
          object as DeepReadonly<ApiObject>,
          attributes.resource.resource,
        )
        if (violations.length > 0) throw forbidden(attributes, object, aggregateMessages(violations))
      }
    },
  }
}

/** Pod resources are immutable except by a resize; claims can be updated. */
function handles({ operation, resource, subresource }: AdmissionTarget): boolean {
  if (resource.group !== '') return false
  if (resource.resource === 'persistentvolumeclaims')
    return subresource === '' && (operation === 'CREATE' || operation === 'UPDATE')
  if (resource.resource !== 'pods') return false
  return subresource === '' ? operation === 'CREATE' : subresource === 'resize' && operation === 'UPDATE'
}

function rangesFor(
  { namespace, oldObject }: AdmissionAttributes,
  { reader }: AdmissionContext,
): Promise<readonly DeepReadonly<LimitRange>[]> | readonly DeepReadonly<LimitRange>[] {
  // Objects being deleted are exempt.
  if (oldObject?.metadata.deletionTimestamp !== undefined) return []
  return reader.list(limitRanges, namespace) as Promise<readonly DeepReadonly<LimitRange>[]>
}

function setDefaults(
  pod: Pod,
  { spec, metadata }: DeepReadonly<LimitRange>,
  { annotation, explain }: { readonly annotation: string; readonly explain: AdmissionContext['explain'] | undefined },
): void {
  const ofContainers = (spec?.limits ?? []).filter(({ type }) => type === 'Container')
  const limits = merged(ofContainers.map((item) => item.default))
  const requests = merged(ofContainers.map((item) => item.defaultRequest))
  if (limits.length === 0 && requests.length === 0) return
  const applied: string[] = []
  let remaining = maxAddedDefaults
  const change =
    (title: string) =>
    (container: Container): Container => {
      const before = container.resources ?? {}
      const [setRequests, setLimits] = [missing(requests, before.requests), missing(limits, before.limits)]
      remaining -= setRequests.length + setLimits.length
      if (remaining < 0) throw ApiError.requestEntityTooLarge(`defaults of limit range ${metadata.name} make the pod too large`)
      if (setRequests.length > 0) applied.push(`${names(setRequests)} request for ${title} ${container.name}`)
      if (setLimits.length > 0) applied.push(`${names(setLimits)} limit for ${title} ${container.name}`)
      if (setRequests.length + setLimits.length === 0) return container
      return {
        ...container,
        resources: {
          ...before,
          ...(setRequests.length === 0 ? {} : { requests: { ...before.requests, ...Object.fromEntries(setRequests) } }),
          ...(setLimits.length === 0 ? {} : { limits: { ...before.limits, ...Object.fromEntries(setLimits) } }),
        },
      }
    }
  pod.spec = withContainers(pod.spec, change('container'), ['containers'])
  pod.spec = withContainers(pod.spec, change('init container'), ['initContainers'])
  if (applied.length === 0) return
  explain?.(`limit range ${metadata.name} has defaults`)
  pod.metadata.annotations = { ...pod.metadata.annotations, [annotation]: `LimitRanger plugin set: ${applied.join('; ')}` }
}

type Entries = readonly (readonly [string, string])[]

function merged(lists: readonly (DeepReadonly<ResourceAmounts> | undefined)[]): Entries {
  const all = new Map<string, string>()
  for (const list of lists) for (const [name, amount] of Object.entries(list ?? {})) all.set(name, amount)
  return [...all]
}

function missing(defaults: Entries, present: DeepReadonly<ResourceAmounts> | undefined): Entries {
  return defaults.filter(([name]) => present === undefined || !Object.hasOwn(present, name))
}

function names(entries: Entries): string {
  return entries
    .map(([name]) => name)
    .sort()
    .join(', ')
}
