/** Label selectors inside specs. */
import { goQuote, type LabelSelector as Selector, validateLabelSelector } from '@krmkit/meta'
import type { LabelSelector } from '../../types/meta-v1.generated.ts'
import type { Place } from './place.ts'
import { isEmpty, isEmptyMap, isSet, own, type R } from './values.ts'

/** Form of a label selector. */
export function checkLabelSelector(selector: R<LabelSelector> | null | undefined, at: Place): void {
  if (isSet(selector)) at.add(validateLabelSelector(selector, at.path()))
}

/** Whether a selector has no requirement, and so takes everything. */
export function isEmptySelector(selector: R<LabelSelector>): boolean {
  return isEmptyMap(selector.matchLabels) && isEmpty(selector.matchExpressions)
}

/** Whether all labels of `wanted` are among `labels`. */
export function isSubset(
  wanted: Readonly<Record<string, string>> | undefined,
  labels: Readonly<Record<string, string>> | undefined,
): boolean {
  return Object.entries(wanted ?? {}).every(([key, value]) => own(labels, key) === value)
}

/** A controller's selector must find the pods made of its template, whose place is `template`. */
export function checkSelectorMatch(
  selector: Selector,
  labels: Readonly<Record<string, string>> | undefined,
  template: Place,
): void {
  if (selector.matches(labels ?? {})) return
  const text = isSet(labels)
    ? `{${Object.keys(labels)
        .sort()
        .map((key) => `${goQuote(key)}:${goQuote(labels[key] ?? '')}`)
        .join(', ')}}`
    : '(nil)'
  template
    .child('metadata')
    .child('labels')
    .invalidText(`map[string]string${text}`, '`selector` does not match template `labels`')
}
