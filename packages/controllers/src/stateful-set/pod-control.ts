import type { Informer } from '@krmkit/client'
import { ApiError } from '@krmkit/meta'
import { controllerOf } from '@krmkit/meta/validation'
import { ignoreNotFound, ignoreReasons } from '../framework/api-errors.ts'
import type { ControllerContext } from '../interfaces.ts'
import { type Pod, pods, type ReadonlyPod } from '../workloads/objects.ts'
import { createPod, deletePod } from '../workloads/pod-control.ts'
import { changedOwners, isStale } from './claim-owners.ts'
import {
  type Claim,
  claims,
  claimsOf,
  identityLabels,
  ordinalOf,
  type ReadonlyStatefulSet,
  usesClaims,
  withClaims,
} from './objects.ts'

/** Writes the pods and claims of stateful sets. */
export class StatefulPods {
  readonly #context: ControllerContext
  readonly #claims: Informer<Claim>

  constructor(context: ControllerContext) {
    this.#context = context
    this.#claims = context.informers.of(claims)
  }

  async synced(): Promise<void> {
    if (!this.#claims.hasSynced) await this.#claims.synced
  }

  /** Creates a pod after its claims. */
  async create(set: ReadonlyStatefulSet, pod: Pod): Promise<void> {
    await this.createClaims(set, pod)
    try {
      await createPod(pod, this.#context)
    } catch (error) {
      if (!(ApiError.is(error) && error.reason === 'AlreadyExists')) throw error
      // The informer may not show the pod yet.
      const { client, signal } = this.#context
      const { name = '', namespace = '' } = pod.metadata
      const live = await ignoreNotFound(client.get(pods, name, { namespace, signal }))
      if (controllerOf(live?.metadata.ownerReferences)?.uid !== set.metadata.uid) throw error
    }
  }

  async delete(pod: ReadonlyPod): Promise<void> {
    // Conflict: a newer pod has the name.
    await ignoreReasons(deletePod(pod, this.#context), ['NotFound', 'Conflict'])
  }

  /** Creates missing claims of a pod and sets their owners. @throws Error when a claim is being deleted */
  async createClaims(set: ReadonlyStatefulSet, pod: ReadonlyPod): Promise<void> {
    const { client, fieldManager, signal } = this.#context
    for (const claim of claimsOf(set, ordinalOf(set, pod) ?? 0)) {
      const { name = '', namespace = '' } = claim.metadata
      const known = this.#claims.get(name, namespace)
      if (known?.metadata.deletionTimestamp !== undefined) throw new Error(`pvc ${name} is being deleted`)
      if (known === undefined) await ignoreReasons(client.create(claims, claim, { fieldManager, signal }), ['AlreadyExists'])
    }
    await this.updateClaims(set, pod)
  }

  /** Sets the owners of the claims of a pod by the retention policy. */
  async updateClaims(set: ReadonlyStatefulSet, pod: ReadonlyPod): Promise<void> {
    const { client, fieldManager, signal } = this.#context
    for (const { metadata } of claimsOf(set, ordinalOf(set, pod) ?? 0)) {
      const { name = '', namespace = '' } = metadata
      const known = this.#claims.get(name, namespace) ?? (await ignoreNotFound(client.get(claims, name, { namespace, signal })))
      const owners = known === undefined ? undefined : changedOwners(known, set, pod)
      if (known === undefined || owners === undefined) continue
      const { ownerReferences: _, ...rest } = structuredClone(known.metadata) as Claim['metadata']
      const changed = {
        ...(structuredClone(known) as Claim),
        metadata: { ...rest, ...(owners.length === 0 ? {} : { ownerReferences: owners }) },
      }
      await ignoreNotFound(client.update(claims, changed, { fieldManager, signal }))
    }
  }

  /** Whether a claim belongs to an earlier pod and will be deleted with it, so that a new pod must wait. */
  hasStaleClaim(set: ReadonlyStatefulSet, pod: ReadonlyPod): boolean {
    if (set.spec?.persistentVolumeClaimRetentionPolicy?.whenScaled !== 'Delete') return false
    return claimsOf(set, ordinalOf(set, pod) ?? 0).some(({ metadata }) => {
      const known = this.#claims.get(metadata.name ?? '', metadata.namespace ?? '')
      return known !== undefined && isStale(known, pod, pods)
    })
  }

  /** Restores the labels, volumes and claims of a pod. */
  async restore(set: ReadonlyStatefulSet, pod: ReadonlyPod): Promise<void> {
    const { client, fieldManager, profile, signal } = this.#context
    const ordinal = ordinalOf(set, pod) ?? 0
    const identity = identityLabels(pod.metadata.name ?? '', ordinal, profile)
    const [nameLabel = ''] = Object.keys(identity)
    const hasIdentity = pod.metadata.labels?.[nameLabel] === pod.metadata.name
    const hasStorage = usesClaims(set, pod, ordinal)
    await this.updateClaims(set, pod)
    if (hasIdentity && hasStorage) return
    if (!hasStorage) await this.createClaims(set, pod)
    const changed = structuredClone(pod) as Pod
    changed.metadata.labels = { ...changed.metadata.labels, ...identity }
    changed.spec = withClaims(set, changed.spec ?? {}, ordinal)
    await client.update(pods, changed, { fieldManager, signal })
  }
}
