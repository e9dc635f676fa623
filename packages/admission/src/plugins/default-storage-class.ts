import type { ApiObject, NamingProfile } from '@krmkit/meta'
import { defaultClass } from '../default-class.ts'
import type { AdmissionPlugin } from '../interfaces.ts'
import { onResource } from '../targets.ts'

interface Claim extends ApiObject {
  spec?: { storageClassName?: string | null }
}

/**
 * Gives claims that say nothing of a storage class the default one.
 *
 * @see API protocol specification, 5.10
 */
export function defaultStorageClass({ domain, apiDomain }: NamingProfile): AdmissionPlugin {
  const classes = { group: `storage.${apiDomain}`, resource: 'storageclasses' }
  const marks = [`storageclass.${domain}/is-default-class`, `storageclass.beta.${domain}/is-default-class`]
  const oldName = `volume.beta.${domain}/storage-class`
  return {
    name: 'DefaultStorageClass',
    changes: 'members',
    handles: onResource('', 'persistentvolumeclaims', ['CREATE']),
    async admit(object, _attributes, { reader, explain }) {
      const claim = object as Claim
      if (Object.hasOwn(claim.metadata.annotations ?? {}, oldName)) return
      if (claim.spec?.storageClassName !== undefined && claim.spec.storageClassName !== null) return
      const chosen = await defaultClass(reader, classes, marks)
      if (chosen === undefined) return
      explain?.(`storage class ${chosen.metadata.name} is marked as the default`)
      claim.spec = { ...claim.spec, storageClassName: chosen.metadata.name ?? '' }
    },
  }
}
