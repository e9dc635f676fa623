/**
 * Bounds of selectors that callers send as text.
 */

import { MetaError } from './meta-error.ts'

/**
 * Terms and values that a selector may have together. Differs: the stock server has no bound but the length of a URL.
 *
 * @see docs/decisions/0011-bounded-work.md
 */
export const maxSelectorTerms = 10_000

/** Characters of a selector that a message shows. */
const shownLength = 1024

/** The refusal of a selector with more terms than {@link maxSelectorTerms}. */
export function tooManyTerms(code: 'InvalidLabelSelector' | 'InvalidFieldSelector', selector: string): MetaError {
  const parameter = code === 'InvalidLabelSelector' ? 'labelSelector' : 'fieldSelector'
  return new MetaError(code, selector, `${parameter}: Too many: must have at most ${maxSelectorTerms} terms and values`)
}

/** A part of a selector as messages show it. */
export function shownText(text: string): string {
  return text.length <= shownLength ? text : `${text.slice(0, shownLength)}...`
}
