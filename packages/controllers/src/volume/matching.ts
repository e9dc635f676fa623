import { type DeepReadonly, Quantity } from '@krmkit/meta'
import { labelSelectorFromObject } from '@krmkit/meta/selectors'
import type { Claim, Volume, VolumeAnnotationKeys } from './objects.ts'

/** Matches volumes and claims. @see Configuration and storage specification, 2.4 and 2.5 */

/** Returns the class of an object: the field, or the annotation of old objects. */
export function classOf(object: DeepReadonly<Claim | Volume>, { classAnnotation }: VolumeAnnotationKeys): string {
  return object.metadata.annotations?.[classAnnotation] ?? object.spec?.storageClassName ?? ''
}

/** Whether a volume refers to a claim. A reference without a uid matches any claim of the name. */
export function refersTo(volume: DeepReadonly<Volume>, claim: DeepReadonly<Claim>): boolean {
  const { namespace, name, uid = '' } = volume.spec?.claimRef ?? {}
  if (volume.spec?.claimRef === undefined || name !== claim.metadata.name || namespace !== claim.metadata.namespace) return false
  return uid === '' || uid === claim.metadata.uid
}

/**
 * Returns the volume to bind: one that refers to the claim, or else, among the available volumes that are large enough, one
 * with the fewest access modes, and of these the smallest. A claim that waits for its first consumer gets only a volume that
 * refers to it.
 */
export function bestVolume(
  claim: DeepReadonly<Claim>,
  volumes: readonly DeepReadonly<Volume>[],
  options: { readonly annotationKeys: VolumeAnnotationKeys; readonly waits: boolean },
): DeepReadonly<Volume> | undefined {
  const size = sizeOf(claim.spec?.resources?.requests)
  const { selector, accessModes = [], volumeAttributesClassName = '' } = claim.spec ?? {}
  const wanted = classOf(claim, options.annotationKeys)
  const selects = selector == null ? undefined : labelSelectorFromObject(selector)
  let best: DeepReadonly<Volume> | undefined
  for (const volume of volumes) {
    const modes = volume.spec?.accessModes ?? []
    if (!accessModes.every((mode) => modes.includes(mode))) continue
    const named = refersTo(volume, claim)
    if (volume.spec?.claimRef !== undefined && !named) continue
    if (sizeOf(volume.spec?.capacity).compare(size) < 0 || modeOf(volume) !== modeOf(claim)) continue
    if (volume.metadata.deletionTimestamp !== undefined) continue
    if ((volume.spec?.volumeAttributesClassName ?? '') !== volumeAttributesClassName) continue
    if (named) return volume
    if (options.waits || volume.status?.phase !== 'Available') continue
    if (selects !== undefined && !selects.matches(volume.metadata.labels ?? {})) continue
    if (classOf(volume, options.annotationKeys) !== wanted) continue
    if (best === undefined || isSmaller(volume, best)) best = volume
  }
  return best
}

/** Returns the event text for why a volume does not satisfy a claim that names it; undefined when it does. */
export function mismatch(
  volume: DeepReadonly<Volume>,
  claim: DeepReadonly<Claim>,
  annotationKeys: VolumeAnnotationKeys,
): string | undefined {
  if (volume.metadata.deletionTimestamp !== undefined)
    return `the volume is marked for deletion ${JSON.stringify(volume.metadata.name)}`
  if (sizeOf(volume.spec?.capacity).compare(sizeOf(claim.spec?.resources?.requests)) < 0) return 'requested PV is too small'
  if (classOf(volume, annotationKeys) !== classOf(claim, annotationKeys)) return 'storageClassName does not match'
  if (modeOf(volume) !== modeOf(claim)) return 'incompatible volumeMode'
  const modes = volume.spec?.accessModes ?? []
  return claim.spec?.accessModes?.every((mode) => modes.includes(mode)) === false ? 'incompatible accessMode' : undefined
}

function isSmaller(a: DeepReadonly<Volume>, b: DeepReadonly<Volume>): boolean {
  const modes = (a.spec?.accessModes?.length ?? 0) - (b.spec?.accessModes?.length ?? 0)
  return modes !== 0 ? modes < 0 : sizeOf(a.spec?.capacity).compare(sizeOf(b.spec?.capacity)) < 0
}

export function modeOf(object: DeepReadonly<Claim | Volume>): string {
  return object.spec?.volumeMode ?? 'Filesystem'
}

function sizeOf(amounts: Readonly<Record<string, string>> | undefined): Quantity {
  return Quantity.parse(amounts?.['storage'] ?? '0')
}
