import type { NamingProfile } from '@krmkit/meta'
import type { AdmissionPlugin } from '../interfaces.ts'

/**
 * Adds the protection finalizer to new claims, volumes and volume attributes classes, which keeps them while they are in use.
 *
 * @see API protocol specification, 5.10
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
