/** Names of pools, attributes and capacities. */

import { field } from '@krmkit/meta'
import { utf8Length } from '@krmkit/meta/go-text'
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
  if (name === '') {
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
  if (first === '') at.required('the domain must not be empty')
  else validateDriverName(first, at)
  if (second === '') at.required('the name must not be empty')
  else validateIdentifier(second, at)
}

/** A qualified name with a domain. */
export function validateFullyQualifiedName(name: string, at: FieldPath): void {
  validateQualifiedName(name, at)
  if (name !== '' && !name.includes('/')) at.invalid(name, 'must include a domain')
}

function validateIdentifier(id: string, at: FieldPath): void {
  if (utf8Length(id) > longestId) at.tooLong('', longestId)
  for (const message of validateCIdentifier(id)) at.add([field.typeInvalid(at.path(), id, message)])
}
