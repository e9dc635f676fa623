import type { ApiObject } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { customPrinter } from './custom-printer.ts'

const column = (name: string, jsonPath: string) => ({ name, type: 'string', jsonPath })

const cell = (type: string, n: unknown) =>
  customPrinter([{ name: 'N', type, jsonPath: '.spec.n' }]).cells(
    { metadata: { name: 'a' }, spec: { n } } as unknown as ApiObject,
    {
      now: 0,
    },
  )[1]

describe('customPrinter', () => {
  it('ends the columns before one whose path is malformed', () => {
    const printer = customPrinter([column('A', '.spec.a'), column('B', '.spec["b"]'), column('C', '.spec.c')])
    expect(printer.columns.map(({ name }) => name)).toEqual(['Name', 'A'])
    const object = { apiVersion: 'v1', kind: 'X', metadata: { name: 'x' }, spec: { a: 'y' } }
    expect(printer.cells(object, { now: 0 } as Parameters<typeof printer.cells>[1])).toEqual(['x', 'y'])
  })

  it.each<[unknown, number | bigint]>([
    [3, 3],
    [3.9, 3],
    [-3.9, -3],
    [9007199254740993n, 9007199254740993n],
    [2n ** 63n - 1n, 2n ** 63n - 1n],
    [-(2n ** 63n), -(2n ** 63n)],
    [1e18, 10n ** 18n],
    [2 ** 63, -(2n ** 63n)],
    [1e300, -(2n ** 63n)],
  ])('shows %s in a column of integers as kube-apiserver does', (value, shown) => expect(cell('integer', value)).toBe(shown))

  it.each<[unknown, string]>([
    [1e18, '1000000000000000000'],
    [2 ** 60, '1152921504606847000'],
    [2 ** 63, '9.223372036854776e+18'],
    [1.5, '1.5'],
    [3, '3'],
    [9007199254740993n, '9007199254740993'],
  ])('shows %s in a column of strings as it is stored', (value, shown) => expect(cell('string', value)).toBe(shown))

  it('shows numbers as floats', () => expect(cell('number', 9007199254740993n)).toBe(9007199254740992))
})
