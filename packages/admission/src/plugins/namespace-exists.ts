import { ApiError } from '@krmkit/meta'
import type { AdmissionPlugin } from '../interfaces.ts'
import { isNamespaceKind, onEverything } from '../targets.ts'

const namespaces = { group: '', resource: 'namespaces' }

/**
 * Refuses every write to a namespace that is not there.
 *
 * @see API protocol specification, 5.10
 */
export function namespaceExists(): AdmissionPlugin {
  const writes = onEverything('CREATE', 'UPDATE', 'DELETE')
  return {
    name: 'NamespaceExists',
    handles: (target) => writes(target) && !isNamespaceKind(target),
    validate(_object, { namespace }, { reader }) {
      if (namespace !== '' && reader.get(namespaces, '', namespace) === undefined) throw ApiError.notFound(namespaces, namespace)
    },
  }
}
