import type { Informer } from '@krmkit/client'
import { ApiError } from '@krmkit/meta'
import { controllerOf } from '@krmkit/meta/validation'
import { errorText, ObjectEvents } from '../events/object-events.ts'
import { ignoreNotFound, ignoreReasons } from '../framework/api-errors.ts'
import type { ControllerContext } from '../interfaces.ts'
import { mergeMaps } from '../workloads/merge-maps.ts'
import { type Pod, pods, type ReadonlyPod } from '../workloads/objects.ts'
import { createPod, deletePod } from '../workloads/pod-control.ts'
import { changedOwners, isStale } from './claim-owners.ts'
import {
  type Claim,
  claimName,
  claimNames,
  claimOf,
  claims,
  identityLabels,
  ordinalOf,
  type ReadonlyStatefulSet,
  type StatefulSet,
  statefulSets,
  usesClaims,
  withClaims,
} from './objects.ts'

/** Writes the pods and claims of stateful sets. */
export class StatefulPods {
  readonly #context: ControllerContext
  readonly #claims: Informer<Claim>
  readonly #events: ObjectEvents<StatefulSet>

  constructor(context: ControllerContext) {
    this.#context = context
    this.#events = new ObjectEvents(context, statefulSets, 'statefulset-controller')
    this.#claims = context.informers.of(claims)
  }

  async synced(): Promise<void> {
    if (!this.#claims.hasSynced) await this.#claims.synced
  }

  /** Creates the claims of a pod, then the pod. */
  async create(set: ReadonlyStatefulSet, pod: Pod): Promise<void> {
    const create = async () => {
      await this.createClaims(set, pod)
      await createPod(pod, this.#context)
    }
    try {
      await this.#recorded(set, { verb: 'create', subject: `Pod ${pod.metadata.name}`, done: 'successful' }, create)
    } catch (error) {
      if (!(ApiError.is(error) && error.reason === 'AlreadyExists')) throw error
      // The informer may not have delivered the pod yet.
      const { client, signal } = this.#context
      const { name = '', namespace = '' } = pod.metadata
      const live = await ignoreNotFound(client.get(pods, name, { namespace, signal }))
      if (controllerOf(live?.metadata.ownerReferences)?.uid !== set.metadata.uid) throw error
    }
  }

  async delete(set: ReadonlyStatefulSet, pod: ReadonlyPod): Promise<void> {
    const change = { verb: 'delete', subject: `Pod ${pod.metadata.name}`, done: 'successful' } as const
    // A conflict means that a newer pod has the name.
    await ignoreReasons(
      this.#recorded(set, change, () => deletePod(pod, this.#context)),
      ['NotFound', 'Conflict'],
    )
  }

  /** Changes a pod or claim and records the outcome as an event. */
  async #recorded(
    set: ReadonlyStatefulSet,
    { verb, subject, done }: { readonly verb: 'create' | 'delete' | 'update'; readonly subject: string; readonly done: string },
    change: () => Promise<unknown>,
  ): Promise<void> {
    const reason = `${verb.charAt(0).toUpperCase()}${verb.slice(1)}`
    const text = `${verb} ${subject} in StatefulSet ${set.metadata.name}`
    try {
      await change()
    } catch (error) {
      const isExpected = ApiError.is(error) && ['AlreadyExists', 'NotFound', 'Conflict'].includes(error.reason)
      if (!isExpected) this.#events.warning(set, `Failed${reason}`, `${text} failed error: ${errorText(error)}`)
      throw error
    }
    this.#events.normal(set, `Successful${reason}`, `${text} ${done}`)
  }

  /** Creates missing claims of a pod and sets their owners. @throws Error when a claim is being deleted */
  async createClaims(set: ReadonlyStatefulSet, pod: ReadonlyPod): Promise<void> {
    const { client, fieldManager, signal } = this.#context
    const { namespace = '' } = set.metadata
    const ordinal = ordinalOf(set, pod) ?? 0
    for (const template of set.spec?.volumeClaimTemplates ?? []) {
      const name = claimName(set, template, ordinal)
      const known = this.#claims.get(name, namespace)
      if (known?.metadata.deletionTimestamp !== undefined) throw new Error(`pvc ${name} is being deleted`)
      if (known !== undefined) continue
      const change = { verb: 'create', subject: `Claim ${name} Pod ${pod.metadata.name}`, done: 'success' } as const
      const create = async () => client.create(claims, await claimOf(set, template, ordinal), { fieldManager, signal })
      await ignoreReasons(this.#recorded(set, change, create), ['AlreadyExists'])
    }
    await this.updateClaims(set, pod)
  }

  /** Sets the owners of the claims of a pod by the retention policy. */
  async updateClaims(set: ReadonlyStatefulSet, pod: ReadonlyPod): Promise<void> {
    const { client, fieldManager, signal } = this.#context
    const { namespace = '' } = set.metadata
    for (const name of claimNames(set, ordinalOf(set, pod) ?? 0)) {
      const known = this.#claims.get(name, namespace) ?? (await ignoreNotFound(client.get(claims, name, { namespace, signal })))
      const owners = known === undefined ? undefined : changedOwners(known, set, pod)
      if (known === undefined || owners === undefined) continue
      const { ownerReferences: _, ...rest } = known.metadata as Claim['metadata']
      const changed = {
        ...(known as Claim),
        metadata: { ...rest, ...(owners.length === 0 ? {} : { ownerReferences: owners }) },
      }
      await ignoreNotFound(client.update(claims, changed, { fieldManager, signal }))
    }
  }

  /** Whether a claim belongs to an earlier pod and will be deleted with it, so that a new pod must wait. */
  hasStaleClaim(set: ReadonlyStatefulSet, pod: ReadonlyPod): boolean {
    if (set.spec?.persistentVolumeClaimRetentionPolicy?.whenScaled !== 'Delete') return false
    return claimNames(set, ordinalOf(set, pod) ?? 0).some((name) => {
      const known = this.#claims.get(name, set.metadata.namespace ?? '')
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
    const { metadata, spec = {} } = pod as Pod
    const labels = await mergeMaps(metadata.labels, identity)
    const changed = { ...(pod as Pod), metadata: { ...metadata, labels }, spec: withClaims(set, spec, ordinal) }
    const change = { verb: 'update', subject: `Pod ${pod.metadata.name}`, done: 'successful' } as const
    await this.#recorded(set, change, () => client.update(pods, changed, { fieldManager, signal }))
  }
}
