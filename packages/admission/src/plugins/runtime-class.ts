import { type ApiObject, type DeepReadonly, type NamingProfile, Quantity } from '@krmkit/meta'
import { goQuote } from '@krmkit/meta/go-text'
import type { AdmissionAttributes, AdmissionContext, AdmissionPlugin } from '../interfaces.ts'
import type { Pod, PodSpec, ResourceAmounts, Toleration } from '../pod.ts'
import { forbidden } from '../refusals.ts'
import { onResource } from '../targets.ts'
import { mergeTolerations } from '../tolerations.ts'

interface RuntimeClass extends ApiObject {
  overhead?: { podFixed?: ResourceAmounts }
  scheduling?: { nodeSelector?: Record<string, string>; tolerations?: Toleration[] }
}

/**
 * Sets the overhead, node selector and tolerations of a pod from its runtime class. A pod may set the same overhead, but no other.
 *
 * @see API protocol specification, 5.10
 * @example
 * ```ts
 * import { admit, ObjectSet } from '@krmkit/admission'
 * import { runtimeClass } from '@krmkit/admission/plugins'
 * import { stockProfile } from '@krmkit/meta'
 *
 * const pods = { kind: { group: '', version: 'v1', kind: 'Pod' }, resource: { group: '', version: 'v1', resource: 'pods' } }
 * const spec = { runtimeClassName: 'gvisor', containers: [{ name: 'app', image: 'app:1' }] }
 * const object = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web', namespace: 'shop' }, spec }
 * const { status } = await admit({ ...pods, object }, [runtimeClass(stockProfile)], new ObjectSet())
 * status?.message // 'pods "web" is forbidden: pod rejected: RuntimeClass "gvisor" not found'
 * ```
 */
export function runtimeClass({ apiDomain }: NamingProfile): AdmissionPlugin {
  const classes = { group: `node.${apiDomain}`, resource: 'runtimeclasses' }
  const classOf = (
    pod: DeepReadonly<Pod>,
    attributes: AdmissionAttributes,
    { reader }: AdmissionContext,
  ): DeepReadonly<RuntimeClass> | undefined => {
    const name = pod.spec.runtimeClassName
    if (name === undefined) return undefined
    const found = reader.get(classes, '', name)
    if (found === undefined) throw forbidden(attributes, pod, `pod rejected: RuntimeClass ${goQuote(name)} not found`)
    return found as DeepReadonly<RuntimeClass>
  }
  return {
    name: 'RuntimeClass',
    changes: 'members',
    handles: onResource('', 'pods', ['CREATE']),
    admit(object, attributes, context) {
      const pod = object as Pod
      const chosen = classOf(pod, attributes, context)
      if (chosen === undefined) return
      const refuse = (detail: string) => forbidden(attributes, pod, detail)
      const next = { ...pod.spec }
      const { podFixed } = chosen.overhead ?? {}
      if (podFixed !== undefined) {
        if (pod.spec.overhead !== undefined && !sameAmounts(podFixed, pod.spec.overhead)) throw refuse(differs)
        next.overhead = { ...podFixed }
        context.explain?.(`overhead of runtime class ${chosen.metadata.name}`)
      }
      if (chosen.scheduling !== undefined) addScheduling(next, chosen.scheduling, refuse)
      pod.spec = next
    },
    validate(object, attributes, context) {
      const pod = object as DeepReadonly<Pod>
      const podFixed = classOf(pod, attributes, context)?.overhead?.podFixed
      if (podFixed !== undefined) {
        if (!sameAmounts(podFixed, pod.spec.overhead)) throw forbidden(attributes, pod, differs)
      } else if (pod.spec.overhead !== undefined) {
        throw forbidden(attributes, pod, 'pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead')
      }
    },
  }
}

const differs = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead"

function addScheduling(
  spec: PodSpec,
  { nodeSelector, tolerations = [] }: NonNullable<DeepReadonly<RuntimeClass>['scheduling']>,
  refuse: (detail: string) => Error,
): void {
  for (const key of Object.keys(nodeSelector ?? {}).sort()) {
    const required = nodeSelector?.[key]
    const given = spec.nodeSelector !== undefined && Object.hasOwn(spec.nodeSelector, key) ? spec.nodeSelector[key] : undefined
    if (given === undefined || given === required) continue
    throw refuse(`conflict: runtimeClass.scheduling.nodeSelector[${key}] = ${required}; pod.spec.nodeSelector[${key}] = ${given}`)
  }
  if (nodeSelector !== undefined) spec.nodeSelector = { ...spec.nodeSelector, ...nodeSelector }
  const merged = mergeTolerations(spec.tolerations ?? [], tolerations)
  if (merged.length > 0) spec.tolerations = merged
}

function sameAmounts(a: DeepReadonly<ResourceAmounts>, b: DeepReadonly<ResourceAmounts> | undefined): boolean {
  const names = Object.keys(a)
  return (
    names.length === Object.keys(b ?? {}).length &&
    names.every(
      (name) => b !== undefined && Object.hasOwn(b, name) && Quantity.parse(a[name] ?? '').equals(Quantity.parse(b[name] ?? '')),
    )
  )
}
