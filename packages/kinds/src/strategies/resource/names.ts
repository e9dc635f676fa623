/** Names of pools, attributes and capacities. */

import { field } from '@krmkit/meta'
import { goQuote, utf8Length } from '@krmkit/meta/go-text'
import { validateCIdentifier } from '@krmkit/meta/names'
import type { FieldPath } from '../shared/field-path.ts'
import { validateDnsSubdomain } from '../shared/names.ts'
import { validateDriverName } from '../shared/volume-network.ts'

const longestPoolName = 253
const longestId = 32
const longestDomain = 63

/** Bytes of the longest qualified name. */
export const longestQualifiedName = longestDomain + 1 + longestId

/** DNS subdomains, separated by slashes. */
export function validatePoolName(name: string, at: FieldPath): void {
  if (name === '') {
    at.required()
    return
  }
  if (utf8Length(name) > longestPoolName) at.tooLong('', longestPoolName)
  for (const part of name.split('/')) validateDnsSubdomain(part, at)
}

/** An identifier, with or without the domain of a driver before it. */
export function validateQualifiedName(name: string, at: FieldPath): void {
  const isLater = atLeast(at, '1.35')
  const lacks = (detail: string) => (isLater ? at.invalid('', detail) : at.required(detail))
  if (name === '' && !isLater) {
    at.required('name required')
    return
  }
  const [first = '', second, ...more] = name.split('/')
  // Names of more than two parts are not looked into.
  if (more.length > 0) return
  if (second === undefined) {
    validateIdentifier(first, at)
    return
  }
  if (first === '') lacks('the domain must not be empty')
  else validateDriverName(first, at)
  if (second === '') lacks('the name must not be empty')
  else validateIdentifier(second, at)
}

/** A qualified name with a domain. */
export function validateFullyQualifiedName(name: string, at: FieldPath): void {
  validateQualifiedName(name, at)
  if (name.includes('/')) return
  if (atLeast(at, '1.35')) at.invalid(name, 'a fully qualified name must be a domain and a name separated by a slash')
  else if (name !== '') at.invalid(name, 'must include a domain')
}

function validateIdentifier(id: string, at: FieldPath): void {
  if (utf8Length(id) > longestId) at.tooLong('', longestId)
  for (const message of validateCIdentifier(id)) {
    if (atLeast(at, '1.34')) at.invalid(id, message)
    else at.add([field.typeInvalid(at.path(), id, message)])
  }
}

/** Whether objects are validated by the rules of a release or a later one. */
export function atLeast({ errors }: FieldPath, release: string): boolean {
  return errors.context.features.release.atLeast(release)
}

/** The identifier of a share of a device: a UUID in lower case. */
export function validateShareId(id: string, at: FieldPath): void {
  const problem = uuidProblem(id)
  if (problem !== undefined) at.invalid(id, `error validating uid: ${problem}`)
  else if (id.length !== 36 || id !== id.toLowerCase()) at.invalid(id, notNormalized)
}

const notNormalized =
  'uid must be in RFC 4122 normalized form, `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx` with lowercase hexadecimal characters'

/** What is wrong with a UUID, which may also be an URN, in braces or without hyphens. */
function uuidProblem(text: string): string | undefined {
  const hyphened = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i
  const malformed = 'invalid UUID format'
  switch (utf8Length(text)) {
    case 32:
      return /^[\da-f]{32}$/i.test(text) ? undefined : malformed
    case 36:
      return hyphened.test(text) ? undefined : malformed
    case 38:
      if (!text.startsWith('{') || !text.endsWith('}')) return 'invalid bracketed UUID format'
      return hyphened.test(text.slice(1, -1)) ? undefined : malformed
    case 45:
      if (!/^urn:uuid:/i.test(text)) return `invalid urn prefix: ${goQuote(text.slice(0, 9))}`
      return hyphened.test(text.slice(9)) ? undefined : malformed
    default:
      return `invalid UUID length: ${utf8Length(text)}`
  }
}
