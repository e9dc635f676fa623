import { ApiError, type DeepReadonly, type NamingProfile } from '@krmkit/meta'
import { goQuote } from '@krmkit/meta/go-text'
import { validateLabelValue, validateQualifiedNameFormat } from '@krmkit/meta/names'
import { ConfigurationReader } from '../configuration-reader.ts'
import type { AdmissionAttributes, AdmissionContext, AdmissionPlugin } from '../interfaces.ts'
import type { Pod } from '../pod.ts'
import { internalFailure } from '../refusals.ts'
import { onResource } from '../targets.ts'

type Labels = Readonly<Record<string, string>>

const clusterDefault = 'clusterDefaultNodeSelector'
const namespaces = { group: '', resource: 'namespaces' }

/**
 * Adds the node selector of the namespace, or the cluster's default, to every pod. The configuration holds the default under
 * `clusterDefaultNodeSelector`, and under the name of a namespace the labels that its pods may select.
 *
 * @see API protocol specification, 5.10
 * @example
 * ```ts
 * import { admit, ObjectSet } from '@krmkit/admission'
 * import { podNodeSelector } from '@krmkit/admission/plugins'
 * import { stockProfile } from '@krmkit/meta'
 *
 * const cluster = new ObjectSet()
 * cluster.put({ group: '', resource: 'namespaces' }, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } })
 * const pods = { kind: { group: '', version: 'v1', kind: 'Pod' }, resource: { group: '', version: 'v1', resource: 'pods' } }
 * const spec = { containers: [{ name: 'app', image: 'app:1' }] }
 * const object = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web', namespace: 'shop' }, spec }
 * const plugins = [podNodeSelector(stockProfile, { clusterDefaultNodeSelector: 'disk=ssd' })]
 * const result = await admit({ ...pods, object }, plugins, cluster)
 * result.object?.['spec'] // { containers: [{ name: 'app', image: 'app:1' }], nodeSelector: { disk: 'ssd' } }
 * ```
 */
export function podNodeSelector({ domain }: NamingProfile, selectors: Labels = {}): AdmissionPlugin {
  const annotation = `scheduler.alpha.${domain}/node-selector`
  const configured = new Map(Object.entries(selectors))
  const namespaceSelector = (attributes: AdmissionAttributes, { reader }: AdmissionContext): Labels => {
    const namespace = reader.get(namespaces, '', attributes.namespace)
    if (namespace === undefined) throw ApiError.notFound(namespaces, attributes.namespace)
    const { annotations } = namespace.metadata
    if (annotations !== undefined && Object.hasOwn(annotations, annotation)) return parseLabels(annotations[annotation] ?? '')
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
      const required = namespaceSelector(attributes, context)
      check(pod, required, attributes)
      if (Object.keys(required).length > 0) {
        pod.spec = { ...pod.spec, nodeSelector: { ...required, ...pod.spec.nodeSelector } }
        context.explain?.(`node selector of namespace ${attributes.namespace}`)
      }
      checkAllowed(pod, attributes)
    },
    validate(object, attributes, context) {
      const pod = object as DeepReadonly<Pod>
      check(pod, namespaceSelector(attributes, context), attributes)
      checkAllowed(pod, attributes)
    },
  }
}

/** Uses only `metadata.name`, as kube-apiserver does for this plugin. */
function refused({ resource }: AdmissionAttributes, pod: DeepReadonly<Pod>, detail: string): ApiError {
  return ApiError.forbidden(resource, pod.metadata.name ?? '', detail)
}

/** Parses the member `podNodeSelectorPluginConfig`. @throws AdmissionError `InvalidConfiguration` */
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

/** Parses labels such as `key=value,other=value`. @throws ApiError 500 */
function parseLabels(text: string): Labels {
  if (text.trim() === '') return {}
  const labels = new Map<string, string>()
  for (const part of text.split(',')) {
    const [key = '', value, ...more] = part.split('=')
    if (value === undefined || more.length > 0) throw internalFailure(`invalid selector: ${part}`)
    const problems = [...validateQualifiedNameFormat(key.trim()), ...validateLabelValue(value.trim())]
    if (problems[0] !== undefined) throw internalFailure(`invalid label: ${goQuote(part)}: ${problems[0]}`)
    labels.set(key.trim(), value.trim())
  }
  return Object.fromEntries(labels)
}
