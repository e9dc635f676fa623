import type { ApiObject, NamingProfile } from '@krmkit/meta'
import { defaultClass } from '../default-class.ts'
import type { AdmissionPlugin } from '../interfaces.ts'
import { onResource } from '../targets.ts'

interface Claim extends ApiObject {
  spec?: { storageClassName?: string | null }
}

/**
 * Sets the default storage class on claims without a class.
 *
 * @see API protocol specification, 5.10
 * @example
 * ```ts
 * import { admit, ObjectSet } from '@krmkit/admission'
 * import { defaultStorageClass } from '@krmkit/admission/plugins'
 * import { stockProfile } from '@krmkit/meta'
 *
 * const annotations = { 'storageclass.kubernetes.io/is-default-class': 'true' }
 * const cluster = new ObjectSet()
 * const storageClass = { apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass', metadata: { name: 'fast', annotations } }
 * cluster.put({ group: 'storage.k8s.io', resource: 'storageclasses' }, storageClass)
 * const kind = { group: '', version: 'v1', kind: 'PersistentVolumeClaim' }
 * const resource = { group: '', version: 'v1', resource: 'persistentvolumeclaims' }
 * const object = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name: 'data', namespace: 'shop' } }
 * const result = await admit({ kind, resource, object }, [defaultStorageClass(stockProfile)], cluster)
 * result.object?.['spec'] // { storageClassName: 'fast' }
 * ```
 */
export function defaultStorageClass({ domain, apiDomain }: NamingProfile): AdmissionPlugin {
  const classes = { group: `storage.${apiDomain}`, resource: 'storageclasses' }
  const defaultAnnotations = [`storageclass.${domain}/is-default-class`, `storageclass.beta.${domain}/is-default-class`]
  const classAnnotation = `volume.beta.${domain}/storage-class`
  return {
    name: 'DefaultStorageClass',
    changes: 'members',
    handles: onResource('', 'persistentvolumeclaims', ['CREATE']),
    async admit(object, _attributes, { reader, explain }) {
      const claim = object as Claim
      if (Object.hasOwn(claim.metadata.annotations ?? {}, classAnnotation)) return
      if (claim.spec?.storageClassName !== undefined && claim.spec.storageClassName !== null) return
      const chosen = await defaultClass(reader, classes, defaultAnnotations)
      if (chosen === undefined) return
      explain?.(`storage class ${chosen.metadata.name} is marked as the default`)
      claim.spec = { ...claim.spec, storageClassName: chosen.metadata.name ?? '' }
    },
  }
}
