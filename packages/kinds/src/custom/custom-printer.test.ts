import { describe, expect, it } from 'vitest'
import { customPrinter } from './custom-printer.ts'

const column = (name: string, jsonPath: string) => ({ name, type: 'string', jsonPath })

describe('customPrinter', () => {
  it('ends the columns before one whose path is malformed', () => {
    const printer = customPrinter([column('A', '.spec.a'), column('B', '.spec["b"]'), column('C', '.spec.c')])
    expect(printer.columns.map(({ name }) => name)).toEqual(['Name', 'A'])
    const object = { apiVersion: 'v1', kind: 'X', metadata: { name: 'x' }, spec: { a: 'y' } }
    expect(printer.cells(object, { now: 0 } as Parameters<typeof printer.cells>[1])).toEqual(['x', 'y'])
  })
})
