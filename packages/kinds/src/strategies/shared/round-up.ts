import { memberNames, type Work } from '@krmkit/base/work'
import { Quantity } from '@krmkit/meta'
import { itemsPerStep, largeMap } from './for-each.ts'
import { isSet } from './values.ts'

/** Rounds quantities up to a thousandth, in place. */
export function* roundUp(amounts: Record<string, string> | undefined): Work {
  if (!isSet(amounts)) return
  const names = memberNames(amounts)
  // The names of a large map take a slice.
  if (names.length > largeMap) yield true
  let count = 0
  for (const name of names) {
    const text = amounts[name] ?? ''
    if (mayBeFiner(text)) amounts[name] = Quantity.parse(text).roundUp(-3).toString()
    if (++count % itemsPerStep === 0) yield
  }
}

/** Whether a quantity, printed canonically, may be finer than a thousandth: only with these suffixes or a negative exponent. */
export function mayBeFiner(text: string): boolean {
  return text.endsWith('u') || text.endsWith('n') || text.includes('e-') || text.includes('E-')
}
