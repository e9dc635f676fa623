import { ApiError, type ApiObject, type DeepReadonly } from '@krmkit/meta'
import type { AdmissionAttributes, AdmissionContext } from '../interfaces.ts'
import type { Hook } from './hook.ts'

/**
 * Whether the selectors of a webhook pick a request that one of its rules covers.
 *
 * @throws ApiError 404 when the labels of a missing namespace are asked for, 500 for a selector that cannot be read.
 * @see API protocol specification, 2.9
 */
export function isSelected(
  hook: Pick<Hook, 'objectSelector' | 'namespaceSelector'>,
  object: DeepReadonly<ApiObject> | undefined,
  attributes: AdmissionAttributes,
  context: AdmissionContext,
): boolean {
  const { objectSelector, namespaceSelector } = hook
  if (objectSelector instanceof Error) throw ApiError.internalError(objectSelector.message)
  if (!objectSelector.empty && !hasLabels(object) && !hasLabels(attributes.oldObject)) return false
  if (namespaceSelector instanceof Error) throw ApiError.internalError(namespaceSelector.message)
  if (namespaceSelector.empty) return true
  const { subresource, operation } = attributes
  const isNamespace = isNamespaceObject(attributes)
  const namespace = namespaceOf(attributes)
  if (namespace === '' && !isNamespace) return true
  // A namespace that is being made or changed is judged by the labels that it will have.
  const own = isNamespace && subresource === '' && (operation === 'CREATE' || operation === 'UPDATE')
  return namespaceSelector.matches((own ? object?.metadata.labels : namespaceLabels(namespace, context)) ?? {})

  function hasLabels(candidate: DeepReadonly<ApiObject> | undefined): boolean {
    if (candidate?.metadata === undefined || objectSelector instanceof Error) return false
    return objectSelector.matches(candidate.metadata.labels ?? {})
  }
}

/** Whether the request is about a Namespace itself. */
function isNamespaceObject({ resource }: Pick<AdmissionAttributes, 'resource'>): boolean {
  return resource.group === '' && resource.resource === 'namespaces'
}

/** The namespace of a request: of a Namespace its own name. */
export function namespaceOf(attributes: Pick<AdmissionAttributes, 'resource' | 'namespace' | 'name'>): string {
  return isNamespaceObject(attributes) ? attributes.name : attributes.namespace
}

function namespaceLabels(name: string, { reader }: AdmissionContext): Readonly<Record<string, string>> | undefined {
  const namespaces = { group: '', resource: 'namespaces' }
  const found = reader.get(namespaces, '', name)
  if (found === undefined) throw ApiError.notFound(namespaces, name)
  return found.metadata.labels
}
