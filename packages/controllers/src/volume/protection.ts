import type { Informer, ResourceRef } from '@krmkit/client'
import type { ApiObject, DeepReadonly } from '@krmkit/meta'
import { gateEnabled } from '@krmkit/meta/feature-gates'
import { ignoreNotFound } from '../framework/api-errors.ts'
import type { ObjectIndex } from '../framework/shared-informers.ts'
import { disposeSubscriptions } from '../framework/subscriptions.ts'
import type { Controller, ControllerContext } from '../interfaces.ts'
import { claimNames, isDeleted, needsClaim, usesClaim, withUse } from './claim-use.ts'
import { type Claim, claims, keyOf, type Pod, pods, type Volume, volumeAnnotationKeys, volumes } from './objects.ts'

/**
 * Protects claims and volumes in use: each has a finalizer, which is removed once the object is being deleted and no longer
 * in use.
 */

/** Protects claims while a scheduled pod uses them. */
export const claimProtectionController: Controller = {
  name: 'persistentvolumeclaim-protection-controller',
  start: (context) => disposeSubscriptions(new ClaimProtection(context).subscriptions),
}

/** Protects volumes while they are bound. */
export const volumeProtectionController: Controller = {
  name: 'persistentvolume-protection-controller',
  start(context) {
    const finalizer = volumeAnnotationKeys(context.profile).volumeFinalizer
    const known = context.informers.of(volumes)
    const work = context.queue<string>({
      async sync(name) {
        const volume = known.get(name)
        if (volume === undefined) return undefined
        if (!isDeleted(volume)) await addFinalizer(context, { resource: volumes, object: volume, finalizer })
        else if (volume.status?.phase !== 'Bound')
          await removeFinalizer(context, { resource: volumes, object: volume, finalizer })
        return undefined
      },
    })
    const enqueue = (volume: DeepReadonly<Volume>) => {
      if (isDeleted(volume) === hasFinalizer(volume, finalizer)) work.add(volume.metadata.name ?? '')
    }
    return disposeSubscriptions([known.on({ added: enqueue, updated: enqueue })])
  },
}

class ClaimProtection {
  readonly #context: ControllerContext
  readonly #finalizer: string
  /** Whether conditions tell which bound claims are unused. */
  readonly #tracksUse: boolean
  readonly #claims: Informer<Claim>
  readonly subscriptions: (() => void)[] = []
  readonly #add: (key: string) => void
  #watchesPods = false

  constructor(context: ControllerContext) {
    this.#context = context
    this.#finalizer = volumeAnnotationKeys(context.profile).claimFinalizer
    this.#tracksUse = gateEnabled('PersistentVolumeClaimUnusedSinceTime', context.features)
    this.#claims = context.informers.of(claims)
    const work = context.queue<string>({ sync: (key) => this.#sync(key) })
    this.#add = (key) => work.add(key)
    const enqueue = (claim: DeepReadonly<Claim>) => {
      // A condition may have been computed while a pod changed, so it is compared after each write.
      const hasCondition = this.#tracksUse && isBound(claim) && !isDeleted(claim)
      if (hasCondition || isDeleted(claim) === hasFinalizer(claim, this.#finalizer)) this.#add(keyOf(claim))
    }
    this.subscriptions.push(this.#claims.on({ added: enqueue, updated: enqueue }))
  }

  async #sync(key: string): Promise<undefined> {
    const [namespace = '', name = ''] = key.split('/')
    const claim = this.#claims.get(name, namespace)
    if (claim === undefined) return undefined
    if (!isDeleted(claim)) {
      const object = this.#tracksUse && isBound(claim) ? await this.#writeUse(claim) : claim
      await addFinalizer(this.#context, { resource: claims, object, finalizer: this.#finalizer })
    } else if (hasFinalizer(claim, this.#finalizer)) {
      if (await this.#isUsed(claim)) this.#watchPods()
      else await removeFinalizer(this.#context, { resource: claims, object: claim, finalizer: this.#finalizer })
    }
    return undefined
  }

  /** Writes the condition that tells whether pods use a claim. @returns the claim as it is then */
  async #writeUse(claim: DeepReadonly<Claim>): Promise<DeepReadonly<Claim>> {
    this.#watchPods()
    const { client, clock, fieldManager, informers, signal } = this.#context
    const known = informers.of(pods)
    if (!known.hasSynced) await known.synced
    const isUsed = this.#podsByClaim()
      .get(keyOf(claim))
      .some((pod) => needsClaim(pod, claim))
    const changed = withUse(claim, isUsed, clock.now())
    if (changed === undefined) return claim
    return client.update(claims, changed, { subresource: 'status', fieldManager, signal })
  }

  #podsByClaim(): ObjectIndex<Pod> {
    const keysOf = (pod: DeepReadonly<Pod>) => claimNames(pod).map((name) => `${pod.metadata.namespace ?? ''}/${name}`)
    return this.#context.informers.index(pods, 'claim', keysOf)
  }

  /** Also lists pods on the server, because the informer may not have delivered a new pod yet. */
  async #isUsed(claim: DeepReadonly<Claim>): Promise<boolean> {
    const { client, signal } = this.#context
    const namespace = claim.metadata.namespace ?? ''
    for await (const { items } of client.listPages(pods, { namespace, signal })) {
      if (items.some((pod) => usesClaim(pod, claim))) return true
    }
    return false
  }

  /** Starts the informer of pods with the first terminating claim, or the first bound one where conditions tell their use. */
  #watchPods(): void {
    if (this.#watchesPods) return
    this.#watchesPods = true
    const enqueue = (pod: DeepReadonly<Pod>) => {
      const namespace = pod.metadata.namespace ?? ''
      for (const name of claimNames(pod)) {
        const claim = this.#claims.get(name, namespace)
        if (claim !== undefined && (this.#tracksUse || isDeleted(claim))) this.#add(keyOf(claim))
      }
    }
    const updated = (pod: DeepReadonly<Pod>, before: DeepReadonly<Pod>) => {
      enqueue(before)
      if (this.#tracksUse) enqueue(pod)
    }
    const added = this.#tracksUse ? { added: enqueue } : {}
    this.subscriptions.push(this.#context.informers.of(pods).on({ ...added, deleted: enqueue, updated }))
    // Pods deleted before the informer started cause no event.
    for (const claim of this.#claims.list()) if (isDeleted(claim)) this.#add(keyOf(claim))
  }
}

function isBound({ status }: DeepReadonly<Claim>): boolean {
  return status?.phase === 'Bound'
}

function hasFinalizer({ metadata }: DeepReadonly<ApiObject>, finalizer: string): boolean {
  return metadata.finalizers?.includes(finalizer) ?? false
}

interface Change<T extends ApiObject> {
  readonly resource: ResourceRef<T>
  readonly object: DeepReadonly<T>
  readonly finalizer: string
}

async function addFinalizer<T extends ApiObject>(context: ControllerContext, change: Change<T>): Promise<void> {
  if (hasFinalizer(change.object, change.finalizer)) return
  await write(context, change, [...(change.object.metadata.finalizers ?? []), change.finalizer])
}

async function removeFinalizer<T extends ApiObject>(context: ControllerContext, change: Change<T>): Promise<void> {
  const { finalizers = [] } = change.object.metadata
  if (!finalizers.includes(change.finalizer)) return
  await write(
    context,
    change,
    finalizers.filter((each) => each !== change.finalizer),
  )
}

/** Removes the finalizer from the observed version; a concurrent change is a conflict. */
async function write<T extends ApiObject>(context: ControllerContext, change: Change<T>, finalizers: string[]): Promise<void> {
  const { client, fieldManager, signal } = context
  const object = structuredClone(change.object) as T
  if (finalizers.length === 0) delete object.metadata.finalizers
  else object.metadata.finalizers = finalizers
  await ignoreNotFound(client.update(change.resource, object, { fieldManager, signal }))
}
