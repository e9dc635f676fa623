import { describe, expect, it } from 'vitest'
import { ApiError } from '../api-error.ts'
import { goStrings, goSyntax, maxPrintedLength } from '../go-text.ts'
import { nameRules } from '../names/name-rule.ts'
import { collectErrors, runUntilFull } from './error-list.direct.ts'
import { ErrorList, maxFieldErrors, maxFieldErrorsLength } from './error-list.ts'
import { field } from './field-error.ts'
import { validateFinalizers } from './finalizers.ts'
import { validateFieldManager } from './managed-fields.ts'
import { validateAnnotations, validateLabels, validateObjectMeta } from './object-meta.direct.ts'
import { validateOwnerReferences } from './owner-references.ts'
import { Path } from './path.ts'

const path = Path.of('metadata')
const kind = { group: '', kind: 'ConfigMap' }
const lengthOf = (errors: readonly { field: string; message: string }[]) =>
  errors.reduce((sum, { field, message }) => sum + field.length + message.length, 0)

describe('collectErrors', () => {
  it('stops at the error that fills the list', () => {
    let steps = 0
    const errors = collectErrors((list) => {
      for (; steps < 5 * maxFieldErrors; steps++) list.push(field.invalid(path, steps, 'wrong'))
    })
    expect([errors.length, steps]).toEqual([maxFieldErrors, maxFieldErrors - 1])
  })

  it('stops when the messages are long', () => {
    const value = 'a'.repeat(10_000)
    const errors = collectErrors((list) => {
      for (let i = 0; i < maxFieldErrors; i++) list.push(field.invalid(path, value, 'wrong'))
    })
    expect(errors.length).toBe(Math.ceil(maxFieldErrorsLength / lengthOf(errors.slice(0, 1))))
  })

  it('returns a plain array and rethrows other errors', () => {
    expect(Object.getPrototypeOf(collectErrors(() => {}))).toBe(Array.prototype)
    expect(new ErrorList().map(() => 1)).not.toBeInstanceOf(ErrorList)
    const fault = new Error('fault')
    expect(() =>
      collectErrors(() => {
        throw fault
      }),
    ).toThrow(fault)
  })

  it('rethrows if the list of an outer walk is full', () => {
    const outer = new ErrorList()
    const inner = new ErrorList()
    let after = false
    runUntilFull(outer, () => {
      runUntilFull(inner, () => {
        for (;;) outer.push(field.required(path))
      })
      after = true
    })
    expect([outer.length, inner.length, after]).toEqual([maxFieldErrors, 0, false])
  })
})

describe('formatted values', () => {
  const long = 'x'.repeat(1_000_000)
  it.each([
    ['a text', long, `"${long.slice(0, maxPrintedLength)}"... (1000000 characters)`],
    ['a list', Array(100_000).fill('abcdefgh'), undefined],
    ['a map', Object.fromEntries(Array.from({ length: 100_000 }, (_, i) => [`key-${i}`, i])), undefined],
    ['nested lists', Array(1000).fill(Array(1000).fill('abcdefgh')), undefined],
  ])('truncates %s', (_name, value, whole) => {
    const { message } = field.invalid(path, value, 'wrong')
    expect(message.length).toBeLessThan(maxPrintedLength + 100)
    expect(message).toMatch(/: wrong$/)
    if (whole !== undefined) expect(message).toBe(`Invalid value: ${whole}: wrong`)
  })

  it('truncates paths and details', () => {
    const { field: place, message } = field.forbidden(path.key(long), long)
    expect([place.length, message.length]).toEqual([maxPrintedLength + 3, maxPrintedLength + 'Forbidden: ...'.length])
  })

  it('leaves shorter values unchanged', () => {
    const values = Array.from({ length: 500 }, (_, i) => `value-${i}`)
    expect(goStrings(values)).toBe(`[]string{${values.map((value) => `"${value}"`).join(', ')}}`)
    expect(goSyntax({ b: [1, ''], a: null })).toBe('map[string]interface {}{"a":interface {}(nil), "b":[]interface {}{1, ""}}')
  })
})

describe('responses', () => {
  it('have a limited number of causes and a limited message', () => {
    const errors = Array.from({ length: 200_000 }, (_, i) => field.invalid(path, `value ${i}`, 'wrong'))
    const { status } = ApiError.invalid(kind, 'a', errors)
    expect(status.details?.causes).toHaveLength(maxFieldErrors)
    expect(status.message?.length).toBeLessThan(2 * maxFieldErrorsLength)
    const big = ApiError.invalid(kind, 'a', Array(1000).fill(field.invalid(path, 'a'.repeat(maxPrintedLength), 'wrong'))).status
    expect(lengthOf((big.details?.causes ?? []) as { field: string; message: string }[])).toBeLessThan(2 * maxFieldErrorsLength)
  })
})

describe('metadata with many errors', () => {
  const many = 8000
  const owner = { apiVersion: 'v1', kind: 'ConfigMap', uid: 'u', controller: true }
  const owners = Array.from({ length: many }, (_, i) => ({ ...owner, name: `owner-${i}` }))
  const names = Array.from({ length: many }, (_, i) => `-${i}-`)
  const map = Object.fromEntries(names.map((name) => [name, name]))
  const found = {
    owners: validateOwnerReferences(owners, path),
    labels: validateLabels(map, path),
    annotations: validateAnnotations(map, path),
    finalizers: validateFinalizers(names, path),
    manager: validateFieldManager('\u0000'.repeat(100_000), path),
    all: validateObjectMeta(
      { name: 'a', labels: map, annotations: map, ownerReferences: owners, finalizers: names },
      { namespaced: false, name: nameRules.any },
    ),
  }
  it.each(Object.entries(found))('%s: returns a limited number of errors of limited length', (_name, errors) => {
    expect(errors.length).toBeGreaterThan(1)
    expect(errors.length).toBeLessThanOrEqual(4 * maxFieldErrors)
    expect(lengthOf(errors)).toBeLessThan(5 * maxFieldErrorsLength)
  })

  it('reports the first controllers completely if there are few', () => {
    const two = validateOwnerReferences(owners.slice(0, 2), path)
    expect(two.map(({ message }) => message)).toEqual([
      'Invalid value: []v1.OwnerReference{v1.OwnerReference{APIVersion:"v1", Kind:"ConfigMap", Name:"owner-0", UID:"u", Controller:(*bool)(0x0), BlockOwnerDeletion:(*bool)(nil)}, v1.OwnerReference{APIVersion:"v1", Kind:"ConfigMap", Name:"owner-1", UID:"u", Controller:(*bool)(0x0), BlockOwnerDeletion:(*bool)(nil)}}: Only one reference can have Controller set to true. Found "true" in references for ConfigMap/owner-0 and ConfigMap/owner-1',
    ])
  })
})
