/** Names of objects and of references. */

import type { Work } from '@krmkit/base/work'
import { type Features, type NameRule, nameRules } from '@krmkit/meta'
import { gateEnabled } from '@krmkit/meta/feature-gates'
import {
  validateDns1123Label,
  validateDns1123Subdomain,
  validateLabelValue,
  validateQualifiedNameFormat,
} from '@krmkit/meta/names'
import { labelValueError } from '@krmkit/meta/validation'
import type { FieldPath } from './field-path.ts'
import { forEachKey } from './for-each.ts'

/** A DNS label. */
export function validateDnsLabel(value: string, at: FieldPath): void {
  at.invalidAll(value, validateDns1123Label(value))
}

/** A DNS subdomain. */
export function validateDnsSubdomain(value: string, at: FieldPath): void {
  at.invalidAll(value, validateDns1123Subdomain(value))
}

/** A qualified name: a label key, or another name with an optional domain prefix. */
export function validateQualifiedName(value: string, at: FieldPath): void {
  at.invalidAll(value, validateQualifiedNameFormat(value))
}

/** Keys and values of a map of labels. */
export function* validateLabels(labels: Readonly<Record<string, string>> | null | undefined, at: FieldPath): Work {
  yield* forEachKey(labels, (key, value) => {
    at.invalidAll(key, validateQualifiedNameFormat(key))
    at.add(validateLabelValue(value).map((text) => labelValueError(at.path(), value, text)))
  })
}

/** The rule of names of services, and of references to them. */
export function serviceNameRule(features: Features): NameRule {
  return gateEnabled('RelaxedServiceNameValidation', features) ? nameRules.dns1123Label : nameRules.dns1035Label
}
