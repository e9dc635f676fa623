import type { Informer } from '@krmkit/client'
import { type DeepReadonly, nameRules } from '@krmkit/meta'
import { ignoreNotFound, ignoreReasons } from '../framework/api-errors.ts'
import { disposeSubscriptions } from '../framework/subscriptions.ts'
import type { Controller, ControllerContext } from '../interfaces.ts'
import {
  type Claim,
  claims,
  keyOf,
  type StorageClass,
  storageClasses,
  type Volume,
  type VolumeAnnotationKeys,
  volumeAnnotationKeys,
  volumes,
} from '../volume/objects.ts'
import { storageResources, type VolumeAttachment } from '../volume-attachment/objects.ts'
import { needsExpansion } from '../volume-expansion/expander-controller.ts'
import { splitKey } from '../workloads/objects.ts'

/**
 * Simulates volume drivers for every class with a provisioner: creates and deletes the volumes of claims, attaches them to
 * nodes, and resizes them. The volumes have no storage.
 *
 *     claim with provisioner --> volume --bound by the binder--> in use --claim gone--> Released --> deleted
 */
export const volumeSimulator: Controller = {
  name: 'volume-simulator',
  isDefault: false,
  start: (context) => disposeSubscriptions(new VolumeSimulator(context).subscriptions),
}

class VolumeSimulator {
  readonly #context: ControllerContext
  readonly #annotationKeys: VolumeAnnotationKeys
  readonly #attachmentType: ReturnType<typeof storageResources>['attachments']
  readonly #claims: Informer<Claim>
  readonly #volumes: Informer<Volume>
  readonly #classes: Informer<StorageClass>
  readonly subscriptions: readonly (() => void)[]

  constructor(context: ControllerContext) {
    const { informers, profile, rateLimit } = context
    this.#context = context
    this.#annotationKeys = volumeAnnotationKeys(profile)
    this.#attachmentType = storageResources(profile).attachments
    this.#claims = informers.of(claims)
    this.#volumes = informers.of(volumes)
    this.#classes = informers.of(storageClasses(profile))
    const attachments = informers.of(this.#attachmentType)
    const claimQueue = context.queue<string>({ sync: (key) => this.#syncClaim(key), rateLimit })
    const volumeQueue = context.queue<string>({ sync: (name) => this.#deleteReleased(name), rateLimit })
    const attachmentQueue = context.queue<string>({
      sync: (name) => this.#attach(attachments.get(name) as VolumeAttachment | undefined),
      rateLimit,
    })
    const enqueueClaim = (claim: DeepReadonly<Claim>) => claimQueue.add(keyOf(claim))
    const byVolume = informers.index(this.#attachmentType, 'volume', ({ spec }) => [spec?.source.persistentVolumeName ?? ''])
    const enqueueVolume = (volume: DeepReadonly<Volume>) => {
      volumeQueue.add(keyOf(volume))
      for (const attachment of byVolume.get(volume.metadata.name ?? '')) attachmentQueue.add(keyOf(attachment))
    }
    const enqueueAttachment = (attachment: DeepReadonly<VolumeAttachment>) => attachmentQueue.add(keyOf(attachment))
    this.subscriptions = [
      this.#claims.on({ added: enqueueClaim, updated: enqueueClaim }),
      this.#volumes.on({ added: enqueueVolume, updated: enqueueVolume }),
      attachments.on({ added: enqueueAttachment, updated: enqueueAttachment }),
    ]
  }

  async #syncClaim(key: string): Promise<undefined> {
    if (!this.#classes.hasSynced) await this.#classes.synced
    const { namespace, name } = splitKey(key)
    const claim = this.#claims.get(name, namespace)
    if (claim === undefined || claim.metadata.deletionTimestamp !== undefined) return undefined
    if (needsExpansion(claim)) await this.#resize(claim)
    else if (claim.spec?.volumeName === undefined) await this.#provision(claim)
    return undefined
  }

  async #provision(claim: DeepReadonly<Claim>): Promise<void> {
    const { client, fieldManager, signal } = this.#context
    const { provisioner: marks, selectedNode, provisionedBy } = this.#annotationKeys
    const { annotations = {}, name = '', namespace = '', uid = '' } = claim.metadata
    const provisioner = marks.map((mark) => annotations[mark]).find((driver) => driver !== undefined)
    const storageClass = this.#classes.get(claim.spec?.storageClassName ?? '') as
      | (DeepReadonly<StorageClass> & { readonly reclaimPolicy?: string; readonly mountOptions?: readonly string[] })
      | undefined
    if (provisioner === undefined || storageClass === undefined) return
    if (storageClass.volumeBindingMode === 'WaitForFirstConsumer' && annotations[selectedNode] === undefined) return
    const { accessModes = [], resources, volumeMode = 'Filesystem' } = claim.spec ?? {}
    const volume: Volume = {
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      metadata: { name: `pvc-${uid}`, annotations: { [provisionedBy]: provisioner } },
      spec: {
        accessModes: [...accessModes],
        capacity: { storage: resources?.requests?.['storage'] ?? '1Gi' },
        claimRef: { apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace, name, uid },
        ...sourceOf(provisioner, `pvc-${uid}`),
        persistentVolumeReclaimPolicy: storageClass.reclaimPolicy ?? 'Delete',
        storageClassName: claim.spec?.storageClassName ?? '',
        volumeMode,
        ...(storageClass.mountOptions === undefined ? {} : { mountOptions: [...storageClass.mountOptions] }),
      },
    }
    await ignoreReasons(client.create(volumes, volume, { fieldManager, signal }), ['AlreadyExists'])
  }

  async #resize(claim: DeepReadonly<Claim>): Promise<void> {
    const { client, fieldManager, signal } = this.#context
    const { name = '', namespace = '', uid = '' } = claim.metadata
    const storage = claim.spec?.resources?.requests?.['storage'] ?? ''
    const volume = claim.spec?.volumeName ?? ''
    const grown = { spec: { capacity: { storage } } }
    await ignoreNotFound(client.patch(volumes, volume, { type: 'merge', patch: grown, fieldManager, signal }))
    const patch = { metadata: { uid }, status: { capacity: { storage } } }
    const request = client.patch(claims, name, { namespace, type: 'merge', subresource: 'status', patch, fieldManager, signal })
    await ignoreNotFound(request)
  }

  /** Deletes a volume that this simulator created after its claim was deleted. */
  async #deleteReleased(name: string): Promise<undefined> {
    const { client, signal } = this.#context
    const volume = this.#volumes.get(name)
    if (volume?.status?.phase !== 'Released' || volume.spec?.persistentVolumeReclaimPolicy !== 'Delete') return undefined
    const isOurs = volume.metadata.annotations?.[this.#annotationKeys.provisionedBy] !== undefined
    if (!isOurs || volume.metadata.deletionTimestamp !== undefined) return undefined
    await ignoreNotFound(client.delete(volumes, name, { signal }))
    return undefined
  }

  /** Attaches a volume as its driver would: only an existing volume of that driver. */
  async #attach(attachment: VolumeAttachment | undefined): Promise<undefined> {
    if (attachment === undefined || attachment.status?.attached === true) return undefined
    if (!this.#volumes.hasSynced) await this.#volumes.synced
    const { attacher, source } = attachment.spec ?? {}
    const { csi } = this.#volumes.get(source?.persistentVolumeName ?? '')?.spec ?? {}
    if (csi === undefined || csi.driver !== attacher) return undefined
    const { client, fieldManager, signal } = this.#context
    const patch = { status: { attached: true } }
    const options = { type: 'merge', subresource: 'status', patch, fieldManager, signal } as const
    await ignoreNotFound(client.patch(this.#attachmentType, attachment.metadata.name ?? '', options))
    return undefined
  }
}

/** Returns the source of a volume: CSI when the name of the provisioner can be that of a driver, otherwise a path on the node. */
function sourceOf(provisioner: string, handle: string): object {
  if (nameRules.dns1123Subdomain(provisioner, false).length > 0) return { hostPath: { path: `/var/lib/volumes/${handle}` } }
  return { csi: { driver: provisioner, volumeHandle: handle } }
}
