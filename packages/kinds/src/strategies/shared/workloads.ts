/** Rules that controllers of pods share: their selectors, numbers of a rolling update, names of what they make. */
import {
  type DeepReadonly,
  type IntOrString,
  intValue,
  labelSelectorFromObject,
  MetaError,
  nothingSelector,
  type LabelSelector as Selector,
  validateDns1123Label,
  validatePercent,
} from '@krmkit/meta'
import type { LabelSelector } from '../../types/meta-v1.generated.ts'
import type { FieldPath } from './field-path.ts'
import { goList, goNumberOrText, goSelector } from './go-form.ts'
import { checkLabelSelector, isEmptySelector } from './labels.ts'
import { checkNotNegative } from './numbers.ts'
import { isSet, type R, semanticEqual } from './values.ts'

type MaybeSelector = R<LabelSelector> | null | undefined

/** The selector as something that matches; undefined when it is malformed, and nothingSelector at all when it is absent. */
export function usableSelector(selector: MaybeSelector): Selector | undefined {
  try {
    return isSet(selector) ? labelSelectorFromObject(selector) : nothingSelector
  } catch (error) {
    if (error instanceof MetaError) return undefined
    throw error
  }
}

/** Text of the selector for `/scale`; empty when there is none. */
export function selectorText(selector: MaybeSelector): string {
  return isSet(selector) ? (usableSelector(selector)?.toString() ?? '') : ''
}

/** A selector that must be there and must not take everything; `owner` is named in the message. */
export function checkRequiredSelector(selector: MaybeSelector, at: FieldPath, owner: string): void {
  if (!isSet(selector)) {
    at.required()
    return
  }
  checkLabelSelector(selector, at)
  if (isEmptySelector(selector)) at.invalid(goSelector(selector), `empty selector is invalid for ${owner}`)
}

/** A selector that may not change once it is stored. */
export function checkSameSelector(selector: MaybeSelector, old: MaybeSelector, at: FieldPath): void {
  if (!semanticEqual(selector, old)) at.invalid(goSelector(selector), 'field is immutable')
}

/** A number that is not negative, or a percentage. */
export function checkNumberOrPercent(value: IntOrString | null | undefined, at: FieldPath): void {
  if (typeof value === 'string') at.invalidAll(goNumberOrText(value), validatePercent(value))
  else checkNotNegative(value, at)
}

/** A percentage may not be above 100. */
export function checkAtMostAll(value: IntOrString | null | undefined, at: FieldPath): void {
  if ((percentage(value) ?? 0) > 100) at.invalid(goNumberOrText(value), 'must not be greater than 100%')
}

function percentage(value: IntOrString | null | undefined): number | undefined {
  if (typeof value !== 'string' || validatePercent(value).length > 0) return undefined
  return Number(value.slice(0, -1))
}

/** The number, or that of the percentage; 0 for other text. */
export function numberOrPercent(value: IntOrString | null | undefined): number {
  return percentage(value) ?? intValue(value ?? 0)
}

/** A count that only grows; absent counts as less than anything that is set. */
export function checkNotDecremented(value: number | null | undefined, old: number | null | undefined, at: FieldPath): void {
  if (isSet(old) && (value ?? 0) < old) at.invalid(value ?? 0, 'cannot be decremented')
}

/** Names end up in names of pods and hosts, where a DNS label is safe. */
export function warnPodNames(object: DeepReadonly<{ metadata: { name?: string } }>): string[] {
  const messages = validateDns1123Label(object.metadata.name ?? '')
  if (messages.length === 0) return []
  return [
    `metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; a DNS label is recommended: ${goList(messages)}`,
  ]
}
