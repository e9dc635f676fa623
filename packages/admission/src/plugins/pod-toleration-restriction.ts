import { ApiError, type DeepReadonly, type NamingProfile } from '@krmkit/meta'
import { parseAnnotation } from '../annotation-json.ts'
import { ConfigurationReader } from '../configuration-reader.ts'
import type { AdmissionAttributes, AdmissionContext, AdmissionPlugin } from '../interfaces.ts'
import { areAllowed, mergeTolerations } from '../merge-tolerations.ts'
import type { Pod, Toleration } from '../pod.ts'
import { isBestEffort } from '../pod-quality.ts'
import { plainFailure } from '../refusals.ts'
import { onResource } from '../targets.ts'

/** What holds in namespaces that say nothing themselves. */
export interface ClusterTolerations {
  readonly default?: readonly Toleration[]
  readonly whitelist?: readonly Toleration[]
}

const namespaces = { group: '', resource: 'namespaces' }

/**
 * Pods get the default tolerations of their namespace, and may tolerate nothing that is not on its list.
 *
 * @see API protocol specification, 5.10
 */
export function podTolerationRestriction({ domain }: NamingProfile, cluster: ClusterTolerations = {}): AdmissionPlugin {
  const memoryPressure = { key: `node.${domain}/memory-pressure`, operator: 'Exists', effect: 'NoSchedule' }
  const annotated = (
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
  const judge = (pod: DeepReadonly<Pod>, attributes: AdmissionAttributes, context: AdmissionContext): void => {
    const tolerations = pod.spec.tolerations ?? []
    if (tolerations.length === 0) return
    const own = annotated('tolerationsWhitelist', attributes, context)
    if (areAllowed(tolerations, own ?? cluster.whitelist ?? [])) return
    const scope = own === undefined ? 'cluster' : 'namespace'
    throw plainFailure(
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
        const defaults = annotated('defaultTolerations', attributes, context) ?? cluster.default ?? []
        if (defaults.length > 0) {
          context.explain?.(`default tolerations of namespace ${attributes.namespace}`)
          tolerations = tolerations.length > 0 ? mergeTolerations(tolerations, defaults) : defaults
        }
      }
      if (!isBestEffort(pod)) tolerations = mergeTolerations(tolerations, [memoryPressure])
      if (tolerations.length > 0) pod.spec = { ...pod.spec, tolerations: [...tolerations] }
      judge(pod, attributes, context)
    },
    validate: (object, attributes, context) => judge(object as DeepReadonly<Pod>, attributes, context),
  }
}

/** Reads the members `default` and `whitelist`. @throws AdmissionError `InvalidConfiguration` */
export function parseClusterTolerations(value: unknown, apiDomain: string): ClusterTolerations {
  if (value === undefined) return {}
  const reader = new ConfigurationReader('PodTolerationRestriction', value)
  reader.expectKind([`podtolerationrestriction.admission.${apiDomain}/v1alpha1`], 'Configuration')
  const list = (name: string): Toleration[] =>
    reader.objects(name).map((each) => {
      const made: Toleration = {}
      for (const word of words) {
        const text = each.text(word)
        if (text !== undefined && text !== '') made[word] = text
      }
      const seconds = each.number('tolerationSeconds')
      return seconds === undefined ? made : { ...made, tolerationSeconds: seconds }
    })
  return { default: list('default'), whitelist: list('whitelist') }
}

function parseTolerations(text: string): Toleration[] {
  if (text === '') return []
  const value = parseAnnotation(text)
  if (value === null) return []
  if (!Array.isArray(value)) {
    throw plainFailure(`json: cannot unmarshal ${goKind(value)} into Go value of type []v1.Toleration`)
  }
  return value.map((each) => {
    if (typeof each !== 'object' || each === null || Array.isArray(each)) {
      throw plainFailure(`json: cannot unmarshal ${goKind(each)} into Go value of type v1.Toleration`)
    }
    return toleration(each)
  })
}

const words = ['key', 'operator', 'value', 'effect'] as const

function toleration(given: object): Toleration {
  const { tolerationSeconds, ...rest } = given as Record<string, unknown>
  const made: Toleration = {}
  for (const word of words) {
    const value = Object.hasOwn(rest, word) ? rest[word] : undefined
    if (typeof value === 'string' && value !== '') made[word] = value
    else if (value !== undefined && value !== null && value !== '') {
      throw plainFailure(`json: cannot unmarshal ${goKind(value)} into Go struct field Toleration.${word} of type string`)
    }
  }
  if (tolerationSeconds === undefined || tolerationSeconds === null) return made
  if (typeof tolerationSeconds !== 'number' || !Number.isInteger(tolerationSeconds)) {
    throw plainFailure(
      `json: cannot unmarshal ${goKind(tolerationSeconds)} into Go struct field Toleration.tolerationSeconds of type int64`,
    )
  }
  return { ...made, tolerationSeconds }
}

function goKind(value: unknown): string {
  if (Array.isArray(value)) return 'array'
  return typeof value === 'boolean' ? 'bool' : typeof value
}
