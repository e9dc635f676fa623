/** Names of objects and of references. */
import { isDns1123Label, isDns1123Subdomain, isQualifiedName, isValidLabelValue } from '@krmkit/meta'
import type { FieldPath } from './field-path.ts'

/** A DNS label. */
export function validateDnsLabel(value: string, at: FieldPath): void {
  at.invalidAll(value, isDns1123Label(value))
}

/** A DNS subdomain. */
export function validateDnsSubdomain(value: string, at: FieldPath): void {
  at.invalidAll(value, isDns1123Subdomain(value))
}

/** A qualified name: a label key, or another name with an optional domain prefix. */
export function validateQualifiedName(value: string, at: FieldPath): void {
  at.invalidAll(value, isQualifiedName(value))
}

/** Keys and values of a map of labels. */
export function validateLabels(labels: Readonly<Record<string, string>> | null | undefined, at: FieldPath): void {
  if (labels === null || labels === undefined) return
  for (const key of Object.keys(labels).sort()) {
    at.invalidAll(key, isQualifiedName(key))
    const value = labels[key] ?? ''
    at.invalidAll(value, isValidLabelValue(value))
  }
}
