import type { Informer } from '@krmkit/client'
import type { DeepReadonly } from '@krmkit/meta'
import type { ControllerContext } from '../interfaces.ts'
import { bestVolume, classOf } from '../volume/matching.ts'
import {
  type Claim,
  claims,
  ephemeralClaimName,
  type StorageClass,
  storageClasses,
  type Volume,
  type VolumeAnnotationKeys,
  volumeAnnotationKeys,
  volumes,
} from '../volume/objects.ts'
import { matchesTerm } from '../workloads/node-selection.ts'
import type { PodVolumes, Refusal } from './filter-context.ts'
import type { NodeInfo, PodInfo } from './node-info.ts'
import type { ReadonlyNode } from './objects.ts'

type ReadonlyClaim = DeepReadonly<Claim>

/** How an unbound claim is satisfied on a node. */
type Choice =
  | { readonly kind: 'volume'; readonly volume: DeepReadonly<Volume> }
  | { readonly kind: 'provision' }
  | { readonly kind: 'none' }

const waitMode = 'WaitForFirstConsumer'
const noProvisioner = '/no-provisioner'
const rwop = 'ReadWriteOncePod'

/** Checks which nodes satisfy the claims of pods, and binds the claims. */
export class VolumeBinding {
  readonly #context: ControllerContext
  readonly #keys: VolumeAnnotationKeys
  readonly #claims: Informer<Claim>
  readonly #volumes: Informer<Volume>
  readonly #classes: Informer<StorageClass>

  constructor(context: ControllerContext) {
    const { informers, profile } = context
    this.#context = context
    this.#keys = volumeAnnotationKeys(profile)
    this.#claims = informers.of(claims)
    this.#volumes = informers.of(volumes)
    this.#classes = informers.of(storageClasses(profile))
  }

  get informers(): readonly Informer<never>[] {
    return [this.#claims, this.#volumes, this.#classes] as unknown as readonly Informer<never>[]
  }

  of(info: PodInfo): PodVolumes {
    const names = claimNames(info)
    if (names.length === 0) return { problem: undefined, refusal: () => undefined }
    const problem = this.#problem(info, names)
    const found = names.flatMap((name) => this.#claims.get(name, info.namespace) ?? [])
    return { problem, refusal: (_, node) => this.#refusal(found, node) }
  }

  /** Whether all claims of a pod are bound. */
  areBound(info: PodInfo): boolean {
    return claimNames(info).every((name) => isBound(this.#claims.get(name, info.namespace), this.#keys))
  }

  /** Starts binding the unbound claims of a pod to volumes for the node. @throws ApiError */
  async bind(info: PodInfo, node: ReadonlyNode): Promise<void> {
    const { client, fieldManager, signal } = this.#context
    const used = new Set<string>()
    for (const name of claimNames(info)) {
      const claim = this.#claims.get(name, info.namespace)
      if (claim === undefined || isBound(claim, this.#keys)) continue
      const choice = this.#choose(claim, node, used)
      if (choice.kind === 'volume') {
        const volume = structuredClone(choice.volume) as Volume
        used.add(volume.metadata.name ?? '')
        const { namespace = '', uid = '' } = claim.metadata
        const claimRef = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace, name, uid }
        volume.spec = { ...volume.spec, claimRef }
        volume.metadata.annotations = { ...volume.metadata.annotations, [this.#keys.boundByController]: 'yes' }
        await client.update(volumes, volume, { fieldManager, signal })
      } else {
        const changed = structuredClone(claim) as Claim
        changed.metadata.annotations = { ...changed.metadata.annotations, [this.#keys.selectedNode]: node.metadata.name ?? '' }
        await client.update(claims, changed, { fieldManager, signal })
      }
    }
  }

  #problem(info: PodInfo, names: readonly string[]): string | undefined {
    for (const name of names) {
      const claim = this.#claims.get(name, info.namespace)
      if (claim === undefined) return `persistentvolumeclaim "${name}" not found`
      if (claim.status?.phase === 'Lost')
        return `persistentvolumeclaim "${name}" bound to non-existent persistentvolume "${claim.spec?.volumeName ?? ''}"`
      if (claim.metadata.deletionTimestamp !== undefined) return `persistentvolumeclaim "${name}" is being deleted`
    }
    const isImmediate = (name: string) => {
      const claim = this.#claims.get(name, info.namespace)
      return claim !== undefined && !isBound(claim, this.#keys) && !this.#waits(claim)
    }
    return names.some(isImmediate) ? 'pod has unbound immediate PersistentVolumeClaims' : undefined
  }

  #refusal(found: readonly ReadonlyClaim[], { node, pods }: NodeInfo): Refusal | undefined {
    const exclusive = found.filter(({ spec }) => spec?.accessModes?.includes(rwop)).map(({ metadata }) => metadata.name ?? '')
    const namespace = found[0]?.metadata.namespace
    const isTaken = [...pods.values()].some(
      (other) => other.namespace === namespace && claimNames(other).some((name) => exclusive.includes(name)),
    )
    if (isTaken) {
      const reason = 'node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode'
      return { plugin: 'VolumeRestrictions', reasons: [reason], isResolvable: true }
    }
    const reasons = new Set<string>()
    const used = new Set<string>()
    for (const claim of found) {
      const reason = this.#claimReason(claim, node, used)
      if (reason !== undefined) reasons.add(reason)
    }
    return reasons.size === 0 ? undefined : { plugin: 'VolumeBinding', reasons: [...reasons], isResolvable: false }
  }

  #claimReason(claim: ReadonlyClaim, node: ReadonlyNode, used: Set<string>): string | undefined {
    if (isBound(claim, this.#keys)) {
      const volume = this.#volumes.get(claim.spec?.volumeName ?? '')
      if (volume === undefined) return 'node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)'
      return isReachable(volume, node) ? undefined : "node(s) didn't match PersistentVolume's node affinity"
    }
    const choice = this.#choose(claim, node, used)
    if (choice.kind === 'volume') used.add(choice.volume.metadata.name ?? '')
    return choice.kind === 'none' ? "node(s) didn't find available persistent volumes to bind" : undefined
  }

  #choose(claim: ReadonlyClaim, node: ReadonlyNode, used: ReadonlySet<string>): Choice {
    const candidates = this.#volumes.list().filter((volume) => !used.has(volume.metadata.name ?? '') && isReachable(volume, node))
    const options = { annotationKeys: this.#keys, waits: false }
    const best = bestVolume(claim, candidates, options)
    if (best !== undefined) return { kind: 'volume', volume: best }
    const storageClass = this.#classes.get(classOf(claim, this.#keys))
    const { provisioner = '', allowedTopologies = [] } = storageClass ?? {}
    if (provisioner === '' || provisioner.endsWith(noProvisioner)) return { kind: 'none' }
    const labels = node.metadata.labels ?? {}
    const isAllowed =
      allowedTopologies.length === 0 ||
      allowedTopologies.some(({ matchLabelExpressions = [] }) =>
        matchLabelExpressions.every(({ key, values }) => values.includes(labels[key] ?? '')),
      )
    return isAllowed ? { kind: 'provision' } : { kind: 'none' }
  }

  #waits(claim: ReadonlyClaim): boolean {
    if ((claim.spec?.volumeName ?? '') !== '') return false
    const name = classOf(claim, this.#keys)
    return this.#classes.get(name)?.volumeBindingMode === waitMode
  }
}

function isBound(claim: ReadonlyClaim | undefined, keys: VolumeAnnotationKeys): boolean {
  return (claim?.spec?.volumeName ?? '') !== '' && claim?.metadata.annotations?.[keys.bindCompleted] !== undefined
}

function isReachable({ spec }: DeepReadonly<Volume>, node: ReadonlyNode): boolean {
  const terms = spec?.nodeAffinity?.required?.nodeSelectorTerms
  return terms === undefined || terms.some((term) => matchesTerm(term, node))
}

function claimNames({ pod }: PodInfo): string[] {
  return (pod.spec?.volumes ?? []).flatMap(({ name, persistentVolumeClaim, ephemeral }) => {
    if (persistentVolumeClaim !== undefined) return [persistentVolumeClaim.claimName]
    return ephemeral === undefined ? [] : [ephemeralClaimName(pod, { name })]
  })
}
