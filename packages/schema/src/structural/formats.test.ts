import { createFeatures, type JsonObject, type JsonValue } from '@krmkit/meta'
import { errorsAt, formatFieldError } from '@krmkit/meta/validation'
import { describe, expect, it } from 'vitest'
import { isUnrecognizedFormat } from './formats.ts'
import { createSchemaValidator } from './validate.ts'

function errors(schema: JsonObject, value: JsonValue, version: string): string[] {
  const { release } = createFeatures(version)
  const validate = createSchemaValidator({ properties: { a: schema } }, { release })
  return errorsAt(validate({ a: value }), release).map(formatFieldError)
}

const outside = (text: string) => `<nil>: Invalid value: "": Checked value must be of type ${text} in a`

describe('numeric formats', () => {
  it.each<[JsonObject, JsonValue, string[]]>([
    [{ type: 'integer', format: 'int32' }, 2 ** 31, [outside('integer with format int32')]],
    [{ type: 'integer', format: 'int32' }, -(2 ** 31) - 1, [outside('integer with format int32')]],
    [{ type: 'integer', format: 'int32' }, 2 ** 31 - 1, []],
    [{ type: 'integer' }, 2 ** 31, []],
    [{ type: 'number', format: 'float' }, 1e39, [outside('number with format float')]],
    [{ type: 'number', format: 'double' }, 1e39, []],
    [{ type: 'number', format: 'int32' }, 2 ** 31, []],
  ])('%j refuses what does not fit from 1.36 on: %j', (schema, value, refused) => {
    expect(errors(schema, value, '1.35')).toEqual([])
    expect(errors(schema, value, '1.36')).toEqual(refused)
  })

  it.each<[JsonObject, JsonValue, string[], string[]]>([
    [
      { type: 'integer', format: 'int64' },
      1e20,
      ['a: Invalid value: "number": a in body must be of type integer: "number"'],
      ['a: Invalid value: "float64": a in body must be of type int64: "float64"', outside('integer with format int64')],
    ],
    [
      { type: 'integer' },
      1.5,
      ['a: Invalid value: "number": a in body must be of type integer: "number"'],
      ['a: Invalid value: "number": a in body must be of type integer: "number"', outside('integer (default format)')],
    ],
  ])('%j refuses %j with two errors from 1.36 on', (schema, value, before, after) => {
    expect(errors(schema, value, '1.35')).toEqual(before)
    expect(errors(schema, value, '1.36')).toEqual(after)
  })

  it('tests bounds and factors, and compares with those outside as they are', () => {
    const schema = { type: 'integer', format: 'int32', maximum: 1.5, multipleOf: 3e9 }
    expect(errors(schema, 2, '1.36')).toEqual([
      '<nil>: Invalid value: "": MultipleOf value must be of type integer with format int32 in a',
      'a: Invalid value: 2: a in body should be a multiple of 3e+09',
      '<nil>: Invalid value: "": Maximum boundary value must be of type integer with format int32 in a',
      'a: Invalid value: 2: a in body should be less than or equal to 1.5',
    ])
  })
})

describe('formats of texts', () => {
  it('are those of names from 1.34 on', () => {
    const long = { type: 'string', format: 'k8s-long-name' }
    expect(errors(long, 'A', '1.33')).toEqual([])
    expect(errors(long, 'A', '1.34')).toEqual(['a: Invalid value: "A": a in body must be of type k8s-long-name: "A"'])
    expect(errors(long, 'a.b', '1.34')).toEqual([])
    expect(errors({ type: 'string', format: 'k8s-short-name' }, 'a.b', '1.34')).toHaveLength(1)
  })

  it('apply to texts only from 1.36 on', () => {
    const schema = { type: 'boolean', format: 'date' }
    expect(errors(schema, 'x', '1.35')).toEqual(['a: Invalid value: "x": a in body must be of type date: "x"'])
    expect(errors(schema, 'x', '1.36')).toEqual(['a: Invalid value: "string": a in body must be of type boolean: "string"'])
  })
})

it.each([
  [{ type: 'string', format: 'zip-code' }, [false, true, true]],
  [{ type: 'string', format: 'date' }, [false, false, false]],
  [{ type: 'string', format: 'k8s-short-name' }, [false, false, false]],
  [{ format: 'zip-code' }, [false, false, true]],
  [{ type: 'integer', format: 'int32' }, [false, false, false]],
  [{ type: 'string', format: 'int32' }, [false, true, true]],
  [{ type: 'integer', format: 'date' }, [false, false, true]],
  [{ type: 'object', format: 'date' }, [false, false, true]],
  [{ type: 'string' }, [false, false, false]],
])('%j is unrecognized in 1.33, 1.34, 1.36: %j', (schema, expected) => {
  expect(['1.33', '1.34', '1.36'].map((version) => isUnrecognizedFormat(schema, createFeatures(version).release))).toEqual(
    expected,
  )
})
