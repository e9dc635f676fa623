import type { DeepReadonly } from '@krmkit/meta'
import { refersTo } from './matching.ts'
import type { Claim, Volume, VolumeAnnotationKeys } from './objects.ts'

/** The changes of binding and releasing. Each function returns the changed object, or undefined for no change. */

/** Sets the claim reference of a volume; `boundByController` marks a volume that the controller selected. */
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

/** Removes the claim reference of a volume; a user-defined reference keeps all fields but the uid. */
export function unboundVolume(volume: DeepReadonly<Volume>, { boundByController }: VolumeAnnotationKeys): Volume | undefined {
  if (volume.spec?.claimRef === undefined) return undefined
  const changed = structuredClone(volume) as Volume
  if (changed.metadata.annotations?.[boundByController] !== undefined) {
    delete changed.metadata.annotations[boundByController]
    delete changed.spec!.claimRef
  } else delete changed.spec!.claimRef!.uid
  return changed
}

/** Sets the volume name of a claim and marks it as bound. */
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
 * Sets the phase of a claim. The capacity is set only when the claim becomes bound, because resizing changes it later.
 *
 * @param volume the bound volume; absent: access modes and capacity are removed
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
