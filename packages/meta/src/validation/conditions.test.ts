import { describe, expect, it } from 'vitest'
import type { FieldError } from '../interfaces.ts'
import { validateCondition, validateConditions } from './conditions.ts'
import { formatFieldError } from './field-error.ts'
import { Path } from './path.ts'

const print = (errors: readonly FieldError[]) => errors.map(formatFieldError)
const x = Path.of('x')

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
