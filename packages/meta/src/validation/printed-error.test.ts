import { describe, expect, it } from 'vitest'
import { ApiError } from '../api-error.ts'
import { createFeatures } from '../features.ts'
import { goText } from '../go-text.ts'
import type { FieldError } from '../interfaces.ts'
import { field } from './field-error.ts'
import { Path } from './path.ts'
import { errorsAt, relocatedError, restatedError } from './printed-error.ts'

const at = Path.of('at')
const printed = (error: FieldError) =>
  ['1.33', '1.34'].map((version) => errorsAt([error], createFeatures(version).release)[0]?.message)

describe('errorsAt', () => {
  it.each([
    [field.invalid(at, null, 'is set'), 'Invalid value: "null": is set', 'Invalid value: null: is set'],
    [field.invalid(at, 'a<b', ''), 'Invalid value: "a<b"', 'Invalid value: "a<b"'],
    [field.invalid(at, 1e20, 'x'), 'Invalid value: 1e+20: x', 'Invalid value: 1e+20: x'],
    [
      field.duplicate(at, { b: 1, a: 'x' }),
      'Duplicate value: map[string]interface {}{"a":"x", "b":1}',
      'Duplicate value: {"a":"x","b":1}',
    ],
    [
      field.notSupported(at, goText('[]string{"Some"}'), ['All']),
      'Unsupported value: []string{"Some"}: supported values: "All"',
      'Unsupported value: ["Some"]: supported values: "All"',
    ],
    [field.notFound(at, goText('speed')), 'Not found: speed', 'Not found: "speed"'],
    [field.required(at, 'must be set'), 'Required value: must be set', 'Required value: must be set'],
    [field.tooLong(at, '', 1), 'Too long: may not be more than 1 bytes', 'Too long: may not be more than 1 byte'],
    [field.tooMany(at, 2, 1), 'Too many: 2: must have at most 1 items', 'Too many: 2: must have at most 1 item'],
  ])('prints values as JSON from 1.34 on: $message', (error, before, after) => {
    expect(printed(error)).toEqual([before, after])
  })

  it('keeps what an error was made of at another path', () => {
    const moved = relocatedError(field.invalid(at, ['a'], 'x'), 'spec.at')
    expect(errorsAt([moved], createFeatures('1.34').release)).toEqual([
      { field: 'spec.at', reason: 'FieldValueInvalid', message: 'Invalid value: ["a"]: x' },
    ])
  })

  it('restates errors from their release on', () => {
    const error = restatedError(field.invalid(at, ['a'], 'x'), {
      since: '1.35',
      errors: [field.required(at), field.invalid(at, [], 'y')],
    })
    expect(errorsAt([error], createFeatures('1.34').release)[0]?.message).toBe('Invalid value: ["a"]: x')
    expect(errorsAt([error], createFeatures('1.35').release).map(({ message }) => message)).toEqual([
      'Required value',
      'Invalid value: []: y',
    ])
    expect(errorsAt([error], createFeatures('1.33').release)).toEqual([error])
  })

  it('is the form of the causes and the message of a response', () => {
    const errors = [field.invalid(at, ['a'], 'x')]
    const { status } = ApiError.invalid({ group: '', kind: 'Pod' }, 'p', errors, createFeatures('1.36'))
    expect(status.message).toBe('Pod "p" is invalid: at: Invalid value: ["a"]: x')
    expect(status.details?.causes).toEqual([{ reason: 'FieldValueInvalid', message: 'Invalid value: ["a"]: x', field: 'at' }])
    expect(ApiError.invalid({ group: '', kind: 'Pod' }, 'p', errors).message).toContain('[]interface {}{"a"}')
  })
})
