import { ApiError, type NamingProfile } from '@krmkit/meta'
import type { AdmissionPlugin, AdmissionTarget } from '../interfaces.ts'
import { forbidden } from '../refusals.ts'

/**
 * Refuses creation in missing or terminating namespaces, and deletion of the reserved namespaces.
 *
 * @see API protocol specification, 3 and 5.10
 * @example
 * ```ts
 * import { admit, ObjectSet } from '@krmkit/admission'
 * import { namespaceExists, namespaceLifecycle } from '@krmkit/admission/plugins'
 * import { stockProfile } from '@krmkit/meta'
 *
 * const kind = { group: '', version: 'v1', kind: 'Namespace' }
 * const resource = { group: '', version: 'v1', resource: 'namespaces' }
 * const request = { kind, resource, operation: 'DELETE', name: 'kube-system' } as const
 * const { status } = await admit(request, [namespaceLifecycle(stockProfile), namespaceExists()], new ObjectSet())
 * status?.message // 'namespaces "kube-system" is forbidden: this namespace may not be deleted'
 * ```
 */
export function namespaceLifecycle(profile: NamingProfile): AdmissionPlugin {
  const reserved = new Set(['default', profile.systemNamespace, profile.publicNamespace])
  const isNamespace = (a: AdmissionTarget): boolean => a.kind.group === '' && a.kind.kind === 'Namespace'
  return {
    name: 'NamespaceLifecycle',
    handles: (a) => a.operation === 'CREATE' || a.operation === 'UPDATE' || a.operation === 'DELETE',
    check(attributes, { reader }, object) {
      const { operation, namespace, name, resource } = attributes
      if (operation === 'DELETE' && isNamespace(attributes) && reserved.has(name)) {
        throw ApiError.forbidden(resource, name, 'this namespace may not be deleted')
      }
      if (namespace === '' || isNamespace(attributes) || (operation !== 'CREATE' && operation !== 'UPDATE')) return
      if (attributes.resource.group === `authorization.${profile.apiDomain}` && resource.resource === 'localsubjectaccessreviews')
        return
      const found = reader.get({ group: '', resource: 'namespaces' }, '', namespace)
      if (found === undefined) throw ApiError.notFound({ group: '', resource: 'namespaces' }, namespace)
      if (operation === 'UPDATE') return
      if (
        (found as { status?: { phase?: string } }).status?.phase !== 'Terminating' &&
        found.metadata.deletionTimestamp === undefined
      )
        return
      const detail = `unable to create new content in namespace ${namespace} because it is being terminated`
      const refused = forbidden(attributes, object, detail)
      throw new ApiError({
        ...refused.status,
        details: {
          ...refused.status.details,
          causes: [
            {
              reason: 'NamespaceTerminating',
              message: `namespace ${namespace} is being terminated`,
              field: 'metadata.namespace',
            },
          ],
        },
      })
    },
  }
}
