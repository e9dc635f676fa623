import { ApiError, type ApiObject, type GroupResource, type NamingProfile, stockProfile } from '@krmkit/meta'
import type { AdmissionAttributes, AdmissionContext, AdmissionPlugin, AdmissionTarget } from '../interfaces.ts'
import { forbidden } from '../refusals.ts'

interface PriorityClass extends ApiObject {
  value?: number
  globalDefault?: boolean
  preemptionPolicy?: string
}

interface PodSpec {
  priority?: number
  priorityClassName?: string
  preemptionPolicy?: string
}

/** Built-in priority classes. */
const systemClasses: Readonly<Record<string, number>> = {
  'system-cluster-critical': 2_000_000_000,
  'system-node-critical': 2_000_001_000,
}

/**
 * Resolves the priority class of a pod, or the default class, to a number, and refuses a second default class.
 *
 * @see API protocol specification, 5.10
 * @example
 * ```ts
 * import { admit, ObjectSet } from '@krmkit/admission'
 * import { priority } from '@krmkit/admission/plugins'
 *
 * const cluster = new ObjectSet()
 * const high = { apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', metadata: { name: 'high' }, value: 1000 }
 * cluster.put({ group: 'scheduling.k8s.io', resource: 'priorityclasses' }, high)
 * const pods = { kind: { group: '', version: 'v1', kind: 'Pod' }, resource: { group: '', version: 'v1', resource: 'pods' } }
 * const spec = { priorityClassName: 'high', containers: [] }
 * const object = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web', namespace: 'shop' }, spec }
 * const result = await admit({ ...pods, object }, [priority()], cluster)
 * result.object?.['spec']
 * // { priorityClassName: 'high', containers: [], priority: 1000, preemptionPolicy: 'PreemptLowerPriority' }
 * ```
 */
export function priority({ apiDomain }: NamingProfile = stockProfile): AdmissionPlugin {
  const classes = { group: `scheduling.${apiDomain}`, resource: 'priorityclasses' }
  const isPod = ({ resource, subresource }: AdmissionTarget): boolean =>
    resource.group === '' && resource.resource === 'pods' && subresource === ''
  const isClass = ({ resource, subresource }: AdmissionTarget): boolean =>
    resource.group === classes.group && resource.resource === classes.resource && subresource === ''
  return {
    name: 'Priority',
    changes: 'members',
    handles: (target) =>
      target.operation === 'CREATE' || target.operation === 'UPDATE'
        ? isPod(target) || isClass(target)
        : target.operation === 'DELETE' && isClass(target),
    check({ operation, resource, name }) {
      if (operation !== 'DELETE' || !Object.hasOwn(systemClasses, name)) return
      throw ApiError.forbidden(resource, name, 'this is a system priority class and cannot be deleted')
    },
    async admit(object, attributes, context) {
      if (!isPod(attributes)) return
      const pod = object as ApiObject & { spec: PodSpec }
      if (attributes.operation === 'UPDATE') return keepPriority(pod, attributes)
      const chosen = await resolveClass(pod, attributes, { reader: context.reader, classes })
      if (pod.spec.priority !== undefined && pod.spec.priority !== chosen.value) {
        throw forbidden(
          attributes,
          pod,
          `the integer value of priority (${pod.spec.priority}) must not be provided in pod spec; priority admission controller computed ${chosen.value} from the given PriorityClass name`,
        )
      }
      if (pod.spec.preemptionPolicy !== undefined && pod.spec.preemptionPolicy !== chosen.preemptionPolicy) {
        throw forbidden(
          attributes,
          pod,
          `the string value of PreemptionPolicy (${pod.spec.preemptionPolicy}) must not be provided in pod spec; priority admission controller computed ${chosen.preemptionPolicy} from the given PriorityClass name`,
        )
      }
      context.explain?.(
        chosen.name === '' ? 'the pod names no priority class, and no class is the default' : `priority class ${chosen.name}`,
      )
      pod.spec = {
        ...pod.spec,
        ...(chosen.name === '' ? {} : { priorityClassName: chosen.name }),
        priority: chosen.value,
        preemptionPolicy: chosen.preemptionPolicy,
      }
    },
    async validate(object, attributes, { reader }) {
      if (object === undefined || !isClass(attributes)) return
      const given = object as PriorityClass
      if (given.globalDefault !== true) return
      for (const other of (await reader.list(classes)) as readonly PriorityClass[]) {
        if (other.globalDefault !== true || other.metadata.name === given.metadata.name) continue
        const detail = `PriorityClass ${other.metadata.name} is already marked as default. Only one default can exist`
        throw forbidden(attributes, object, detail)
      }
    },
  }
}

/** An update that omits the priority keeps it. */
function keepPriority(pod: ApiObject & { spec: PodSpec }, { oldObject }: AdmissionAttributes): void {
  const old = (oldObject as { spec?: PodSpec } | undefined)?.spec ?? {}
  const missing = {
    ...(pod.spec.priority === undefined && old.priority !== undefined ? { priority: old.priority } : {}),
    ...(pod.spec.preemptionPolicy === undefined && old.preemptionPolicy !== undefined
      ? { preemptionPolicy: old.preemptionPolicy }
      : {}),
  }
  if (Object.keys(missing).length > 0) pod.spec = { ...pod.spec, ...missing }
}

interface ResolvedPriority {
  readonly name: string
  readonly value: number
  readonly preemptionPolicy: string
}

const preempting = 'PreemptLowerPriority'

async function resolveClass(
  pod: ApiObject & { spec: PodSpec },
  attributes: AdmissionAttributes,
  { reader, classes }: Pick<AdmissionContext, 'reader'> & { readonly classes: GroupResource },
): Promise<ResolvedPriority> {
  const wanted = pod.spec.priorityClassName ?? ''
  if (wanted === '') {
    const defaults = ((await reader.list(classes)) as readonly PriorityClass[]).filter(
      ({ globalDefault }) => globalDefault === true,
    )
    // Concurrent writes can create several defaults; the lowest wins, as in kube-apiserver.
    const lowest = defaults.reduce<PriorityClass | undefined>(
      (best, each) => (best === undefined || (each.value ?? 0) < (best.value ?? 0) ? each : best),
      undefined,
    )
    return lowest === undefined ? { name: '', value: 0, preemptionPolicy: preempting } : priorityOf(lowest)
  }
  const found = reader.get(classes, '', wanted) as PriorityClass | undefined
  if (found !== undefined) return priorityOf(found)
  const value = Object.hasOwn(systemClasses, wanted) ? systemClasses[wanted] : undefined
  if (value === undefined) throw forbidden(attributes, pod, `no PriorityClass with name ${wanted} was found`)
  return { name: wanted, value, preemptionPolicy: preempting }
}

function priorityOf({ metadata, value = 0, preemptionPolicy = preempting }: PriorityClass): ResolvedPriority {
  return { name: metadata.name ?? '', value, preemptionPolicy }
}
