import { describe, expect, it } from 'vitest'
import { ApiError } from '../api-error.ts'
import { createFeatures } from '../features.ts'
import { goText } from '../go-text.ts'
import type { FieldError } from '../interfaces.ts'
import { validateQualifiedNameFormat } from '../names/name-formats.ts'
import { validateConditions } from './conditions.ts'
import { field } from './field-error.ts'
import { validateManagedFields } from './managed-fields.ts'
import { validateOwnerReferences } from './owner-references.ts'
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

const lines = (errors: readonly FieldError[], version: string) =>
  errorsAt(errors, createFeatures(version).release).map(({ field, reason, message }) => `${field} ${reason} ${message}`)

describe('metadata of later releases', () => {
  it('names the index of an owner from 1.37 on', () => {
    const errors = validateOwnerReferences([{ apiVersion: '', kind: '', name: 'a', uid: 'u' }], at)
    expect(lines(errors, '1.33')).toEqual([
      'at.apiVersion FieldValueInvalid Invalid value: "": version must not be empty',
      'at.kind FieldValueInvalid Invalid value: "": kind must not be empty',
    ])
    expect(lines(errors, '1.36')).toEqual([
      'at.apiVersion FieldValueInvalid Invalid value: "": version must not be empty',
      'at.kind FieldValueInvalid Invalid value: "": must not be empty',
    ])
    expect(lines(errors, '1.37')).toEqual([
      'at[0].apiVersion FieldValueRequired Required value: must not be empty',
      'at[0].kind FieldValueRequired Required value: must not be empty',
    ])
    const malformed = validateOwnerReferences([{ apiVersion: 'a/b/c', kind: 'K', name: 'a', uid: 'u' }], at)
    expect(lines(malformed, '1.37')).toEqual([
      'at[0].apiVersion FieldValueInvalid Invalid value: "a/b/c": must be <group>/<version> or <version>',
    ])
    const owner = { apiVersion: 'v1', kind: 'Pod', name: 'a', uid: 'u', controller: true }
    const json = '{"apiVersion":"v1","kind":"Pod","name":"a","uid":"u","controller":true}'
    expect(lines(validateOwnerReferences([owner, owner], at), '1.34')[0]).toContain(
      `Invalid value: [${json},${json}]: Only one reference`,
    )
    const event = validateOwnerReferences([{ apiVersion: 'v1', kind: 'Event', name: 'a', uid: 'u' }], at)
    expect(lines(event, '1.37')).toEqual([
      'at[0] FieldValueInvalid Invalid value: {"apiVersion":"v1","kind":"Event","name":"a","uid":"u"}: /v1, Kind=Event is disallowed from being an owner',
    ])
  })

  it('requires the operation of a manager from 1.37 on', () => {
    const errors = ['', 'Replace'].flatMap((operation) =>
      validateManagedFields([{ operation, fieldsType: 'FieldsV1' } as never], at),
    )
    expect(lines(errors, '1.36')).toEqual([
      'at[0].operation FieldValueInvalid Invalid value: "": must be `Apply` or `Update`',
      'at[0].operation FieldValueInvalid Invalid value: "Replace": must be `Apply` or `Update`',
    ])
    expect(lines(errors, '1.37')).toEqual([
      'at[0].operation FieldValueRequired Required value: must not be empty',
      'at[0].operation FieldValueNotSupported Unsupported value: "Replace": supported values: "Apply", "Update"',
    ])
  })

  it('shortens what a condition lacks in 1.34, and requires type and status in 1.37', () => {
    const errors = validateConditions([{}], at)
    expect(lines(errors, '1.33').slice(2)).toEqual([
      'at[0].status FieldValueNotSupported Unsupported value: "": supported values: "False", "True", "Unknown"',
      'at[0].lastTransitionTime FieldValueRequired Required value: must be set',
      'at[0].reason FieldValueRequired Required value: must be set',
    ])
    expect(lines(errors, '1.34').slice(3)).toEqual([
      'at[0].lastTransitionTime FieldValueRequired Required value',
      'at[0].reason FieldValueRequired Required value',
    ])
    expect(lines(errors, '1.37')).toEqual([
      'at[0].type FieldValueRequired Required value: is required',
      'at[0].status FieldValueRequired Required value',
      'at[0].lastTransitionTime FieldValueRequired Required value',
      'at[0].reason FieldValueRequired Required value',
    ])
    const ready = { type: 'Ready', status: 'True', reason: 'R', lastTransitionTime: '2024-01-01T00:00:00Z' }
    expect(lines(validateConditions([ready, ready], at), '1.36')).toEqual([
      'at[1].type FieldValueDuplicate Duplicate value: "Ready"',
    ])
    expect(lines(validateConditions([ready, ready], at), '1.37')).toEqual(['at[1] FieldValueDuplicate Duplicate value: "Ready"'])
  })

  it('calls a qualified name a label key from 1.35 on', () => {
    const errors = ['a/b/c', 'x'.repeat(64)].flatMap((name) =>
      validateQualifiedNameFormat(name).map((text) => field.invalid(at, '', text)),
    )
    expect(lines(errors, '1.34').map((line) => line.slice(0, 70))).toEqual([
      'at FieldValueInvalid Invalid value: "": a qualified name must consist ',
      'at FieldValueInvalid Invalid value: "": name part must be no more than',
    ])
    expect(lines(errors, '1.35').map((line) => line.slice(0, 70))).toEqual([
      'at FieldValueInvalid Invalid value: "": a valid label key must consist',
      'at FieldValueInvalid Invalid value: "": name part must be no more than',
    ])
    expect([lines(errors, '1.34')[1], lines(errors, '1.35')[1]].map((line) => line?.slice(-13))).toEqual([
      '63 characters',
      'than 63 bytes',
    ])
  })
})

it('states missing values without details that have gone', () => {
  const rules = Path.of('rules').index(0).child('verbs')
  const verbs = 'verbs must contain at least one value'
  const errors = [
    field.required(at, 'name is required'),
    field.required(rules, verbs),
    field.required(Path.of('spec').child('verbs'), verbs),
  ]
  const stated = (version: string) => errorsAt(errors, createFeatures(version).release).map(({ message }) => message)
  expect(stated('1.33')).toEqual(['Required value: name is required', `Required value: ${verbs}`, `Required value: ${verbs}`])
  expect(stated('1.34')).toEqual(['Required value', `Required value: ${verbs}`, `Required value: ${verbs}`])
  expect(stated('1.36')).toEqual(['Required value', 'Required value', `Required value: ${verbs}`])
})
