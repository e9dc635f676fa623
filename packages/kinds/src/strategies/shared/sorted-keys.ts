import { memberNames, type Work } from '@krmkit/base/work'
import { sortKeys } from '@krmkit/schema/paced'
import { inOrder } from './values.ts'

/** Keys that are sorted without a pause. */
export const fewKeys = 16

/** The keys of a map in the order in which kube-apiserver reports errors. */
export function* sortedKeys(map: object | null | undefined): Work<readonly string[]> {
  if (map === undefined || map === null) return []
  const keys = memberNames(map)
  if (keys.length <= fewKeys) return inOrder(keys)
  yield true
  return yield* sortKeys([...keys])
}
