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
