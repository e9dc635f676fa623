// Derived from labels.ts by `npm run direct`: do not edit.

import { type LabelSelector as Selector, validateLabelSelector } from '@krmkit/meta/selectors'
import type { LabelSelector } from '../../types/meta-v1.generated.ts'
import type { FieldPath } from './field-path.ts'
import { printLabels } from './labels.ts'
import { sortedKeys } from './sorted-keys.direct.ts'
import { isSet, type R } from './values.ts'

/** Validates a label selector. */
export function validateSelector(selector: R<LabelSelector> | null | undefined, at: FieldPath): void {
  if (isSet(selector)) at.add(validateLabelSelector(selector, at.path()))
}

/** A controller's selector must match the labels of its template, whose path is `template`. */
export function validateSelectorMatch(
  selector: Selector,
  labels: Readonly<Record<string, string>> | undefined,
  template: FieldPath,
): void {
  if (selector.matches(labels ?? {})) return
  const names = sortedKeys(labels)
  template
    .child('metadata')
    .child('labels')
    .invalidText(printLabels(labels, names), '`selector` does not match template `labels`')
}
