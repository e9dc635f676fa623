import { ApiError } from '@krmkit/meta'
import type { AdmissionPlugin } from '../interfaces.ts'
import { forbidden } from '../refusals.ts'
import { isNamespaceKind, onOperations } from '../targets.ts'

const namespaces = { group: '', resource: 'namespaces' }

/**
 * Creates the missing namespace of a new object.
 *
 * @see API protocol specification, 5.10
 * @example
 * ```ts
 * import { admit, ObjectSet } from '@krmkit/admission'
 * import { namespaceAutoProvision } from '@krmkit/admission/plugins'
 *
 * const pods = { kind: { group: '', version: 'v1', kind: 'Pod' }, resource: { group: '', version: 'v1', resource: 'pods' } }
 * const object = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web', namespace: 'shop' } }
 * const cluster = new ObjectSet()
 * const { allowed } = await admit({ ...pods, object }, [namespaceAutoProvision()], cluster, { writer: cluster })
 * cluster.get({ group: '', resource: 'namespaces' }, '', 'shop')?.metadata.name // 'shop'
 * ```
 */
export function namespaceAutoProvision(): AdmissionPlugin {
  const creations = onOperations('CREATE')
  return {
    name: 'NamespaceAutoProvision',
    handles: (target) => creations(target) && !isNamespaceKind(target),
    async check(attributes, { reader, writer, explain }, object) {
      const { namespace, dryRun } = attributes
      if (namespace === '' || dryRun || reader.get(namespaces, '', namespace) !== undefined || writer === undefined) return
      explain?.(`namespace ${namespace} is created`)
      try {
        await writer.create(namespaces, '', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
      } catch (error) {
        if (ApiError.is(error) && error.reason === 'Forbidden') throw error
        if (!ApiError.is(error) || error.reason !== 'AlreadyExists') {
          throw forbidden(attributes, object, error instanceof Error ? error.message : String(error))
        }
      }
    },
  }
}
