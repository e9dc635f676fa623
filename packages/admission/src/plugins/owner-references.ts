import type { Attributes, Authorizer } from '@krmkit/authorization'
import { type ApiObject, type DeepReadonly, type OwnerReference, parseApiVersion } from '@krmkit/meta'
import { goQuote } from '@krmkit/meta/go-text'
import type { AdmissionAttributes, AdmissionPlugin, ObjectReader } from '../interfaces.ts'
import { forbidden } from '../refusals.ts'
import { onOperations } from '../targets.ts'

type Owner = DeepReadonly<OwnerReference>

/**
 * Requires the permission to delete an object for updates of its owner references, and the permission to update the owner's
 * finalizers for `blockOwnerDeletion`, on creation too.
 *
 * @see API protocol specification, 5.10
 * @example
 * ```ts
 * import { admit, ObjectSet } from '@krmkit/admission'
 * import { ownerReferencesPermissionEnforcement } from '@krmkit/admission/plugins'
 * import { alwaysDenyAuthorizer } from '@krmkit/authorization'
 *
 * const pods = { kind: { group: '', version: 'v1', kind: 'Pod' }, resource: { group: '', version: 'v1', resource: 'pods' } }
 * const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: '2f6e0a1c' }
 * const object = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web', namespace: 'shop' } }
 * const owned = { ...object, metadata: { ...object.metadata, ownerReferences: [owner] } }
 * const plugins = [ownerReferencesPermissionEnforcement(alwaysDenyAuthorizer)]
 * const { status } = await admit({ ...pods, operation: 'UPDATE', object: owned, oldObject: object }, plugins, new ObjectSet())
 * status?.message
 * // "pods \"web\" is forbidden: cannot set an ownerRef on a resource you can't delete: Everything is forbidden., <nil>"
 * ```
 */
export function ownerReferencesPermissionEnforcement(authorizer: Authorizer): AdmissionPlugin {
  const writes = onOperations('CREATE', 'UPDATE')
  return {
    name: 'OwnerReferencesPermissionEnforcement',
    // Kubelets update the status of pods, which cannot change owners.
    handles: (target) =>
      writes(target) && !(target.resource.group === '' && target.resource.resource === 'pods' && target.subresource === 'status'),
    async validate(object, attributes, { reader }) {
      const [owners, before] = [ownersOf(object), ownersOf(attributes.oldObject)]
      if (sameOwners(owners, before)) return
      if (attributes.operation === 'UPDATE') {
        const { decision, reason } = await authorizer.authorize(deletionOf(attributes))
        if (decision !== 'allow') {
          throw forbidden(attributes, object, `cannot set an ownerRef on a resource you can't delete: ${reason}, <nil>`)
        }
      }
      for (const owner of newlyBlocking(owners, before)) {
        for (const finalizers of finalizersOf(owner, attributes, { reader, object })) {
          const permission = await authorizer.authorize(finalizers)
          if (permission.decision === 'allow') continue
          const detail = `cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: ${permission.reason}, <nil>`
          throw forbidden(attributes, object, detail)
        }
      }
    },
  }
}

function ownersOf(object: DeepReadonly<ApiObject> | undefined): readonly Owner[] {
  return object?.metadata?.ownerReferences ?? []
}

function sameOwners(a: readonly Owner[], b: readonly Owner[]): boolean {
  return a.length === b.length && a.every((owner, i) => isSame(owner, b[i]))
}

function isSame(a: Owner, b: Owner | undefined): boolean {
  return (
    b !== undefined &&
    a.apiVersion === b.apiVersion &&
    a.kind === b.kind &&
    a.name === b.name &&
    a.uid === b.uid &&
    a.controller === b.controller &&
    a.blockOwnerDeletion === b.blockOwnerDeletion
  )
}

/** References that set `blockOwnerDeletion` and did not before, by the uid of the owner. */
function newlyBlocking(owners: readonly Owner[], before: readonly Owner[]): Owner[] {
  const blocked = new Set(before.filter(({ blockOwnerDeletion }) => blockOwnerDeletion === true).map(({ uid }) => uid))
  return owners.filter(({ blockOwnerDeletion, uid }) => blockOwnerDeletion === true && !blocked.has(uid))
}

function deletionOf({ user, namespace, resource, subresource, name }: AdmissionAttributes): Attributes {
  return { user, verb: 'delete', isResource: true, ...resource, subresource, namespace, name, path: '' }
}

function finalizersOf(
  { apiVersion, kind, name }: Owner,
  attributes: AdmissionAttributes,
  { reader, object }: { readonly reader: ObjectReader; readonly object: DeepReadonly<ApiObject> | undefined },
): Attributes[] {
  const { group, version } = parseApiVersion(apiVersion)
  const resources = reader.resourcesOf?.({ group, version, kind }) ?? []
  if (resources.length === 0 && reader.resourcesOf !== undefined) {
    const reason = `no matches for kind ${goQuote(kind)} in version ${goQuote(apiVersion)}`
    const detail = `cannot set blockOwnerDeletion in this case because cannot find RESTMapping for APIVersion ${apiVersion} Kind ${kind}: ${reason}`
    throw forbidden(attributes, object, detail)
  }
  return resources.map((resource) => ({
    user: attributes.user,
    verb: 'update',
    isResource: true,
    group: resource.group,
    version: resource.version,
    resource: resource.resource,
    subresource: 'finalizers',
    namespace: resource.namespaced ? attributes.namespace : '',
    name,
    path: '',
  }))
}
