import type { Informer } from '@krmkit/client'
import { ApiError, type DeepReadonly } from '@krmkit/meta'
import { ignoreNotFound } from '../framework/api-errors.ts'
import { disposeSubscriptions } from '../framework/subscriptions.ts'
import type { Controller, ControllerContext } from '../interfaces.ts'
import { boundClaim, boundVolume, claimInPhase, unboundVolume, volumeInPhase } from './binding.ts'
import { BindingEvents } from './binding-events.ts'
import { bestVolume, classOf, mismatch, modeOf, refersTo } from './matching.ts'
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
} from './objects.ts'

/**
 * Binds claims and volumes.
 *
 *     volume:  Pending --> Available --bound--> Bound --claim gone--> Released (Retain; Delete by its provisioner) | Failed
 *     claim:   Pending --bound--> Bound --volume gone--> Lost
 *
 * External provisioners create volumes: this controller annotates the claim with the provisioner of its class.
 *
 * @see Configuration and storage specification, 2.4, 2.5 and 3
 */
export const volumeBinder: Controller = {
  name: 'persistentvolume-binder-controller',
  start: (context) => disposeSubscriptions(new VolumeBinder(context).subscriptions),
}

class VolumeBinder {
  readonly #context: ControllerContext
  readonly #annotationKeys: VolumeAnnotationKeys
  readonly #claims: Informer<Claim>
  readonly #volumes: Informer<Volume>
  readonly subscriptions: (() => void)[]
  /** Keys of claims without a volume. */
  readonly #waiting = new Set<string>()
  readonly #addClaim: (key: string) => void
  readonly #addVolume: (name: string) => void
  readonly #events: BindingEvents
  #classes: Informer<StorageClass> | undefined

  constructor(context: ControllerContext) {
    this.#context = context
    this.#events = new BindingEvents(context)
    this.#annotationKeys = volumeAnnotationKeys(context.profile)
    this.#claims = context.informers.of(claims)
    this.#volumes = context.informers.of(volumes)
    // A single worker, so that two claims cannot select the same volume.
    const work = context.queue<string>({ sync: (key) => this.#sync(key), workers: 1 })
    this.#addClaim = (key) => work.add(`claim ${key}`)
    this.#addVolume = (name) => work.add(`volume ${name}`)
    this.subscriptions = [this.#watchClaims(), this.#watchVolumes()]
  }

  #watchClaims(): () => void {
    const enqueue = (claim: DeepReadonly<Claim>) => this.#addClaim(keyOf(claim))
    return this.#claims.on({
      added: enqueue,
      updated: enqueue,
      deleted: (claim) => {
        this.#waiting.delete(keyOf(claim))
        const name = claim.spec?.volumeName ?? ''
        if (name !== '') this.#addVolume(name)
      },
    })
  }

  #watchVolumes(): () => void {
    const enqueue = (volume: DeepReadonly<Volume>) => {
      this.#addVolume(volume.metadata.name ?? '')
      const { namespace, name } = volume.spec?.claimRef ?? {}
      if (name !== undefined) this.#addClaim(`${namespace}/${name}`)
      else if (volume.status?.phase === 'Available') for (const key of this.#waiting) this.#addClaim(key)
    }
    return this.#volumes.on({
      added: enqueue,
      updated: enqueue,
      deleted: ({ spec: { claimRef: { namespace, name } = {} } = {} }) => {
        if (name !== undefined) this.#addClaim(`${namespace}/${name}`)
      },
    })
  }

  async #sync(key: string): Promise<undefined> {
    if (!this.#claims.hasSynced || !this.#volumes.hasSynced) {
      await Promise.all([this.#claims.synced, this.#volumes.synced])
    }
    const [what, name = ''] = key.split(' ')
    if (what === 'volume') {
      const volume = this.#volumes.get(name)
      if (volume !== undefined) await this.#syncVolume(volume)
      return undefined
    }
    const [namespace = '', claimName = ''] = name.split('/')
    const claim = this.#claims.get(claimName, namespace)
    if (claim === undefined) return undefined
    if (claim.metadata.annotations?.[this.#annotationKeys.bindCompleted] !== undefined) await this.#syncBoundClaim(claim)
    else await this.#syncUnboundClaim(claim)
    return undefined
  }

  async #syncVolume(volume: DeepReadonly<Volume>): Promise<void> {
    const reference = volume.spec?.claimRef
    if (reference === undefined || (reference.uid ?? '') === '') return this.#setVolumePhase(volume, 'Available')
    const claim = await this.#claimOf(volume)
    if (claim === undefined) return this.#release(volume)
    const wanted = claim.spec?.volumeName ?? ''
    if (wanted === volume.metadata.name) return this.#setVolumePhase(volume, 'Bound')
    if (wanted === '') {
      if (modeOf(volume) === modeOf(claim)) this.#addClaim(keyOf(claim))
      else this.#events.wrongMode(volume, claim)
      return undefined
    }
    // The claim is already bound to another volume.
    const { provisionedBy } = this.#annotationKeys
    if (volume.metadata.annotations?.[provisionedBy] !== undefined && reclaimPolicyOf(volume) === 'Delete')
      return this.#release(volume)
    const changed = unboundVolume(volume, this.#annotationKeys)
    if (changed !== undefined) await this.#setVolumePhase(await this.#writeVolume(changed), 'Available')
  }

  /** Returns the claim that a volume refers to by uid; asks the server if the informer does not have it. */
  async #claimOf(volume: DeepReadonly<Volume>): Promise<DeepReadonly<Claim> | undefined> {
    const { namespace = '', name = '', uid } = volume.spec?.claimRef ?? {}
    const known = this.#claims.get(name, namespace)
    if (known?.metadata.uid === uid) return known
    const { client, signal } = this.#context
    const live = await ignoreNotFound(client.get(claims, name, { namespace, signal }))
    return live?.metadata.uid === uid ? live : undefined
  }

  /** Releases a volume whose claim is deleted, according to its reclaim policy. */
  async #release(volume: DeepReadonly<Volume>): Promise<void> {
    const { phase } = volume.status ?? {}
    if (phase !== 'Released' && phase !== 'Failed') await this.#setVolumePhase(volume, 'Released')
    const policy = reclaimPolicyOf(volume)
    if (policy === 'Recycle')
      await this.#fail(volume, { reason: 'VolumeFailedRecycle', message: 'No recycler plugin found for the volume!' })
    // External provisioners delete their volumes; without one, deletion fails and is reported.
    else if (policy === 'Delete' && volume.spec?.csi === undefined && !this.#isProvisioned(volume)) {
      const plugin = `deleter volume plugin for volume ${JSON.stringify(volume.metadata.name)}`
      const message = `error getting ${plugin}: no deletable volume plugin matched`
      await this.#fail(volume, { reason: 'VolumeFailedDelete', message })
    }
  }

  #isProvisioned(volume: DeepReadonly<Volume>): boolean {
    return volume.metadata.annotations?.[this.#annotationKeys.provisionedBy] !== undefined
  }

  async #syncUnboundClaim(claim: DeepReadonly<Claim>): Promise<void> {
    const wanted = claim.spec?.volumeName ?? ''
    if (wanted !== '') return this.#bindNamed(claim, wanted)
    const found = await this.#classOf(claim)
    const waits = found?.volumeBindingMode === 'WaitForFirstConsumer' && !this.#isScheduled(claim)
    const volume = bestVolume(claim, this.#volumes.list(), { annotationKeys: this.#annotationKeys, waits })
    if (volume !== undefined) return this.#bind(volume, claim)
    this.#waiting.add(keyOf(claim))
    if (await this.#giveDefaultClass(claim)) return undefined
    const className = classOf(claim, this.#annotationKeys)
    if (waits) await this.#events.waits(claim)
    else if (className === '') this.#events.noClass(claim)
    else if (found === undefined) this.#events.classNotFound(claim, className)
    const current = waits || found === undefined ? claim : await this.#askProvisioner(claim, found)
    return this.#setClaimPhase(current, 'Pending')
  }

  #isScheduled(claim: DeepReadonly<Claim>): boolean {
    return claim.metadata.annotations?.[this.#annotationKeys.selectedNode] !== undefined
  }

  /** Binds a claim that names its volume. */
  async #bindNamed(claim: DeepReadonly<Claim>, name: string): Promise<void> {
    const volume = this.#volumes.get(name)
    const isFree = volume !== undefined && (volume.spec?.claimRef === undefined || refersTo(volume, claim))
    const suits = isFree && (volume.spec?.claimRef !== undefined || mismatch(volume, claim, this.#annotationKeys) === undefined)
    if (suits) return this.#bind(volume, claim)
    if (isFree) this.#events.mismatched(claim, name, mismatch(volume, claim, this.#annotationKeys) ?? '')
    else if (volume !== undefined) this.#events.taken(claim, name)
    this.#waiting.add(keyOf(claim))
    return this.#setClaimPhase(claim, 'Pending')
  }

  async #syncBoundClaim(claim: DeepReadonly<Claim>): Promise<void> {
    this.#waiting.delete(keyOf(claim))
    const name = claim.spec?.volumeName ?? ''
    const volume = name === '' ? undefined : await this.#volumeOf(name)
    if (volume === undefined) {
      const what = name === '' ? 'reference to PersistentVolume' : 'its PersistentVolume'
      return this.#lose(claim, 'ClaimLost', `Bound claim has lost ${what}. Data on the volume is lost!`)
    }
    const owner = volume.spec?.claimRef
    if (owner !== undefined && owner.uid !== claim.metadata.uid) {
      return this.#lose(claim, 'ClaimMisbound', 'Two claims are bound to the same volume, this one is bound incorrectly')
    }
    return this.#bind(volume, claim)
  }

  async #lose(claim: DeepReadonly<Claim>, reason: 'ClaimLost' | 'ClaimMisbound', message: string): Promise<void> {
    if (claim.status?.phase === 'Lost') return
    await this.#setClaimPhase(claim, 'Lost')
    this.#events.lost(claim, reason, message)
  }

  async #volumeOf(name: string): Promise<DeepReadonly<Volume> | undefined> {
    const { client, signal } = this.#context
    return this.#volumes.get(name) ?? ignoreNotFound(client.get(volumes, name, { signal }))
  }

  /**
   * Binds the volume before the claim, so that a failure in between does not leave a claim bound to a volume of another
   * claim.
   */
  async #bind(volume: DeepReadonly<Volume>, claim: DeepReadonly<Claim>): Promise<void> {
    const taken = boundVolume(volume, claim, this.#annotationKeys)
    await this.#setVolumePhase(taken === undefined ? volume : await this.#writeVolume(taken), 'Bound')
    const { client, fieldManager, signal } = this.#context
    const named = boundClaim(claim, volume, this.#annotationKeys)
    const bound = named === undefined ? claim : await client.update(claims, named, { fieldManager, signal })
    this.#waiting.delete(keyOf(claim))
    await this.#setClaimPhase(bound, 'Bound', volume)
  }

  /** Sets the default class on a claim without a class, even if that class was created after the claim. */
  async #giveDefaultClass(claim: DeepReadonly<Claim>): Promise<boolean> {
    if (
      claim.spec?.storageClassName !== undefined ||
      claim.metadata.annotations?.[this.#annotationKeys.classAnnotation] !== undefined
    ) {
      return false
    }
    const chosen = defaultClass((await this.#classInformer()).list(), this.#annotationKeys)
    if (chosen === undefined) return false
    const { client, fieldManager, signal } = this.#context
    const changed = structuredClone(claim) as Claim
    changed.spec = { ...changed.spec, storageClassName: chosen }
    await ignoreNotFound(client.update(claims, changed, { fieldManager, signal }))
    return true
  }

  /** Annotates a claim with the provisioner of its class, which requests provisioning. */
  async #askProvisioner(claim: DeepReadonly<Claim>, found: DeepReadonly<StorageClass>): Promise<DeepReadonly<Claim>> {
    const { provisioner = '' } = found
    const { annotations = {} } = claim.metadata
    const isStatic = provisioner === `${this.#context.profile.domain}/no-provisioner`
    const isAsked = this.#annotationKeys.provisioner.every((mark) => annotations[mark] === provisioner)
    if (isStatic || isAsked) {
      this.#events.provisions(claim, found, isStatic)
      return claim
    }
    const { client, fieldManager, signal } = this.#context
    const changed = structuredClone(claim) as Claim
    const marked = Object.fromEntries(this.#annotationKeys.provisioner.map((mark) => [mark, provisioner]))
    changed.metadata.annotations = { ...annotations, ...marked }
    const asked = await client.update(claims, changed, { fieldManager, signal })
    this.#events.provisions(asked, found, false)
    return asked
  }

  async #classOf(claim: DeepReadonly<Claim>): Promise<DeepReadonly<StorageClass> | undefined> {
    const name = classOf(claim, this.#annotationKeys)
    const followed = await this.#classInformer()
    return name === '' ? undefined : followed.get(name)
  }

  /** Starts the informer of classes with the first claim without a volume. */
  async #classInformer(): Promise<Informer<StorageClass>> {
    if (this.#classes === undefined) {
      this.#classes = this.#context.informers.of(storageClasses(this.#context.profile))
      const enqueue = () => {
        for (const key of this.#waiting) this.#addClaim(key)
      }
      this.subscriptions.push(this.#classes.on({ added: enqueue, updated: enqueue }))
    }
    if (!this.#classes.hasSynced) await this.#classes.synced
    return this.#classes
  }

  #writeVolume(volume: Volume): Promise<Volume> {
    const { client, fieldManager, signal } = this.#context
    return client.update(volumes, volume, { fieldManager, signal })
  }

  async #setVolumePhase(volume: DeepReadonly<Volume>, phase: string, message?: string): Promise<void> {
    const changed = volumeInPhase(volume, phase, message)
    if (changed === undefined) return
    const { client, fieldManager, signal } = this.#context
    await ignoreNotFound(client.update(volumes, changed, { subresource: 'status', fieldManager, signal }))
  }

  /** Sets the phase Failed on a volume that this sync may already have written. */
  async #fail(
    volume: DeepReadonly<Volume>,
    { reason, message }: { readonly reason: string; readonly message: string },
  ): Promise<void> {
    const { client, signal } = this.#context
    const live = await ignoreNotFound(client.get(volumes, volume.metadata.name ?? '', { signal }))
    if (live === undefined || live.status?.phase === 'Failed') return
    await this.#setVolumePhase(live, 'Failed', message)
    this.#events.failed(live, reason, message)
  }

  async #setClaimPhase(claim: DeepReadonly<Claim>, phase: string, volume?: DeepReadonly<Volume>): Promise<void> {
    const changed = claimInPhase(claim, phase, volume)
    if (changed === undefined) return
    const { client, fieldManager, signal } = this.#context
    try {
      await ignoreNotFound(client.update(claims, changed, { subresource: 'status', fieldManager, signal }))
    } catch (error) {
      // A conflicting change causes another event.
      if (!(ApiError.is(error) && error.reason === 'Conflict')) throw error
    }
  }
}

function reclaimPolicyOf(volume: DeepReadonly<Volume>): string {
  return volume.spec?.persistentVolumeReclaimPolicy ?? 'Retain'
}

/** Returns the newest default class, then the first by name. */
function defaultClass(
  classes: readonly DeepReadonly<StorageClass>[],
  { isDefaultClass }: VolumeAnnotationKeys,
): string | undefined {
  const marked = classes.filter(({ metadata }) => isDefaultClass.some((mark) => metadata.annotations?.[mark] === 'true'))
  marked.sort((a, b) => {
    const made = (b.metadata.creationTimestamp ?? '').localeCompare(a.metadata.creationTimestamp ?? '')
    return made !== 0 ? made : (a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1
  })
  return marked[0]?.metadata.name
}
