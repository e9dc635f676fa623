import { resourceType } from '@krmkit/client'
import type { ApiObject, DeepReadonly, NamingProfile } from '@krmkit/meta'
import type { LabelSelectorObject } from '@krmkit/meta/selectors'
import type { NodeSelectorTerm } from '../workloads/objects.ts'

/** The parts of volumes, claims, classes and pods that controllers of volumes and the scheduler read and write. */

export interface ClaimReference {
  apiVersion?: string
  kind?: string
  namespace?: string
  name?: string
  uid?: string
  resourceVersion?: string
}

export interface CsiSource {
  driver: string
  volumeHandle: string
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
    csi?: CsiSource
    nodeAffinity?: { required?: { nodeSelectorTerms?: NodeSelectorTerm[] } }
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
  status?: { phase?: string; accessModes?: string[]; capacity?: Record<string, string>; conditions?: ClaimCondition[] }
}

export interface ClaimCondition {
  type: string
  status: string
  lastTransitionTime?: string | null
  reason?: string
  message?: string
}

export interface StorageClass extends ApiObject {
  provisioner?: string
  volumeBindingMode?: string
  allowedTopologies?: { matchLabelExpressions?: { key: string; values: string[] }[] }[]
}

export interface ContainerStatus {
  state?: { running?: object; terminated?: object; waiting?: object }
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
  status?: {
    phase?: string
    initContainerStatuses?: ContainerStatus[]
    containerStatuses?: ContainerStatus[]
    ephemeralContainerStatuses?: ContainerStatus[]
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

/** Annotation keys and finalizers of volumes and claims. */
export interface VolumeAnnotationKeys {
  readonly claimFinalizer: string
  readonly volumeFinalizer: string
  /** Marks a bound claim: a missing volume then means lost data. */
  readonly bindCompleted: string
  /** Marks a binding that was selected by the controller, which may undo it. */
  readonly boundByController: string
  /** On volumes: the provisioner that created it. */
  readonly provisionedBy: string
  /** On claims: the provisioner that must create the volume, under the current and the beta key. */
  readonly provisioner: readonly string[]
  /** On claims and volumes: the class, when the field is not set. */
  readonly classAnnotation: string
  /** On claims: the node of the first consumer. */
  readonly selectedNode: string
  /** On classes: marks the default class. */
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

/** Returns the claim name of an ephemeral volume. @see Configuration and storage specification, 2.3 */
export function ephemeralClaimName(pod: DeepReadonly<Pod>, volume: { readonly name: string }): string {
  return `${pod.metadata.name ?? ''}-${volume.name}`
}
