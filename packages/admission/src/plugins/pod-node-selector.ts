import { ApiError, type DeepReadonly, type NamingProfile, validateLabelValue, validateQualifiedNameFormat } from '@krmkit/meta'
import { ConfigurationReader } from '../configuration-reader.ts'
import type { AdmissionAttributes, AdmissionContext, AdmissionPlugin } from '../interfaces.ts'
import type { Pod } from '../pod.ts'
import { plainFailure } from '../refusals.ts'
import { onResource } from '../targets.ts'

type Labels = Readonly<Record<string, string>>

const clusterDefault = 'clusterDefaultNodeSelector'
const namespaces = { group: '', resource: 'namespaces' }

/**
 * The nodes of a namespace's pods: its annotation, or the cluster's default, becomes part of every node selector. The configuration
 * gives the default under `clusterDefaultNodeSelector`, and under the name of a namespace all labels that its pods may select.
 *
 * @see API protocol specification, 5.10
 */
export function podNodeSelector({ domain }: NamingProfile, selectors: Labels = {}): AdmissionPlugin {
  const annotation = `scheduler.alpha.${domain}/node-selector`
  const configured = new Map(Object.entries(selectors))
  const selectorOf = (attributes: AdmissionAttributes, { reader }: AdmissionContext): Labels => {
    const namespace = reader.get(namespaces, '', attributes.namespace)
    if (namespace === undefined) throw ApiError.notFound(namespaces, attributes.namespace)
    const given = namespace.metadata.annotations
    if (given !== undefined && Object.hasOwn(given, annotation)) return parseLabels(given[annotation] ?? '')
    return parseLabels(configured.get(clusterDefault) ?? '')
  }
  const check = (pod: DeepReadonly<Pod>, required: Labels, attributes: AdmissionAttributes): void => {
    for (const [key, value] of Object.entries(pod.spec.nodeSelector ?? {})) {
      if (!Object.hasOwn(required, key) || required[key] === value) continue
      throw refused(attributes, pod, 'pod node label selector conflicts with its namespace node label selector')
    }
  }
  const checkAllowed = (pod: DeepReadonly<Pod>, attributes: AdmissionAttributes): void => {
    const allowed = parseLabels(configured.get(attributes.namespace) ?? '')
    if (Object.keys(allowed).length === 0) return
    for (const [key, value] of Object.entries(pod.spec.nodeSelector ?? {})) {
      if (Object.hasOwn(allowed, key) && allowed[key] === value) continue
      throw refused(attributes, pod, 'pod node label selector labels conflict with its namespace whitelist')
    }
  }
  return {
    name: 'PodNodeSelector',
    changes: 'members',
    handles: onResource('', 'pods', ['CREATE']),
    admit(object, attributes, context) {
      const pod = object as Pod
      const required = selectorOf(attributes, context)
      check(pod, required, attributes)
      if (Object.keys(required).length > 0) {
        pod.spec = { ...pod.spec, nodeSelector: { ...required, ...pod.spec.nodeSelector } }
        context.explain?.(`pods of namespace ${attributes.namespace} run on such nodes`)
      }
      checkAllowed(pod, attributes)
    },
    validate(object, attributes, context) {
      const pod = object as DeepReadonly<Pod>
      check(pod, selectorOf(attributes, context), attributes)
      checkAllowed(pod, attributes)
    },
  }
}

/** Names the pod by its own name alone, as the stock server does here. */
function refused({ resource }: AdmissionAttributes, pod: DeepReadonly<Pod>, detail: string): ApiError {
  return ApiError.forbidden(resource, pod.metadata.name ?? '', detail)
}

/** Reads the member `podNodeSelectorPluginConfig`. @throws AdmissionError `InvalidConfiguration` */
export function parseNodeSelectors(value: unknown): Labels {
  if (value === undefined) return {}
  const reader = new ConfigurationReader('PodNodeSelector', value).object('podNodeSelectorPluginConfig')
  const selectors = reader.names().map((name) => [name, reader.text(name) ?? ''] as const)
  for (const [name, text] of selectors) {
    try {
      parseLabels(text)
    } catch (error) {
      throw reader.error(name, error instanceof Error ? error.message : String(error))
    }
  }
  return Object.fromEntries(selectors)
}

/** Labels as `key=value,other=value`. @throws ApiError 500, as for every annotation that cannot be read */
function parseLabels(text: string): Labels {
  if (text.trim() === '') return {}
  const labels = new Map<string, string>()
  for (const part of text.split(',')) {
    const [key = '', value, ...more] = part.split('=')
    if (value === undefined || more.length > 0) throw plainFailure(`invalid selector: ${part}`)
    const problems = [...validateQualifiedNameFormat(key.trim()), ...validateLabelValue(value.trim())]
    if (problems[0] !== undefined) throw plainFailure(`invalid label: ${JSON.stringify(part)}: ${problems[0]}`)
    labels.set(key.trim(), value.trim())
  }
  return Object.fromEntries(labels)
}
