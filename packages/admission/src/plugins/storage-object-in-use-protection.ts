import type { NamingProfile } from '@krmkit/meta'
import type { AdmissionPlugin } from '../interfaces.ts'

/**
 * Adds the protection finalizer to new claims, volumes and volume attributes classes, which keeps them while they are in use.
 *
 * @see API protocol specification, 5.10
 * @example
 * ```ts
 * import { admit, ObjectSet } from '@krmkit/admission'
 * import { storageObjectInUseProtection } from '@krmkit/admission/plugins'
 * import { stockProfile } from '@krmkit/meta'
 *
 * const kind = { group: '', version: 'v1', kind: 'PersistentVolumeClaim' }
 * const resource = { group: '', version: 'v1', resource: 'persistentvolumeclaims' }
 * const object = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name: 'data', namespace: 'shop' } }
 * const result = await admit({ kind, resource, object }, [storageObjectInUseProtection(stockProfile)], new ObjectSet())
 * result.object?.metadata.finalizers // ['kubernetes.io/pvc-protection']
 * ```
 */
export function storageObjectInUseProtection({ domain, apiDomain }: NamingProfile): AdmissionPlugin {
  const finalizers = new Map([
    ['/persistentvolumeclaims', `${domain}/pvc-protection`],
    ['/persistentvolumes', `${domain}/pv-protection`],
    [`storage.${apiDomain}/volumeattributesclasses`, `${domain}/vac-protection`],
  ])
  const finalizerOf = ({ group, resource }: { group: string; resource: string }) => finalizers.get(`${group}/${resource}`)
  return {
    name: 'StorageObjectInUseProtection',
    changes: 'members',
    handles: ({ operation, resource, subresource }) =>
      operation === 'CREATE' && subresource === '' && finalizerOf(resource) !== undefined,
    admit({ metadata }, { resource }, { explain }) {
      const finalizer = finalizerOf(resource)
      const present = metadata.finalizers ?? []
      if (finalizer === undefined || present.includes(finalizer)) return
      explain?.('the finalizer protects the object while it is in use')
      metadata.finalizers = [...present, finalizer]
    },
  }
}
