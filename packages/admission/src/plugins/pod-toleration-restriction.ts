import { ApiError, type DeepReadonly, isJsonObject, type NamingProfile } from '@krmkit/meta'
import { parseAnnotationJson } from '../annotation-json.ts'
import { ConfigurationReader } from '../configuration-reader.ts'
import type { AdmissionAttributes, AdmissionContext, AdmissionPlugin } from '../interfaces.ts'
import type { Pod, Toleration } from '../pod.ts'
import { isBestEffort } from '../pod-qos.ts'
import { internalFailure } from '../refusals.ts'
import { onResource } from '../targets.ts'
import { areTolerationsAllowed, mergeTolerations } from '../tolerations.ts'

/** Tolerations for namespaces without annotations. */
export interface ClusterTolerations {
  readonly default?: readonly Toleration[]
  readonly whitelist?: readonly Toleration[]
}

const namespaces = { group: '', resource: 'namespaces' }

/**
 * Adds the default tolerations of the namespace to pods, and refuses tolerations outside its allow list.
 *
 * @see API protocol specification, 5.10
 * @example
 * ```ts
 * import { admit, ObjectSet } from '@krmkit/admission'
 * import { podTolerationRestriction } from '@krmkit/admission/plugins'
 * import { stockProfile } from '@krmkit/meta'
 *
 * const cluster = new ObjectSet()
 * cluster.put({ group: '', resource: 'namespaces' }, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } })
 * const pods = { kind: { group: '', version: 'v1', kind: 'Pod' }, resource: { group: '', version: 'v1', resource: 'pods' } }
 * const spec = { containers: [{ name: 'app', image: 'app:1' }], tolerations: [{ key: 'gpu', operator: 'Exists' }] }
 * const object = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web', namespace: 'shop' }, spec }
 * const plugins = [podTolerationRestriction(stockProfile, { whitelist: [{ key: 'disk', operator: 'Exists' }] })]
 * const { status } = await admit({ ...pods, object }, plugins, cluster)
 * status?.message
 * // 'pod tolerations (possibly merged with namespace default tolerations) conflict with its cluster whitelist'
 * ```
 */
export function podTolerationRestriction({ domain }: NamingProfile, cluster: ClusterTolerations = {}): AdmissionPlugin {
  const memoryPressure = { key: `node.${domain}/memory-pressure`, operator: 'Exists', effect: 'NoSchedule' }
  const annotatedTolerations = (
    what: 'defaultTolerations' | 'tolerationsWhitelist',
    { namespace }: AdmissionAttributes,
    { reader }: AdmissionContext,
  ): Toleration[] | undefined => {
    const found = reader.get(namespaces, '', namespace)
    if (found === undefined) throw ApiError.notFound(namespaces, namespace)
    const key = `scheduler.alpha.${domain}/${what}`
    const { annotations } = found.metadata
    if (annotations === undefined || !Object.hasOwn(annotations, key)) return undefined
    return parseTolerations(annotations[key] ?? '')
  }
  const checkAllowed = (pod: DeepReadonly<Pod>, attributes: AdmissionAttributes, context: AdmissionContext): void => {
    const tolerations = pod.spec.tolerations ?? []
    if (tolerations.length === 0) return
    const own = annotatedTolerations('tolerationsWhitelist', attributes, context)
    if (areTolerationsAllowed(tolerations, own ?? cluster.whitelist ?? [])) return
    const scope = own === undefined ? 'cluster' : 'namespace'
    throw internalFailure(
      `pod tolerations (possibly merged with namespace default tolerations) conflict with its ${scope} whitelist`,
    )
  }
  return {
    name: 'PodTolerationRestriction',
    changes: 'members',
    handles: onResource('', 'pods', ['CREATE', 'UPDATE']),
    admit(object, attributes, context) {
      const pod = object as Pod
      let tolerations: readonly Toleration[] = pod.spec.tolerations ?? []
      if (attributes.operation === 'CREATE') {
        const defaults = annotatedTolerations('defaultTolerations', attributes, context) ?? cluster.default ?? []
        if (defaults.length > 0) {
          context.explain?.(`default tolerations of namespace ${attributes.namespace}`)
          tolerations = tolerations.length > 0 ? mergeTolerations(tolerations, defaults) : defaults
        }
      }
      if (!isBestEffort(pod)) tolerations = mergeTolerations(tolerations, [memoryPressure])
      if (tolerations.length > 0) pod.spec = { ...pod.spec, tolerations: [...tolerations] }
      checkAllowed(pod, attributes, context)
    },
    validate: (object, attributes, context) => checkAllowed(object as DeepReadonly<Pod>, attributes, context),
  }
}

/** Parses the members `default` and `whitelist`. @throws AdmissionError `InvalidConfiguration` */
export function parseClusterTolerations(value: unknown, apiDomain: string): ClusterTolerations {
  if (value === undefined) return {}
  const reader = new ConfigurationReader('PodTolerationRestriction', value)
  reader.expectKind([`podtolerationrestriction.admission.${apiDomain}/v1alpha1`], 'Configuration')
  const list = (name: string): Toleration[] =>
    reader.objects(name).map((each) => {
      const made: Toleration = {}
      for (const member of stringMembers) {
        const text = each.text(member)
        if (text !== undefined && text !== '') made[member] = text
      }
      const seconds = each.number('tolerationSeconds')
      return seconds === undefined ? made : { ...made, tolerationSeconds: seconds }
    })
  return { default: list('default'), whitelist: list('whitelist') }
}

function parseTolerations(text: string): Toleration[] {
  if (text === '') return []
  const value = parseAnnotationJson(text)
  if (value === null) return []
  if (!Array.isArray(value)) {
    throw internalFailure(`json: cannot unmarshal ${goKind(value)} into Go value of type []v1.Toleration`)
  }
  return value.map((each) => {
    if (!isJsonObject(each)) {
      throw internalFailure(`json: cannot unmarshal ${goKind(each)} into Go value of type v1.Toleration`)
    }
    return toleration(each)
  })
}

const stringMembers = ['key', 'operator', 'value', 'effect'] as const

function toleration(given: object): Toleration {
  const { tolerationSeconds, ...rest } = given as Record<string, unknown>
  const made: Toleration = {}
  for (const member of stringMembers) {
    const value = Object.hasOwn(rest, member) ? rest[member] : undefined
    if (typeof value === 'string' && value !== '') made[member] = value
    else if (value !== undefined && value !== null && value !== '') {
      throw internalFailure(`json: cannot unmarshal ${goKind(value)} into Go struct field Toleration.${member} of type string`)
    }
  }
  if (tolerationSeconds === undefined || tolerationSeconds === null) return made
  if (typeof tolerationSeconds !== 'number' || !Number.isInteger(tolerationSeconds)) {
    throw internalFailure(
      `json: cannot unmarshal ${goKind(tolerationSeconds)} into Go struct field Toleration.tolerationSeconds of type int64`,
    )
  }
  return { ...made, tolerationSeconds }
}

function goKind(value: unknown): string {
  if (Array.isArray(value)) return 'array'
  return typeof value === 'boolean' ? 'bool' : typeof value
}
