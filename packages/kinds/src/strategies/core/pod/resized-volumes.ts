/** Volumes before and after a resize of a pod. */

import type { Work } from '@krmkit/base/work'
import type { Volume } from '../../../types/core-v1.generated.ts'
import { semanticEqual } from '../../shared/equality.ts'
import type { FieldPath } from '../../shared/field-path.ts'
import { amount, compareAmounts } from '../../shared/quantities.ts'
import { isSet, type R } from '../../shared/values.ts'

/** A resize changes the size limit of volumes in memory, and nothing else. @param at the path of the volumes */
export function* validateResizedVolumes(now: readonly R<Volume>[], before: readonly R<Volume>[], at: FieldPath): Work {
  if (now.length !== before.length) {
    at.forbidden('volumes may not be added or removed on resize')
    return
  }
  for (const [i, volume] of now.entries()) {
    const was = before[i] as R<Volume>
    const here = at.index(i)
    if (volume.name !== was.name) here.child('name').forbidden('volumes may not be renamed or reordered on resize')
    else if (!(yield* semanticEqual(withSizeOf(was, volume), was)))
      here.forbidden('only sizeLimit of memory-backed emptyDir volumes is mutable on resize')
    else validateSizeLimit(volume, was, here.child('emptyDir').child('sizeLimit'))
  }
}

/** The volume with the size limit of `before`. */
function withSizeOf({ emptyDir: before }: R<Volume>, volume: R<Volume>): R<Volume> {
  if (!isSet(volume.emptyDir) || !isSet(before)) return volume
  const { sizeLimit: _, ...rest } = volume.emptyDir
  return { ...volume, emptyDir: { ...rest, ...(isSet(before.sizeLimit) ? { sizeLimit: before.sizeLimit } : {}) } }
}

function validateSizeLimit({ emptyDir }: R<Volume>, { emptyDir: before }: R<Volume>, at: FieldPath): void {
  if (!isSet(emptyDir) || !isSet(before)) return
  const [size, oldSize] = [emptyDir.sizeLimit, before.sizeLimit]
  if (isLimit(size) !== isLimit(oldSize)) at.forbidden('adding or removing sizeLimit on an existing volume is not allowed')
  else if (isSet(size) && isSet(oldSize) && compareAmounts(size, oldSize) !== 0 && emptyDir.medium !== 'Memory')
    at.forbidden('sizeLimit is only mutable for memory-backed emptyDir volumes')
}

function isLimit(size: string | null | undefined): boolean {
  return isSet(size) && !amount(size).isZero()
}
