/** Names of objects and of references to them. */
import {
  type NameRule,
  validateDns1123Label,
  validateDns1123Subdomain,
  validateLabelValue,
  validateQualifiedNameFormat,
} from '@krmkit/meta'
import type { FieldPath } from './field-path.ts'

/** A name that must be a DNS label. */
export function checkDnsLabel(value: string, at: FieldPath): void {
  at.invalidAll(value, validateDns1123Label(value))
}

/** A name that must be a DNS subdomain. */
export function checkDnsSubdomain(value: string, at: FieldPath): void {
  at.invalidAll(value, validateDns1123Subdomain(value))
}

/** A label key or another name with an optional domain prefix. */
export function checkQualifiedName(value: string, at: FieldPath): void {
  at.invalidAll(value, validateQualifiedNameFormat(value))
}

/** Keys and values of a map that selects by labels. */
export function checkLabels(labels: Readonly<Record<string, string>> | null | undefined, at: FieldPath): void {
  if (labels === null || labels === undefined) return
  for (const key of Object.keys(labels).sort()) {
    at.invalidAll(key, validateQualifiedNameFormat(key))
    const value = labels[key] ?? ''
    at.invalidAll(value, validateLabelValue(value))
  }
}

/** A required name of another object that follows `rule`. */
export function checkReferenceName(name: string | undefined, at: FieldPath, rule: NameRule): void {
  if (name === undefined || name === '') at.required('')
  else at.invalidAll(name, rule(name, false))
}
