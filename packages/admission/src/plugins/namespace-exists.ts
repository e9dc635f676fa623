import { ApiError } from '@krmkit/meta'
import type { AdmissionPlugin } from '../interfaces.ts'
import { isNamespaceKind, onOperations } from '../targets.ts'

const namespaces = { group: '', resource: 'namespaces' }

/**
 * Refuses writes to namespaces that do not exist.
 *
 * @see API protocol specification, 5.10
 * @example
 * ```ts
 * import { admit, ObjectSet } from '@krmkit/admission'
 * import { namespaceExists } from '@krmkit/admission/plugins'
 *
 * const pods = { kind: { group: '', version: 'v1', kind: 'Pod' }, resource: { group: '', version: 'v1', resource: 'pods' } }
 * const object = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web', namespace: 'shop' } }
 * const { status } = await admit({ ...pods, object }, [namespaceExists()], new ObjectSet())
 * status?.message // 'namespaces "shop" not found'
 * ```
 */
export function namespaceExists(): AdmissionPlugin {
  const writes = onOperations('CREATE', 'UPDATE', 'DELETE')
  return {
    name: 'NamespaceExists',
    handles: (target) => writes(target) && !isNamespaceKind(target),
    validate(_object, { namespace }, { reader }) {
      if (namespace !== '' && reader.get(namespaces, '', namespace) === undefined) throw ApiError.notFound(namespaces, namespace)
    },
  }
}
