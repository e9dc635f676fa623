import type { Informer } from '@krmkit/client'
import type { ApiObject, DeepReadonly } from '@krmkit/meta'
import { ignoreNotFound, ignoreReasons } from '../framework/api-errors.ts'
import { sameJson } from '../framework/same-json.ts'
import type { ObjectIndex } from '../framework/shared-informers.ts'
import { disposeSubscriptions } from '../framework/subscriptions.ts'
import type { Controller, ControllerContext } from '../interfaces.ts'
import { type Claim, type CsiSource, claims, type Volume, volumes } from '../volume/objects.ts'
import { type Node, nodes, type Pod, pods, type ReadonlyPod } from '../workloads/objects.ts'
import { isFinished } from '../workloads/pod-state.ts'
import { attachmentName, type CsiDriver, isAttachmentName, storageResources, type VolumeAttachment } from './objects.ts'

/** Requests the attachment of CSI volumes to the nodes of their pods, and reports attached volumes in the status of nodes. */
export const attachDetachController: Controller = {
  name: 'persistentvolume-attach-detach-controller',
  isDefault: false,
  start: (context) => disposeSubscriptions(new AttachDetachController(context).subscriptions),
}

interface WantedVolume {
  readonly volume: DeepReadonly<Volume>
  readonly csi: Readonly<CsiSource>
}

class AttachDetachController {
  readonly #context: ControllerContext
  readonly #resources: ReturnType<typeof storageResources>
  readonly #nodes: Informer<Node>
  readonly #claims: Informer<Claim>
  readonly #volumes: Informer<Volume>
  readonly #drivers: Informer<CsiDriver>
  readonly #attachments: Informer<VolumeAttachment>
  readonly #podsByNode: ObjectIndex<Pod>
  readonly #podsByClaim: ObjectIndex<Pod>
  readonly #attachmentsByNode: ObjectIndex<VolumeAttachment>
  readonly subscriptions: readonly (() => void)[]

  constructor(context: ControllerContext) {
    const { informers, profile, rateLimit } = context
    this.#context = context
    this.#resources = storageResources(profile)
    this.#nodes = informers.of(nodes)
    this.#claims = informers.of(claims)
    this.#volumes = informers.of(volumes)
    this.#drivers = informers.of(this.#resources.drivers)
    this.#attachments = informers.of(this.#resources.attachments)
    this.#podsByNode = informers.index(pods, 'node', ({ spec }) => (spec?.nodeName ? [spec.nodeName] : []))
    this.#podsByClaim = informers.index(pods, 'claim', (pod) => claimKeysOf(pod))
    this.#attachmentsByNode = informers.index(this.#resources.attachments, 'node', ({ spec }) => [spec?.nodeName ?? ''])
    const queue = context.queue<string>({ sync: (node) => this.#sync(node), rateLimit })
    const enqueuePod = ({ spec }: ReadonlyPod) => {
      if (spec?.nodeName && spec.volumes?.some(({ persistentVolumeClaim }) => persistentVolumeClaim !== undefined))
        queue.add(spec.nodeName)
    }
    const enqueueClaim = ({ metadata }: DeepReadonly<ApiObject>) => {
      for (const pod of this.#podsByClaim.get(`${metadata.namespace}/${metadata.name}`)) enqueuePod(pod)
    }
    const enqueueAttachment = ({ spec }: DeepReadonly<VolumeAttachment>) => queue.add(spec?.nodeName ?? '')
    this.subscriptions = [
      informers.of(pods).on({ added: enqueuePod, updated: enqueuePod, deleted: enqueuePod }),
      this.#claims.on({ added: enqueueClaim, updated: enqueueClaim }),
      this.#attachments.on({ added: enqueueAttachment, updated: enqueueAttachment, deleted: enqueueAttachment }),
    ]
  }

  async #sync(nodeName: string): Promise<undefined> {
    const { client, fieldManager, informers, signal } = this.#context
    for (const informer of [this.#nodes, this.#claims, this.#volumes, this.#drivers, this.#attachments, informers.of(pods)])
      if (!informer.hasSynced) await informer.synced
    const node = this.#nodes.get(nodeName)
    const wanted = node === undefined ? new Map<string, WantedVolume>() : this.#wantedVolumes(nodeName)
    const present = this.#attachmentsByNode.get(nodeName)
    for (const { metadata } of present) {
      // Attachments requested by other clients are not deleted here.
      if (!isAttachmentName(metadata.name ?? '')) continue
      if (wanted.has(metadata.name ?? '') || metadata.deletionTimestamp !== undefined) continue
      await ignoreNotFound(client.delete(this.#resources.attachments, metadata.name ?? '', { signal }))
    }
    for (const [name, { volume, csi }] of wanted) {
      if (present.some(({ metadata }) => metadata.name === name)) continue
      const source = { persistentVolumeName: volume.metadata.name ?? '' }
      const attachment = { metadata: { name }, spec: { attacher: csi.driver, nodeName, source } }
      await ignoreReasons(client.create(this.#resources.attachments, attachment, { fieldManager, signal }), ['AlreadyExists'])
    }
    if (node !== undefined) await this.#reportAttached(node as Node, wanted)
    return undefined
  }

  /** Returns the volumes of the pods of a node that must be attached, by the name of the attachment. */
  #wantedVolumes(nodeName: string): Map<string, WantedVolume> {
    const wanted = new Map<string, WantedVolume>()
    for (const pod of this.#podsByNode.get(nodeName)) {
      if (isFinished(pod)) continue
      for (const key of claimKeysOf(pod)) {
        const [namespace = '', name = ''] = key.split('/')
        const volume = this.#volumes.get(this.#claims.get(name, namespace)?.spec?.volumeName ?? '')
        const csi = volume?.spec?.csi
        if (volume === undefined || csi === undefined || this.#drivers.get(csi.driver)?.spec?.attachRequired === false) continue
        wanted.set(attachmentName(csi, nodeName), { volume, csi })
      }
    }
    return wanted
  }

  async #reportAttached(node: Node, wanted: ReadonlyMap<string, WantedVolume>): Promise<void> {
    const { client, fieldManager, profile, signal } = this.#context
    const attached = [...wanted]
      .filter(([name]) => this.#attachments.get(name)?.status?.attached === true)
      .map(([, { csi }]) => ({ name: `${profile.domain}/csi/${csi.driver}^${csi.volumeHandle}`, devicePath: '' }))
    const { volumesAttached = [], ...status } = (node.status ?? {}) as { volumesAttached?: object[] }
    if (sameJson(volumesAttached, attached)) return
    const changed = {
      ...structuredClone(node),
      status: { ...structuredClone(status), ...(attached.length === 0 ? {} : { volumesAttached: attached }) },
    }
    const request = client.update(nodes, changed, { subresource: 'status', fieldManager, signal })
    await ignoreReasons(request, ['NotFound', 'Conflict'])
  }
}

function claimKeysOf({ metadata, spec }: ReadonlyPod): string[] {
  return (spec?.volumes ?? []).flatMap(({ name, persistentVolumeClaim, ...volume }) => {
    const claim = volume['ephemeral'] === undefined ? persistentVolumeClaim?.claimName : `${metadata.name}-${name}`
    return claim === undefined ? [] : [`${metadata.namespace}/${claim}`]
  })
}
