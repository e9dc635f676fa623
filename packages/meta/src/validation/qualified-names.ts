/** Validation of fields with domain names. */

import type { FieldError } from '../interfaces.ts'
import {
  formatRegexError,
  validateDns1123Label,
  validateDns1123Subdomain,
  validateQualifiedNameFormat,
} from '../names/name-formats.ts'
import { field } from './field-error.ts'
import type { Path } from './path.ts'

const pathFormat = "[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+"
const urlPath = /^[A-Za-z0-9/\-._~%!$&'()*+,;=:]+$/

/**
 * Requires a DNS subdomain of at least two labels; a trailing dot is ignored.
 *
 * @example
 * import { Path } from '@krmkit/meta'
 * import { validateFullyQualifiedDomainName } from '@krmkit/meta/names'
 * validateFullyQualifiedDomainName(Path.of('spec').child('host'), 'example.com.') // []
 */
export function validateFullyQualifiedDomainName(path: Path, text: string): FieldError[] {
  if (text === '') return [field.required(path)]
  const name = text.endsWith('.') ? text.slice(0, -1) : text
  const texts = validateDns1123Subdomain(name)
  if (texts.length > 0) return [field.invalid(path, name, texts.join(','))]
  const labels = name.split('.')
  if (labels.length < 2) return [field.invalid(path, name, 'should be a domain with at least two segments separated by dots')]
  for (const label of labels) {
    const wrong = validateDns1123Label(label)
    if (wrong.length > 0) return [field.invalid(path, label, wrong.join(','))]
  }
  return []
}

/**
 * Requires a DNS subdomain of at least three labels.
 *
 * @example
 * import { Path } from '@krmkit/meta'
 * import { validateFullyQualifiedName } from '@krmkit/meta/names'
 * const path = Path.of('spec').child('controller')
 * validateFullyQualifiedName(path, 'ingress.shop.example.com') // []
 * validateFullyQualifiedName(path, 'example.com').length // 1
 */
export function validateFullyQualifiedName(path: Path, text: string): FieldError[] {
  if (text === '') return [field.required(path)]
  const texts = validateDns1123Subdomain(text)
  if (texts.length > 0) return [field.invalid(path, text, texts.join(','))]
  if (text.split('.').length >= 3) return []
  return [field.invalid(path, text, 'should be a domain with at least three segments separated by dots')]
}

/**
 * Requires a domain and a URL path: `example.com/some/path`.
 *
 * @example
 * import { Path } from '@krmkit/meta'
 * import { validateDomainPrefixedPath } from '@krmkit/meta/names'
 * const path = Path.of('spec').child('key')
 * validateDomainPrefixedPath(path, 'example.com/some/path') // []
 * validateDomainPrefixedPath(path, 'path').length // 1
 */
export function validateDomainPrefixedPath(path: Path, text: string): FieldError[] {
  if (text === '') return [field.required(path)]
  const slash = text.indexOf('/')
  if (slash <= 0 || slash === text.length - 1) {
    return [field.invalid(path, text, 'must be a domain-prefixed path (such as "acme.io/foo")')]
  }
  const host = text.slice(0, slash)
  const rest = text.slice(slash + 1)
  const errors = validateDns1123Subdomain(host).map((message) => field.invalid(path, host, message))
  if (!urlPath.test(rest)) errors.push(field.invalid(path, rest, formatRegexError('Invalid path', pathFormat)))
  return errors
}

/** Requires a domain and a name: `example.com/name`. @see {@link validateDomainPrefixedPath} */
export function validateDomainPrefixedKey(path: Path, text: string): FieldError[] {
  if (text === '') return [field.required(path)]
  const errors = validateQualifiedNameFormat(text).map((message) => field.invalid(path, text, message))
  if (errors.length > 0 || text.includes('/')) return errors
  return [field.invalid(path, text, 'must be a domain-prefixed key (such as "acme.io/foo")')]
}
