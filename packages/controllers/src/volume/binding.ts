import type { DeepReadonly } from '@krmkit/meta'
import { refersTo } from './matching.ts'
import type { Claim, Volume, VolumeAnnotationKeys } from './objects.ts'

/** What binding and releasing change: each gives the changed object, or undefined when nothing has to change. */

/** The volume names the claim with its uid; `boundByController` tells that nobody else chose it. */
export function boundVolume(
  volume: DeepReadonly<Volume>,
  claim: DeepReadonly<Claim>,
  { boundByController }: VolumeAnnotationKeys,
): Volume | undefined {
  const reference = volume.spec?.claimRef
  const { namespace = '', name = '', uid = '', resourceVersion = '' } = claim.metadata
  const isComplete = reference?.uid === uid && reference.name === name && reference.namespace === namespace
  const isBoundByController = !refersTo(volume, claim) && volume.metadata.annotations?.[boundByController] === undefined
  if (isComplete && !isBoundByController) return undefined
  const changed = structuredClone(volume) as Volume
  if (!isComplete) {
    const claimRef = { kind: 'PersistentVolumeClaim', namespace, name, uid, apiVersion: 'v1', resourceVersion }
    changed.spec = { ...changed.spec, claimRef }
  }
  if (isBoundByController) setAnnotation(changed, boundByController)
  return changed
}

/** The volume is free again; a claim that somebody else wrote into it stays, without its uid. */
export function unboundVolume(volume: DeepReadonly<Volume>, { boundByController }: VolumeAnnotationKeys): Volume | undefined {
  if (volume.spec?.claimRef === undefined) return undefined
  const changed = structuredClone(volume) as Volume
  if (changed.metadata.annotations?.[boundByController] !== undefined) {
    delete changed.metadata.annotations[boundByController]
    delete changed.spec!.claimRef
  } else delete changed.spec!.claimRef!.uid
  return changed
}

/** The claim names its volume and is marked as bound. */
export function boundClaim(
  claim: DeepReadonly<Claim>,
  volume: DeepReadonly<Volume>,
  { bindCompleted, boundByController }: VolumeAnnotationKeys,
): Claim | undefined {
  const isNamed = claim.spec?.volumeName === volume.metadata.name
  const isMarked = claim.metadata.annotations?.[bindCompleted] !== undefined
  if (isNamed && isMarked) return undefined
  const changed = structuredClone(claim) as Claim
  if (!isNamed) {
    changed.spec = { ...changed.spec, volumeName: volume.metadata.name ?? '' }
    setAnnotation(changed, boundByController)
  }
  if (!isMarked) setAnnotation(changed, bindCompleted)
  return changed
}

/**
 * Status of a claim in a phase. Its capacity is set when it becomes bound and not afterwards: growing moves it on its own.
 *
 * @param volume that it is bound to; absent: ways of mounting and capacity are forgotten
 */
export function claimInPhase(claim: DeepReadonly<Claim>, phase: string, volume?: DeepReadonly<Volume>): Claim | undefined {
  const before = claim.status ?? {}
  const { accessModes: _, capacity: known, ...rest } = before
  const isNew = before.phase !== phase
  const capacity = volume === undefined ? undefined : isNew ? volume.spec?.capacity : known
  const status = {
    ...rest,
    phase,
    ...(volume?.spec?.accessModes === undefined ? {} : { accessModes: volume.spec.accessModes }),
    ...(capacity === undefined ? {} : { capacity }),
  }
  const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b)
  if (!isNew && same(before.accessModes, status.accessModes) && same(known, capacity)) return undefined
  return { ...(structuredClone(claim) as Claim), status: structuredClone(status) as NonNullable<Claim['status']> }
}

export function volumeInPhase(volume: DeepReadonly<Volume>, phase: string, message = ''): Volume | undefined {
  if (volume.status?.phase === phase) return undefined
  const changed = structuredClone(volume) as Volume
  const { message: _, ...rest } = changed.status ?? {}
  changed.status = { ...rest, phase, ...(message === '' ? {} : { message }) }
  return changed
}

function setAnnotation(object: Claim | Volume, annotation: string): void {
  object.metadata.annotations = { ...object.metadata.annotations, [annotation]: 'yes' }
}
