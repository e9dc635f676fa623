import { describe, expect, it } from 'vitest'
import {
  compareCodePoints,
  goFloat,
  goNumber,
  goQuote,
  goStrings,
  goSyntax,
  goText,
  isPrintable,
  utf8Length,
} from '../go-text.ts'
import { Quantity } from '../quantity/quantity.ts'
import { field, formatFieldError, formatFieldErrors } from './field-error.ts'
import { Path } from './path.ts'

describe('Path', () => {
  it('formats members, items and keys', () => {
    expect(String(Path.of('spec').child('a').index(0).key('k'))).toBe('spec.a[0][k]')
    expect(String(Path.of('spec', 'template').child('spec', 'containers').index(12).child('name'))).toBe(
      'spec.template.spec.containers[12].name',
    )
    expect(String(Path.of('data').key('a.b/c'))).toBe('data[a.b/c]')
    expect(String(Path.of('status').child('capacity', '').child('x'))).toBe('status.capacity[].x')
  })

  it('is immutable', () => {
    const path = Path.of('a')
    path.child('b')
    path.index(1)
    expect(String(path)).toBe('a')
  })
})

describe('field', () => {
  const path = Path.of('spec', 'x')
  it('uses the messages of kube-apiserver', () => {
    expect([
      field.invalid(path, 'v"', 'd'),
      field.typeInvalid(path, 1, 'd'),
      field.required(path),
      field.required(path, 'd'),
      field.notSupported(path, 'z', ['b', 'a']),
      field.notSupported(path, 'z', []),
      field.forbidden(path, 'd'),
      field.duplicate(path, 'v'),
      field.tooLong(path, 'v', 1),
      field.tooLong(path, 'v', -1),
      field.tooMany(path, 2, 1),
      field.tooMany(path, -1, -1),
      field.notFound(path, 'v'),
      field.internal(path, 'd'),
    ]).toEqual(
      [
        ['FieldValueInvalid', 'Invalid value: "v\\"": d'],
        ['FieldValueTypeInvalid', 'Invalid value: 1: d'],
        ['FieldValueRequired', 'Required value'],
        ['FieldValueRequired', 'Required value: d'],
        ['FieldValueNotSupported', 'Unsupported value: "z": supported values: "b", "a"'],
        ['FieldValueNotSupported', 'Unsupported value: "z"'],
        ['FieldValueForbidden', 'Forbidden: d'],
        ['FieldValueDuplicate', 'Duplicate value: "v"'],
        ['FieldValueTooLong', 'Too long: may not be more than 1 bytes'],
        ['FieldValueTooLong', 'Too long: value is too long'],
        ['FieldValueTooMany', 'Too many: 2: must have at most 1 items'],
        ['FieldValueTooMany', 'Too many: has too many items'],
        ['FieldValueNotFound', 'Not found: "v"'],
        ['InternalError', 'Internal error: d'],
      ].map(([reason, message]) => ({ field: 'spec.x', reason, message })),
    )
  })

  it('formats values as Go does', () => {
    const print = (value: unknown) => field.invalid('x', value, '').message.slice('Invalid value: '.length)
    expect([null, undefined, true, 1, -1.5, 1e21, 10n ** 18n, ''].map(print)).toEqual([
      '"null"',
      '"null"',
      'true',
      '1',
      '-1.5',
      '1e+21',
      '1000000000000000000',
      '""',
    ])
    expect(print({ b: [1, 'x', null], a: {} })).toBe(
      'map[string]interface {}{"a":map[string]interface {}{}, "b":[]interface {}{1, "x", interface {}(nil)}}',
    )
    expect(print(Object.assign(Object.create(null), { a: true }))).toBe('map[string]interface {}{"a":true}')
    expect(print(goText('T{}'))).toBe('T{}')
    expect(print(Quantity.parse('1000m'))).toBe('1')
    expect(print(['a'])).toBe('[]interface {}{"a"}')
  })

  it('joins errors and lists each message once', () => {
    expect(formatFieldErrors([])).toBe('')
    expect(formatFieldErrors([field.required('a')])).toBe('a: Required value')
    expect(formatFieldErrors([field.required('a'), field.required('b'), field.required('a')])).toBe(
      '[a: Required value, b: Required value]',
    )
    expect(field.required(undefined).field).toBe('<nil>')
  })
})

describe('Go formatting', () => {
  it('quotes strings', () => {
    expect(goQuote('plain é 😀 \u3000')).toBe('"plain é 😀 \\u3000"')
    expect(goQuote('\u0007\b\f\n\r\t\v\\"\u0000\u007f\u0085\u00ad\ufeff\ud800\u{e0001}')).toBe(
      '"\\a\\b\\f\\n\\r\\t\\v\\\\\\"\\x00\\x7f\\u0085\\u00ad\\ufeff\ufffd\\U000e0001"',
    )
    expect([isPrintable('a'), isPrintable(' '), isPrintable('\u00a0'), isPrintable('\n')]).toEqual([true, true, false, false])
  })

  it('formats lists and numbers', () => {
    expect([goStrings([]), goStrings(['a', '"'])]).toEqual(['[]string{}', '[]string{"a", "\\""}'])
    expect([1, 1e5, 1e6, 1234567.5, 0.0001, 0.00001, 1.5e300, -0.5, Number.NaN, -Infinity, Infinity].map(goFloat)).toEqual([
      '1',
      '100000',
      '1e+06',
      '1.2345675e+06',
      '0.0001',
      '1e-05',
      '1.5e+300',
      '-0.5',
      'NaN',
      '-Inf',
      '+Inf',
    ])
    expect([1e6, 2 ** 62, -(2 ** 63), 1e20, 2.5].map(goNumber)).toEqual([
      '1000000',
      '4.611686018427388e+18',
      '-9.223372036854776e+18',
      '1e+20',
      '2.5',
    ])
    expect(goSyntax(JSON.parse('{"__proto__":1}'))).toBe('map[string]interface {}{"__proto__":1}')
    expect(goSyntax(7n)).toBe('7')
    expect(goSyntax(goText('x'))).toBe('x')
  })

  it('counts UTF-8 bytes and orders by them', () => {
    const texts = ['', 'a', 'é', '€', '\uffff', '😀', 'a\ud800', '\udc00b', '\ud800']
    for (const text of texts) expect(utf8Length(text)).toBe(new TextEncoder().encode(text).length)
    const well = ['', 'a', 'ab', 'b', 'é', '€', '\ue000', '\uffff', '😀', '😀a']
    for (const [i, a] of well.entries())
      for (const [j, b] of well.entries()) expect(Math.sign(compareCodePoints(a, b))).toBe(Math.sign(i - j))
  })
})

it('counts what is missing', () => {
  const at = Path.of('at')
  expect([field.tooShort(at, '', 1), field.tooShort(at, 'a', 2), field.tooShort(at, 'a', -1)].map(formatFieldError)).toEqual([
    'at: Too short: must be at least 1 character',
    'at: Too short: must be at least 2 characters',
    'at: Too short: value is too short',
  ])
  expect([field.tooFew(at, 0, 1), field.tooFew(at, 1, 2), field.tooFew(at, 1, -1)].map(formatFieldError)).toEqual([
    'at: Too few: 0: must have at least 1 item',
    'at: Too few: 1: must have at least 2 items',
    'at: Too few: 1: has too few items',
  ])
  expect([field.tooShort(at, '', 1).reason, field.tooFew(at, 0, 1).reason]).toEqual(['FieldValueTooShort', 'FieldValueTooFew'])
})
