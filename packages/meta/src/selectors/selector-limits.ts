/** Limits of selectors sent as text. */

import { MetaError } from '../meta-error.ts'

/**
 * Maximum number of terms and values of a selector. Differs: kube-apiserver limits only the length of the URL.
 *
 * @see docs/internals/decisions/0011-bounded-work.md
 */
export const maxSelectorTerms = 10_000

/** Maximum length of selector text in messages, in characters. */
const maxShownLength = 1024

/** The error for a selector with more terms than {@link maxSelectorTerms}. */
export function tooManyTermsError(code: 'InvalidLabelSelector' | 'InvalidFieldSelector', selector: string): MetaError {
  const parameter = code === 'InvalidLabelSelector' ? 'labelSelector' : 'fieldSelector'
  return new MetaError({
    code,
    message: `${parameter}: Too many: must have at most ${maxSelectorTerms} terms and values`,
    text: selector,
  })
}

/**
 * Truncates selector text for messages.
 *
 * @example
 * import { truncateSelector } from '@krmkit/meta/selectors'
 * truncateSelector('app=web') // 'app=web'
 * truncateSelector('x'.repeat(100_000)).length < 10_000 // true
 */
export function truncateSelector(text: string): string {
  return text.length <= maxShownLength ? text : `${text.slice(0, maxShownLength)}...`
}
