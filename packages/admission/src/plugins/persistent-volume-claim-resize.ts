import { type ApiObject, type DeepReadonly, type NamingProfile, Quantity } from '@krmkit/meta'
import type { AdmissionPlugin } from '../interfaces.ts'
import { forbidden } from '../refusals.ts'
import { onResource } from '../targets.ts'

interface Claim extends ApiObject {
  spec?: { storageClassName?: string; resources?: { requests?: Record<string, string> } }
  status?: { phase?: string }
}

/**
 * Allows expansion only of bound claims whose storage class allows volume expansion.
 *
 * @see API protocol specification, 5.10
 * @example
 * ```ts
 * import { admit, ObjectSet } from '@krmkit/admission'
 * import { persistentVolumeClaimResize } from '@krmkit/admission/plugins'
 * import { stockProfile } from '@krmkit/meta'
 *
 * const kind = { group: '', version: 'v1', kind: 'PersistentVolumeClaim' }
 * const resource = { group: '', version: 'v1', resource: 'persistentvolumeclaims' }
 * const claim = (storage: string) => ({
 *   ...{ apiVersion: 'v1', kind: kind.kind, metadata: { name: 'data', namespace: 'shop' }, status: { phase: 'Bound' } },
 *   spec: { storageClassName: 'slow', resources: { requests: { storage } } },
 * })
 * const request = { kind, resource, operation: 'UPDATE', object: claim('2Gi'), oldObject: claim('1Gi') } as const
 * const { status } = await admit(request, [persistentVolumeClaimResize(stockProfile)], new ObjectSet())
 * status?.message
 * // 'persistentvolumeclaims "data" is forbidden: only dynamically provisioned pvc can be resized and the storageclass that
 * // provisions the pvc must support resize'
 * ```
 */
export function persistentVolumeClaimResize({ domain, apiDomain }: NamingProfile): AdmissionPlugin {
  const classes = { group: `storage.${apiDomain}`, resource: 'storageclasses' }
  const classOf = (claim: DeepReadonly<Claim>): string =>
    claim.metadata.annotations?.[`volume.beta.${domain}/storage-class`] ?? claim.spec?.storageClassName ?? ''
  return {
    name: 'PersistentVolumeClaimResize',
    handles: onResource('', 'persistentvolumeclaims', ['UPDATE']),
    validate(object, attributes, { reader }) {
      const claim = object as DeepReadonly<Claim>
      const old = attributes.oldObject as DeepReadonly<Claim> | undefined
      if (old === undefined || sizeOf(claim).compare(sizeOf(old)) <= 0) return
      if (old.status?.phase !== 'Bound') {
        throw forbidden(attributes, claim, 'Only bound persistent volume claims can be expanded')
      }
      const name = classOf(claim)
      const known = name === '' || name !== classOf(old) ? undefined : reader.get(classes, '', name)
      if ((known as { allowVolumeExpansion?: boolean } | undefined)?.allowVolumeExpansion === true) return
      const detail =
        'only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize'
      throw forbidden(attributes, claim, detail)
    },
  }
}

function sizeOf({ spec }: DeepReadonly<Claim>): Quantity {
  return Quantity.parse(spec?.resources?.requests?.['storage'] ?? '0')
}
