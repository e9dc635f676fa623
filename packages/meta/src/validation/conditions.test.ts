import { describe, expect, it } from 'vitest'
import { validateCondition, validateConditions } from './conditions.ts'
import { formatFieldError } from './field-error.ts'
import type { FieldError } from '../interfaces.ts'
import { Path } from './path.ts'
import {
  validateDomainPrefixedKey,
  validateDomainPrefixedPath,
  validateFullyQualifiedDomainName,
  validateFullyQualifiedName,
} from '../names/qualified-names.ts'
import { validateDeleteOptions, validatePatchOptions, validateWriteOptions } from '../request-options.ts'

const print = (errors: readonly FieldError[]) => errors.map(formatFieldError)
const x = Path.of('x')

describe('options of requests', () => {
  it('accepts what may be sent', () => {
    expect(validateWriteOptions({})).toEqual([])
    expect(validateWriteOptions({ dryRun: ['All', 'All'], fieldManager: 'm', fieldValidation: 'Strict' })).toEqual([])
    expect(validatePatchOptions({ force: true, fieldManager: 'm' }, { apply: true })).toEqual([])
    expect(validateDeleteOptions({ propagationPolicy: 'Orphan', dryRun: [] })).toEqual([])
  })

  it('refuses with the stock texts, in the stock order', () => {
    expect(print(validateWriteOptions({ dryRun: ['All', 'None'], fieldManager: '\n', fieldValidation: 'Loose' }))).toEqual([
      'fieldManager: Invalid value: "\\n": invalid character U+000A (at position 0)',
      'dryRun: Unsupported value: []string{"All", "None"}: supported values: "All"',
      'fieldValidation: Unsupported value: "Loose": supported values: "", "Ignore", "Strict", "Warn"',
    ])
    expect(print(validatePatchOptions({ force: false }, { apply: false }))).toEqual([
      'force: Forbidden: may not be specified for non-apply patch',
    ])
    expect(print(validatePatchOptions({}, { apply: true }))).toEqual([
      'fieldManager: Required value: is required for apply patch',
    ])
    expect(print(validateDeleteOptions({ propagationPolicy: 'x', orphanDependents: false, dryRun: ['x'] }))).toEqual([
      'propagationPolicy: Invalid value: "x": orphanDependents and deletionPropagation cannot be both set',
      'propagationPolicy: Unsupported value: "x": supported values: "Foreground", "Background", "Orphan", "nil"',
      'dryRun: Unsupported value: []string{"x"}: supported values: "All"',
    ])
  })
})

describe('conditions', () => {
  const fine = { type: 'Ready', status: 'True', lastTransitionTime: '2024-01-01T00:00:00Z', reason: 'AllGood', message: '' }

  it('accepts complete conditions', () => {
    expect(
      validateConditions([fine, { ...fine, type: 'example.com/Other', status: 'Unknown', observedGeneration: 3 }], x),
    ).toEqual([])
    expect(validateConditions(undefined, x)).toEqual([])
  })

  it('rejects duplicate and incomplete conditions', () => {
    expect(print(validateConditions([fine, fine], x))).toEqual(['x[1].type: Duplicate value: "Ready"'])
    const errors = print(
      validateCondition({ type: '', status: 'Maybe', observedGeneration: -1, lastTransitionTime: null, reason: '1' }, x),
    )
    expect(errors.map((text) => text.slice(0, 60))).toEqual(
      [
        'x.type: Invalid value: "": name part must be non-empty',
        'x.type: Invalid value: "": name part must consist of alphanumeric characters',
        'x.status: Unsupported value: "Maybe": supported values: "False", "True", "Unknown"',
        'x.observedGeneration: Invalid value: -1: must be greater than or equal to zero',
        'x.lastTransitionTime: Required value: must be set',
        'x.reason: Invalid value: "1": a condition reason must start with alphabetic character',
      ].map((text) => text.slice(0, 60)),
    )
    expect(print(validateCondition({ ...fine, reason: '', message: 'm'.repeat(32769) }, x))).toEqual([
      'x.reason: Required value: must be set',
      'x.message: Too long: may not be more than 32768 bytes',
    ])
    expect(print(validateCondition({ ...fine, reason: 'r'.repeat(1025) }, x))).toEqual([
      'x.reason: Too long: may not be more than 1024 bytes',
    ])
  })
})

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
