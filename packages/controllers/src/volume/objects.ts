import { resourceType } from '@krmkit/client'
import type { ApiObject, DeepReadonly, LabelSelectorObject, NamingProfile } from '@krmkit/meta'

/** As much of volumes, claims, classes and pods as these controllers read and write. */

export interface ClaimReference {
  apiVersion?: string
  kind?: string
  namespace?: string
  name?: string
  uid?: string
  resourceVersion?: string
}

export interface Volume extends ApiObject {
  spec?: {
    accessModes?: string[]
    capacity?: Record<string, string>
    claimRef?: ClaimReference
    persistentVolumeReclaimPolicy?: string
    storageClassName?: string
    volumeMode?: string
    volumeAttributesClassName?: string
    csi?: object
  }
  status?: { phase?: string; message?: string; reason?: string; lastPhaseTransitionTime?: string }
}

export interface ClaimSpec {
  accessModes?: string[]
  selector?: LabelSelectorObject | null
  resources?: { requests?: Record<string, string> }
  storageClassName?: string
  volumeMode?: string
  volumeName?: string
  volumeAttributesClassName?: string
}

export interface Claim extends ApiObject {
  spec?: ClaimSpec
  status?: { phase?: string; accessModes?: string[]; capacity?: Record<string, string> }
}

export interface StorageClass extends ApiObject {
  provisioner?: string
  volumeBindingMode?: string
}

export interface Pod extends ApiObject {
  spec?: {
    nodeName?: string
    volumes?: {
      name: string
      persistentVolumeClaim?: { claimName: string }
      ephemeral?: { volumeClaimTemplate?: { metadata?: Partial<ApiObject['metadata']>; spec?: ClaimSpec } }
    }[]
  }
}

export const volumes = resourceType<Volume>({
  group: '',
  version: 'v1',
  resource: 'persistentvolumes',
  kind: 'PersistentVolume',
  namespaced: false,
})
export const claims = resourceType<Claim>({
  group: '',
  version: 'v1',
  resource: 'persistentvolumeclaims',
  kind: 'PersistentVolumeClaim',
})
export const pods = resourceType<Pod>({ group: '', version: 'v1', resource: 'pods', kind: 'Pod' })

export function storageClasses(profile: NamingProfile) {
  return resourceType<StorageClass>({
    group: `storage.${profile.apiDomain}`,
    version: 'v1',
    resource: 'storageclasses',
    kind: 'StorageClass',
    namespaced: false,
  })
}

/** Names of the annotations and finalizers by which volumes and claims are marked. */
export interface VolumeAnnotationKeys {
  readonly claimFinalizer: string
  readonly volumeFinalizer: string
  /** The claim knows its volume: from now on a missing volume means lost data. */
  readonly bindCompleted: string
  /** The controller chose, so the controller may undo. */
  readonly boundByController: string
  /** On volumes: the provisioner that made it. */
  readonly provisionedBy: string
  /** On claims: who shall make the volume; the older name too. */
  readonly provisioner: readonly string[]
  /** On claims and volumes: the class, where the member does not say. */
  readonly classAnnotation: string
  /** On claims: where the first consumer runs. */
  readonly selectedNode: string
  /** On classes. */
  readonly isDefaultClass: readonly string[]
}

export function volumeAnnotationKeys({ domain }: NamingProfile): VolumeAnnotationKeys {
  return {
    claimFinalizer: `${domain}/pvc-protection`,
    volumeFinalizer: `${domain}/pv-protection`,
    bindCompleted: `pv.${domain}/bind-completed`,
    boundByController: `pv.${domain}/bound-by-controller`,
    provisionedBy: `pv.${domain}/provisioned-by`,
    provisioner: [`volume.beta.${domain}/storage-provisioner`, `volume.${domain}/storage-provisioner`],
    classAnnotation: `volume.beta.${domain}/storage-class`,
    selectedNode: `volume.${domain}/selected-node`,
    isDefaultClass: [`storageclass.${domain}/is-default-class`, `storageclass.beta.${domain}/is-default-class`],
  }
}

export function keyOf({ metadata: { namespace, name } }: DeepReadonly<ApiObject>): string {
  return namespace === undefined || namespace === '' ? (name ?? '') : `${namespace}/${name ?? ''}`
}

/** Name of the claim that an ephemeral volume of a pod gets. @see Configuration and storage specification, 2.3 */
export function ephemeralClaimName(pod: DeepReadonly<Pod>, volume: { readonly name: string }): string {
  return `${pod.metadata.name ?? ''}-${volume.name}`
}
