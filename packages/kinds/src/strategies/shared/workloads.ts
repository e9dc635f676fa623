/** Rules shared by controllers of pods: selectors, rolling updates, names of pods. */

import type { Work } from '@krmkit/base/work'
import { type DeepReadonly, MetaError } from '@krmkit/meta'
import { validateDns1123Label } from '@krmkit/meta/names'
import { labelSelectorFromObject, nothingSelector, type LabelSelector as Selector } from '@krmkit/meta/selectors'
import type { PodTemplateSpec } from '../../types/core-v1.generated.ts'
import type { LabelSelector } from '../../types/meta-v1.generated.ts'
import { semanticEqual } from './equality.ts'
import type { FieldPath } from './field-path.ts'
import { goList, goSelector } from './go-form.ts'
import { isEmptySelector, validateSelector } from './labels.ts'
import { isSet, type R } from './values.ts'

type MaybeSelector = R<LabelSelector> | null | undefined

/** The compiled selector; undefined if it is malformed. An absent selector matches nothingSelector. */
export function compileSelector(selector: MaybeSelector): Selector | undefined {
  try {
    return isSet(selector) ? labelSelectorFromObject(selector) : nothingSelector
  } catch (error) {
    if (error instanceof MetaError) return undefined
    throw error
  }
}

/** The selector in string form for `/scale`; empty if it is absent. */
export function selectorText(selector: MaybeSelector): string {
  return isSet(selector) ? (compileSelector(selector)?.toString() ?? '') : ''
}

/** A required, non-empty selector; the message names `owner`. */
export function* validateRequiredSelector(selector: MaybeSelector, at: FieldPath, owner: string): Work {
  if (!isSet(selector)) {
    at.required()
    return
  }
  yield* validateSelector(selector, at)
  if (isEmptySelector(selector)) at.invalid(goSelector(selector), `empty selector is invalid for ${owner}`)
}

/** An immutable selector. */
export function* validateSameSelector(selector: MaybeSelector, old: MaybeSelector, at: FieldPath): Work {
  if (!(yield* semanticEqual(selector, old))) at.invalid(goSelector(selector), 'field is immutable')
}

/** A count that must not decrease; absent counts as less than any value. */
export function validateNotDecremented(value: number | null | undefined, old: number | null | undefined, at: FieldPath): void {
  if (isSet(old) && (!isSet(value) || value < old)) at.invalid(value ?? 0, 'cannot be decremented')
}

/** Warns of names that are no DNS labels, as they become part of names of pods and hosts. */
export function warnPodNames(object: DeepReadonly<{ metadata: { name?: string } }>): string[] {
  const messages = validateDns1123Label(object.metadata.name ?? '')
  if (messages.length === 0) return []
  return [
    `metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; a DNS label is recommended: ${goList(messages)}`,
  ]
}

/** Stands for an absent specification: no selector, an empty template. Returns a new object for each call. */
export function emptyWorkloadSpec(): { selector: null; template: PodTemplateSpec } {
  return { selector: null, template: {} }
}
