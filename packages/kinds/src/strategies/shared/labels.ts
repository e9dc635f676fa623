/** Label selectors inside specs. */
import {
  type GoText,
  goQuote,
  goStrings,
  goText,
  joinFormatted,
  labelSelectorFromObject,
  type LabelSelector as Selector,
  validateLabelSelector,
} from '@krmkit/meta'
import type { PodTemplateSpec } from '../../types/core-v1.generated.ts'
import type { LabelSelector } from '../../types/meta-v1.generated.ts'
import type { FieldPath } from './field-path.ts'
import { checkAlwaysRunning, checkPodTemplate } from './pod-template.ts'
import { isEmpty, isEmptyMap, isSet, own, type R } from './values.ts'

/** Form of a label selector. */
export function checkLabelSelector(selector: R<LabelSelector> | null | undefined, at: FieldPath): void {
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
  template: FieldPath,
): void {
  if (selector.matches(labels ?? {})) return
  template.child('metadata').child('labels').invalidText(printLabels(labels), '`selector` does not match template `labels`')
}

/** Template of a controller that keeps the pods of `selector` running. A missing selector finds nothing, a malformed one has been told of. */
export function checkSelectedTemplate(
  template: R<PodTemplateSpec> | undefined,
  at: FieldPath,
  selector: R<LabelSelector> | null | undefined,
): void {
  const malformed = isSet(selector) && validateLabelSelector(selector, at.path()).length > 0
  const everything = isSet(selector) && isEmptySelector(selector)
  if (!malformed && !everything) checkSelectorMatch(labelSelectorFromObject(selector), template?.metadata?.labels, at)
  checkPodTemplate(template, at)
  checkAlwaysRunning(template ?? {}, at, 'ReplicaSet')
}

function printLabels(labels: Readonly<Record<string, string>> | undefined): string {
  if (!isSet(labels)) return 'map[string]string(nil)'
  const pairs = joinFormatted(Object.keys(labels).sort(), (key) => `${goQuote(key)}:${goQuote(labels[key] ?? '')}`)
  return `map[string]string{${pairs}}`
}

/** A selector as the stock server prints it inside messages. */
export function printSelector(selector: R<LabelSelector>): GoText {
  const type = 'v1.LabelSelectorRequirement'
  const requirements = joinFormatted(selector.matchExpressions ?? [], ({ key, operator, values }) => {
    const list = isEmpty(values) ? '[]string(nil)' : goStrings(values)
    return `${type}{Key:${goQuote(key)}, Operator:${goQuote(operator)}, Values:${list}}`
  })
  const expressions = requirements === '' ? `[]${type}(nil)` : `[]${type}{${requirements}}`
  return goText(`v1.LabelSelector{MatchLabels:${printLabels(selector.matchLabels)}, MatchExpressions:${expressions}}`)
}
