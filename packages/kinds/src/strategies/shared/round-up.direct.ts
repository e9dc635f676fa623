// Derived from round-up.ts by `npm run direct`: do not edit.

import { Quantity } from '@krmkit/meta'
import { mayBeFiner } from './round-up.ts'
import { isSet } from './values.ts'

/** Rounds quantities up to a thousandth, in place. */
export function roundUp(amounts: Record<string, string> | undefined): void {
  if (!isSet(amounts)) return

  for (const name in amounts) {
    const text = amounts[name] ?? ''
    if (mayBeFiner(text)) amounts[name] = Quantity.parse(text).roundUp(-3).toString()
  }
}
