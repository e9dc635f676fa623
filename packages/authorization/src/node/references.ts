/** References of pods and persistent volumes to objects that a node may read when it runs the pod. */

import type { StoredObject } from '../interfaces.ts'

export type ReferredKind = 'secret' | 'configmap' | 'claim' | 'account' | 'resourceclaim'

/** `kind/namespace/name` */
export type ReferenceKey = `${ReferredKind}/${string}/${string}`

export function referenceKey(kind: ReferredKind, namespace: string, name: string): ReferenceKey {
  return `${kind}/${namespace}/${name}`
}

interface Named {
  readonly name?: string
}
interface SecretRef extends Named {
  readonly namespace?: string
}
interface EnvSource {
  readonly secretKeyRef?: Named
  readonly configMapKeyRef?: Named
}
interface Container {
  readonly env?: readonly { readonly valueFrom?: EnvSource }[]
  readonly envFrom?: readonly { readonly secretRef?: Named; readonly configMapRef?: Named }[]
}
interface Projection {
  readonly secret?: Named
  readonly configMap?: Named
}
interface Volume extends Named {
  readonly secret?: { readonly secretName?: string }
  readonly configMap?: Named
  readonly persistentVolumeClaim?: { readonly claimName?: string }
  readonly ephemeral?: object
  readonly projected?: { readonly sources?: readonly Projection[] }
  readonly azureFile?: { readonly secretName?: string }
  readonly csi?: { readonly nodePublishSecretRef?: Named }
  readonly [source: string]: unknown
}
interface PodSpec {
  readonly nodeName?: string
  readonly serviceAccountName?: string
  readonly imagePullSecrets?: readonly Named[]
  readonly volumes?: readonly Volume[]
  readonly containers?: readonly Container[]
  readonly initContainers?: readonly Container[]
  readonly ephemeralContainers?: readonly Container[]
  readonly resourceClaims?: readonly { readonly name?: string; readonly resourceClaimName?: string }[]
}
interface PodStatus {
  readonly resourceClaimStatuses?: readonly { readonly name?: string; readonly resourceClaimName?: string }[]
}

/** Volume sources with a `secretRef`. */
const sourcesWithSecret = ['cephfs', 'flexVolume', 'rbd', 'scaleIO', 'iscsi', 'storageos'] as const

/** Returns the node of a pod; empty until the pod is scheduled. */
export function nodeOfPod(pod: StoredObject): string {
  return (pod['spec'] as PodSpec | undefined)?.nodeName ?? ''
}

/**
 * Returns all references of a pod. Mirror pods have none, because nodes create them and must not grant themselves
 * permissions.
 */
export function referencesOfPod(pod: StoredObject, domain: string): Set<ReferenceKey> {
  const found = new Set<ReferenceKey>()
  const { namespace = '', name = '', annotations = {} } = pod.metadata
  if (Object.hasOwn(annotations, `${domain}/config.mirror`)) return found
  const add = (kind: ReferredKind, of: string | undefined) => {
    if (of !== undefined && of !== '') found.add(referenceKey(kind, namespace, of))
  }
  const spec = (pod['spec'] ?? {}) as PodSpec
  add('account', spec.serviceAccountName)
  for (const secret of spec.imagePullSecrets ?? []) add('secret', secret.name)
  for (const container of [...(spec.initContainers ?? []), ...(spec.containers ?? []), ...(spec.ephemeralContainers ?? [])]) {
    for (const { valueFrom } of container.env ?? []) {
      add('secret', valueFrom?.secretKeyRef?.name)
      add('configmap', valueFrom?.configMapKeyRef?.name)
    }
    for (const { secretRef, configMapRef } of container.envFrom ?? []) {
      add('secret', secretRef?.name)
      add('configmap', configMapRef?.name)
    }
  }
  for (const volume of spec.volumes ?? []) {
    add('secret', volume.secret?.secretName)
    add('secret', volume.azureFile?.secretName)
    add('secret', volume.csi?.nodePublishSecretRef?.name)
    for (const source of sourcesWithSecret) add('secret', (volume[source] as { secretRef?: Named } | undefined)?.secretRef?.name)
    add('configmap', volume.configMap?.name)
    for (const { secret, configMap } of volume.projected?.sources ?? []) {
      add('secret', secret?.name)
      add('configmap', configMap?.name)
    }
    if (volume.persistentVolumeClaim !== undefined) add('claim', volume.persistentVolumeClaim.claimName)
    else if (volume.ephemeral !== undefined) add('claim', `${name}-${volume.name ?? ''}`)
  }
  const generated = new Map<string | undefined, string | undefined>()
  for (const { name: claim, resourceClaimName } of ((pod['status'] ?? {}) as PodStatus).resourceClaimStatuses ?? [])
    if (!generated.has(claim)) generated.set(claim, resourceClaimName)
  for (const claim of spec.resourceClaims ?? []) add('resourceclaim', claim.resourceClaimName ?? generated.get(claim.name))
  return found
}

interface VolumeSpec {
  readonly claimRef?: { readonly namespace?: string; readonly name?: string }
  readonly azureFile?: { readonly secretName?: string; readonly secretNamespace?: string }
  readonly csi?: Readonly<Partial<Record<'nodePublishSecretRef' | 'nodeStageSecretRef' | 'nodeExpandSecretRef', SecretRef>>>
  readonly [source: string]: unknown
}

/** The claim that a persistent volume is bound to, and the secrets that a node needs to mount it. */
export interface VolumeReferences {
  readonly claim: ReferenceKey
  readonly secrets: ReadonlySet<ReferenceKey>
}

/** Returns the references of a persistent volume; undefined while it is unbound. */
export function referencesOfVolume(volume: StoredObject): VolumeReferences | undefined {
  const spec = (volume['spec'] ?? {}) as VolumeSpec
  if (spec.claimRef === undefined || spec.claimRef === null) return undefined
  const { namespace = '', name = '' } = spec.claimRef
  const secrets = new Set<ReferenceKey>()
  const add = (ref: SecretRef | undefined) => {
    if (ref?.name !== undefined && ref.name !== '') secrets.add(referenceKey('secret', ref.namespace || namespace, ref.name))
  }
  const { secretName, secretNamespace } = spec.azureFile ?? {}
  if (secretName !== undefined) add({ name: secretName, namespace: secretNamespace ?? '' })
  for (const source of sourcesWithSecret) add((spec[source] as { secretRef?: SecretRef } | undefined)?.secretRef)
  add(spec.csi?.nodePublishSecretRef)
  add(spec.csi?.nodeStageSecretRef)
  add(spec.csi?.nodeExpandSecretRef)
  return { claim: referenceKey('claim', namespace, name), secrets }
}
