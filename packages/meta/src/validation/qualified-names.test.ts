import { describe, expect, it } from 'vitest'
import type { FieldError } from '../interfaces.ts'
import { formatFieldError } from './field-error.ts'
import { Path } from './path.ts'
import {
  validateDomainPrefixedKey,
  validateDomainPrefixedPath,
  validateFullyQualifiedDomainName,
  validateFullyQualifiedName,
} from './qualified-names.ts'

const print = (errors: readonly FieldError[]) => errors.map(formatFieldError)
const x = Path.of('x')

describe('names with domains', () => {
  it('accepts valid names', () => {
    expect(validateFullyQualifiedDomainName(x, 'a.b.')).toEqual([])
    expect(validateFullyQualifiedName(x, 'a.b.c')).toEqual([])
    expect(validateDomainPrefixedPath(x, 'a.b/c/d')).toEqual([])
    expect(validateDomainPrefixedKey(x, 'a.b/C')).toEqual([])
  })

  it('rejects invalid names', () => {
    for (const check of [
      validateFullyQualifiedDomainName,
      validateFullyQualifiedName,
      validateDomainPrefixedPath,
      validateDomainPrefixedKey,
    ]) {
      expect(print(check(x, ''))).toEqual(['x: Required value'])
    }
    expect(print(validateFullyQualifiedDomainName(x, 'a'))).toEqual([
      'x: Invalid value: "a": should be a domain with at least two segments separated by dots',
    ])
    expect(print(validateFullyQualifiedDomainName(x, `a.${'b'.repeat(64)}`))).toEqual([
      `x: Invalid value: "${'b'.repeat(64)}": must be no more than 63 characters`,
    ])
    expect(print(validateFullyQualifiedDomainName(x, 'A.b'))[0]).toMatch(
      /^x: Invalid value: "A\.b": a lowercase RFC 1123 subdomain/,
    )
    expect(print(validateFullyQualifiedName(x, 'a.b'))).toEqual([
      'x: Invalid value: "a.b": should be a domain with at least three segments separated by dots',
    ])
    expect(print(validateFullyQualifiedName(x, 'a.B.c'))[0]).toMatch(/^x: Invalid value: "a\.B\.c": a lowercase/)
    for (const text of ['a', '/a', 'a/']) {
      expect(print(validateDomainPrefixedPath(x, text))).toEqual([
        `x: Invalid value: "${text}": must be a domain-prefixed path (such as "acme.io/foo")`,
      ])
    }
    expect(print(validateDomainPrefixedPath(x, 'A/é'))).toHaveLength(2)
    expect(print(validateDomainPrefixedKey(x, 'a'))).toEqual([
      'x: Invalid value: "a": must be a domain-prefixed key (such as "acme.io/foo")',
    ])
    expect(print(validateDomainPrefixedKey(x, 'a/-'))).toHaveLength(1)
  })
})
