import { ApiError, type ApiObject, type DeepReadonly } from '@krmkit/meta'
import type { AdmissionAttributes, AdmissionContext } from '../interfaces.ts'

/** The namespace object of a request; a Namespace itself has none. @throws ApiError 404 */
export function namespaceOf(
  { namespace, kind }: AdmissionAttributes,
  { reader }: AdmissionContext,
): DeepReadonly<ApiObject> | undefined {
  if (namespace === '' || (kind.kind === 'Namespace' && kind.group === '')) return undefined
  const namespaces = { group: '', resource: 'namespaces' }
  const found = reader.get(namespaces, '', namespace)
  if (found === undefined) throw ApiError.notFound(namespaces, namespace)
  return found
}
