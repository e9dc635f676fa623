/**
 * Graph of references between nodes, pods and other objects, updated incrementally:
 *
 *     node <- pod <- secret, config map, service account, claim, resource claim
 *     node <- pod <- claim <- volume <- secret
 *     node <- volume attachment, resource slice
 *
 * Pod references are indexed by node with counts; volumes are resolved on look-up.
 */

import { type NamingProfile, stockProfile } from '@krmkit/meta'
import type { ObjectEventHandler, StoredObject } from '../interfaces.ts'
import {
  nodeOfPod,
  type ReferenceKey,
  type ReferredKind,
  referenceKey,
  referencesOfPod,
  referencesOfVolume,
  type VolumeReferences,
} from './references.ts'

interface PodNode {
  readonly node: string
  readonly references: ReadonlySet<ReferenceKey>
}

/** The graph of nodes, pods and the objects that pods reference. Feed it through its event handlers. */
export class NodeGraph {
  readonly #domain: string
  readonly #pods = new Map<string, PodNode>()
  /** Number of referencing pods by reference and node. */
  readonly #needed = new Map<ReferenceKey, Map<string, number>>()
  readonly #volumes = new Map<string, VolumeReferences>()
  readonly #volumesOfSecret = new Map<ReferenceKey, Set<string>>()
  readonly #attachments = new Map<string, string>()
  readonly #slices = new Map<string, string>()

  constructor(options: { readonly profile?: NamingProfile } = {}) {
    this.#domain = (options.profile ?? stockProfile).domain
  }

  readonly pods: ObjectEventHandler = {
    put: (pod) => {
      this.#removePod(podKey(pod))
      const node = nodeOfPod(pod)
      if (node !== '') this.#addPod(podKey(pod), { node, references: referencesOfPod(pod, this.#domain) })
    },
    remove: (pod) => this.#removePod(podKey(pod)),
    clear: () => {
      this.#pods.clear()
      this.#needed.clear()
    },
  }

  readonly volumes: ObjectEventHandler = {
    put: (volume) => {
      this.#removeVolume(nameOf(volume))
      const references = referencesOfVolume(volume)
      if (references !== undefined) this.#addVolume(nameOf(volume), references)
    },
    remove: (volume) => this.#removeVolume(nameOf(volume)),
    clear: () => {
      this.#volumes.clear()
      this.#volumesOfSecret.clear()
    },
  }

  readonly attachments: ObjectEventHandler = nodeNames(this.#attachments)
  readonly slices: ObjectEventHandler = nodeNames(this.#slices)

  /** Whether a pod of the node references the object, directly or through a claim and its volume. */
  needs(node: string, kind: ReferredKind, namespace: string, name: string): boolean {
    const key = referenceKey(kind, namespace, name)
    if (this.#needed.get(key)?.has(node) === true) return true
    if (kind !== 'secret') return false
    for (const volume of this.#volumesOfSecret.get(key) ?? []) if (this.mounts(node, volume)) return true
    return false
  }

  /** Whether a pod of the node uses the claim that the persistent volume is bound to. */
  mounts(node: string, volume: string): boolean {
    const references = this.#volumes.get(volume)
    return references !== undefined && this.#needed.get(references.claim)?.has(node) === true
  }

  /** Whether the pod runs on the node. */
  runs(node: string, namespace: string, pod: string): boolean {
    return this.#pods.get(`${namespace}/${pod}`)?.node === node
  }

  /** Whether the volume attachment is for the node. */
  attaches(node: string, attachment: string): boolean {
    return this.#attachments.get(attachment) === node
  }

  /** Whether the resource slice belongs to the node. */
  publishes(node: string, slice: string): boolean {
    return this.#slices.get(slice) === node
  }

  #addPod(key: string, pod: PodNode): void {
    this.#pods.set(key, pod)
    for (const reference of pod.references) {
      let nodes = this.#needed.get(reference)
      if (nodes === undefined) {
        nodes = new Map()
        this.#needed.set(reference, nodes)
      }
      nodes.set(pod.node, (nodes.get(pod.node) ?? 0) + 1)
    }
  }

  #removePod(key: string): void {
    const pod = this.#pods.get(key)
    if (pod === undefined) return
    this.#pods.delete(key)
    for (const reference of pod.references) {
      const nodes = this.#needed.get(reference)
      const count = nodes?.get(pod.node) ?? 0
      if (count > 1) nodes?.set(pod.node, count - 1)
      else nodes?.delete(pod.node)
      if (nodes?.size === 0) this.#needed.delete(reference)
    }
  }

  #addVolume(name: string, references: VolumeReferences): void {
    this.#volumes.set(name, references)
    for (const secret of references.secrets) {
      const volumes = this.#volumesOfSecret.get(secret)
      if (volumes === undefined) this.#volumesOfSecret.set(secret, new Set([name]))
      else volumes.add(name)
    }
  }

  #removeVolume(name: string): void {
    const references = this.#volumes.get(name)
    if (references === undefined) return
    this.#volumes.delete(name)
    for (const secret of references.secrets) {
      const volumes = this.#volumesOfSecret.get(secret)
      volumes?.delete(name)
      if (volumes?.size === 0) this.#volumesOfSecret.delete(secret)
    }
  }
}

/** Tracks `spec.nodeName` by object name. */
function nodeNames(names: Map<string, string>): ObjectEventHandler {
  return {
    put: (object) => {
      const { nodeName = '' } = (object['spec'] ?? {}) as { readonly nodeName?: string }
      if (nodeName === '') names.delete(nameOf(object))
      else names.set(nameOf(object), nodeName)
    },
    remove: (object) => void names.delete(nameOf(object)),
    clear: () => names.clear(),
  }
}

function podKey({ metadata }: StoredObject): string {
  return `${metadata.namespace ?? ''}/${metadata.name ?? ''}`
}

function nameOf({ metadata }: StoredObject): string {
  return metadata.name ?? ''
}
