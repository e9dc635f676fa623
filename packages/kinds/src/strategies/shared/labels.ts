/** Label selectors in specifications. */

import type { Work } from '@krmkit/base/work'
import { type GoText, goQuote, goStrings, goText, joinFormatted } from '@krmkit/meta/go-text'
import { validateLabelSelector } from '@krmkit/meta/paced'
import type { LabelSelector as Selector } from '@krmkit/meta/selectors'
import type { LabelSelector } from '../../types/meta-v1.generated.ts'
import type { FieldPath } from './field-path.ts'
import { sortedKeys as sortedKeysAtOnce } from './sorted-keys.direct.ts'
import { sortedKeys } from './sorted-keys.ts'
import { isEmpty, isEmptyMap, isSet, type R } from './values.ts'

/** Validates a label selector. */
export function* validateSelector(selector: R<LabelSelector> | null | undefined, at: FieldPath): Work {
  if (isSet(selector)) at.add(yield* validateLabelSelector(selector, at.path()))
}

/** Whether a selector has no requirement, and so matches everything. */
export function isEmptySelector(selector: R<LabelSelector>): boolean {
  return isEmptyMap(selector.matchLabels) && isEmpty(selector.matchExpressions)
}

/** A controller's selector must match the labels of its template, whose path is `template`. */
export function* validateSelectorMatch(
  selector: Selector,
  labels: Readonly<Record<string, string>> | undefined,
  template: FieldPath,
): Work {
  if (selector.matches(labels ?? {})) return
  const names = yield* sortedKeys(labels)
  template
    .child('metadata')
    .child('labels')
    .invalidText(printLabels(labels, names), '`selector` does not match template `labels`')
}

/** @param names those of the labels, sorted */
export function printLabels(
  labels: Readonly<Record<string, string>> | undefined,
  names: readonly string[] = sortedKeysAtOnce(labels),
): string {
  if (!isSet(labels)) return 'map[string]string(nil)'
  const pairs = joinFormatted(names, (key) => `${goQuote(key)}:${goQuote(labels[key] ?? '')}`)
  return `map[string]string{${pairs}}`
}

/** A selector as Go prints it in messages. */
export function printSelector(selector: R<LabelSelector>): GoText {
  const type = 'v1.LabelSelectorRequirement'
  const requirements = joinFormatted(selector.matchExpressions ?? [], ({ key, operator, values }) => {
    const list = isEmpty(values) ? '[]string(nil)' : goStrings(values)
    return `${type}{Key:${goQuote(key)}, Operator:${goQuote(operator)}, Values:${list}}`
  })
  const expressions = requirements === '' ? `[]${type}(nil)` : `[]${type}{${requirements}}`
  return goText(`v1.LabelSelector{MatchLabels:${printLabels(selector.matchLabels)}, MatchExpressions:${expressions}}`)
}
