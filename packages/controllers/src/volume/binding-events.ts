import type { DeepReadonly } from '@krmkit/meta'
import { ObjectEvents } from '../events/object-events.ts'
import type { ControllerContext } from '../interfaces.ts'
import { type Claim, claims, ephemeralClaimName, type Pod, pods, type StorageClass, type Volume, volumes } from './objects.ts'

type ReadonlyClaim = DeepReadonly<Claim>
type ReadonlyVolume = DeepReadonly<Volume>

const component = 'persistentvolume-controller'

/** The events that explain why a claim or a volume is not bound. */
export class BindingEvents {
  readonly #context: ControllerContext
  readonly #claims: ObjectEvents<Claim>
  readonly #volumes: ObjectEvents<Volume>

  constructor(context: ControllerContext) {
    this.#context = context
    this.#claims = new ObjectEvents(context, claims, component)
    this.#volumes = new ObjectEvents(context, volumes, component)
  }

  /** Reports a claim that waits until a pod that uses it is scheduled. */
  async waits(claim: ReadonlyClaim): Promise<void> {
    const names = await this.#unscheduledPods(claim)
    if (names.length === 0) {
      this.#claims.normal(claim, 'WaitForFirstConsumer', 'waiting for first consumer to be created before binding')
      return
    }
    const subject = names.length === 1 ? 'pod' : 'pods'
    this.#claims.normal(claim, 'WaitForPodScheduled', `waiting for ${subject} ${names.join(',')} to be scheduled`)
  }

  noClass(claim: ReadonlyClaim): void {
    const message = 'no persistent volumes available for this claim and no storage class is set'
    this.#claims.normal(claim, 'FailedBinding', message)
  }

  classNotFound(claim: ReadonlyClaim, name: string): void {
    const resource = `storageclass.storage.${this.#context.profile.apiDomain}`
    this.#claims.warning(claim, 'ProvisioningFailed', `${resource} ${JSON.stringify(name)} not found`)
  }

  /** Reports that a claim waits for the provisioner of its class, or that the class has none. */
  provisions(claim: ReadonlyClaim, { provisioner = '' }: DeepReadonly<StorageClass>, isStatic: boolean): void {
    if (isStatic) {
      this.#claims.warning(claim, 'ProvisioningFailed', `no volume plugin matched name: ${provisioner}`)
      return
    }
    const who = `either by the external provisioner '${provisioner}' or manually by the system administrator`
    const advice = 'If volume creation is delayed, please verify that the provisioner is running and correctly registered.'
    this.#claims.normal(claim, 'ExternalProvisioning', `Waiting for a volume to be created ${who}. ${advice}`)
  }

  /** Reports a claim that names an unsuitable volume. */
  mismatched(claim: ReadonlyClaim, name: string, problem: string): void {
    this.#claims.warning(claim, 'VolumeMismatch', `Cannot bind to requested volume ${JSON.stringify(name)}: ${problem}`)
  }

  /** Reports a claim that names a volume bound to another claim. */
  taken(claim: ReadonlyClaim, name: string): void {
    this.#claims.warning(claim, 'FailedBinding', `volume ${JSON.stringify(name)} already bound to a different claim.`)
  }

  /** Reports a volume that refers to a claim with another volume mode. */
  wrongMode(volume: ReadonlyVolume, claim: ReadonlyClaim): void {
    const [claimName, volumeName] = [JSON.stringify(claim.metadata.name), JSON.stringify(volume.metadata.name)]
    const problem = 'due to incompatible volumeMode.'
    const toVolume = `Cannot bind PersistentVolume to requested PersistentVolumeClaim ${claimName} ${problem}`
    this.#volumes.warning(volume, 'VolumeMismatch', toVolume)
    const toClaim = `Cannot bind PersistentVolume ${volumeName} to requested PersistentVolumeClaim ${problem}`
    this.#claims.warning(claim, 'VolumeMismatch', toClaim)
  }

  /** Reports that the phase of a claim became Lost. */
  lost(claim: ReadonlyClaim, reason: 'ClaimLost' | 'ClaimMisbound', message: string): void {
    this.#claims.warning(claim, reason, message)
  }

  /** Reports that the phase of a volume became Failed. */
  failed(volume: ReadonlyVolume, reason: string, message: string): void {
    this.#volumes.warning(volume, reason, message)
  }

  async #unscheduledPods({ metadata: { name = '', namespace = '' } }: ReadonlyClaim): Promise<readonly string[]> {
    const known = this.#context.informers.of(pods)
    if (!known.hasSynced) await known.synced
    return known
      .list({ namespace })
      .filter((pod) => (pod.spec?.nodeName ?? '') === '' && usesClaim(pod, name))
      .map(({ metadata }) => metadata.name ?? '')
  }
}

function usesClaim(pod: DeepReadonly<Pod>, name: string): boolean {
  return (pod.spec?.volumes ?? []).some((volume) => {
    if (volume.ephemeral !== undefined) return ephemeralClaimName(pod, volume) === name
    return volume.persistentVolumeClaim?.claimName === name
  })
}
