// Derived from sorted-keys.ts by `npm run direct`: do not edit.
import { memberNames, runAtOnce } from '@krmkit/base/work'
import { sortKeys } from '@krmkit/schema/paced'
import { fewKeys } from './sorted-keys.ts'
import { inOrder } from './values.ts'

/** The keys of a map in the order in which kube-apiserver reports errors. */
export function sortedKeys(map: object | null | undefined): readonly string[] {
  if (map === undefined || map === null) return []
  const keys = memberNames(map)
  if (keys.length <= fewKeys) return inOrder(keys)

  return runAtOnce(sortKeys([...keys]))
}
