import { ApiError } from '@krmkit/meta'
import type { AdmissionPlugin } from '../interfaces.ts'
import { isNamespaceKind, onOperations } from '../targets.ts'

const namespaces = { group: '', resource: 'namespaces' }

/**
 * Refuses writes to namespaces that do not exist.
 *
 * @see API protocol specification, 5.10
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
