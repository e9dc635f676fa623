import { describe, expect, it } from 'vitest'
import { Environment } from './environment.ts'
import { PlanError } from './plan/step.ts'
import { ErrorValue, type Value } from './values/values.ts'

/** Names and constants that are resolved at compile time, and time zone names. */

const environment = Environment.ofRelease('1.33')

function evaluate(expression: string): Value | string {
  const compiled = environment.compile(expression)
  if ('problem' in compiled) return compiled.problem
  const program = compiled.program()
  if (program instanceof PlanError) return `not planned: ${program.message}`
  const { value } = program.evaluate({})
  return value instanceof ErrorValue ? `error: ${value.message}` : value
}

describe('conversions of constants', () => {
  it.each([
    ['int(null)', 'no such overload: int(null_type)'],
    ['string(int(null))', 'no such overload: int(null_type)'],
    ['string(null)', 'no such overload: string(null_type)'],
    ['bool(dyn(null))', 'no such overload: bool(null_type)'],
    ['bool(dyn(1))', 'no such overload: bool(int)'],
    ['int(dyn("x"))', "type conversion error from 'string' to 'int'"],
  ])('are evaluated at planning time: %s', (expression, message) => {
    expect(evaluate(expression)).toBe(`not planned: ${message}`)
  })

  it('choose the overload by the value when its type is unknown', () => {
    expect(evaluate('int(dyn("5")) == 5 && string(dyn(1)) == "1"')).toBe(true)
  })
})

describe('names of messages', () => {
  it.each(['Int64Value', 'Any', 'ListValue', 'Struct', 'Value'])('name a type without a value: google.protobuf.%s', (name) => {
    const full = `google.protobuf.${name}`
    for (const expression of [full, `type(1) == ${full}`, `.${full} == int`, `[1].map(google, ${full})`])
      expect(evaluate(expression)).toBe(`not planned: reference to undefined type: ${full}`)
  })

  it('name a type that has a value, for messages that have no other representation', () => {
    expect(evaluate('type(google.protobuf.Empty{}) == google.protobuf.Empty')).toBe(true)
  })

  it('have the type `type`', () => {
    expect(evaluate('string(google.protobuf.Int64Value)')).toContain(
      "found no matching overload for 'string' applied to '(type(wrapper(int)))'",
    )
  })

  it('include the names of enum values', () => {
    expect(evaluate('google.protobuf.NullValue.NULL_VALUE == 0')).toBe(true)
    expect(evaluate('google.protobuf.NullValue')).toContain("undeclared reference to 'google'")
  })
})

describe('time zones', () => {
  const at = (zone: string, word = 'Hours') => `timestamp("2020-07-01T12:34:56Z").get${word}("${zone}")`

  it.each<[zone: string, hours: number, minutes: number]>([
    ['', 12, 34],
    ['UTC', 12, 34],
    ['Factory', 12, 34],
    ['Europe/Berlin', 14, 34],
    ['EST5EDT', 8, 34],
    ['Etc/GMT+1', 11, 34],
    ['+1:30', 14, 4],
    ['1:30', 14, 4],
    ['-00:00', 12, 34],
    ['-0:30', 12, 4],
    ['-01:30', 11, 4],
    ['1:-30', 13, 4],
    ['-1:-30', 12, 4],
    ['+99:99', 17, 13],
    ['+2147483648:00', 6, 13],
  ])('%j gives %d:%d', (zone, hours, minutes) => {
    expect([evaluate(at(zone)), evaluate(at(zone, 'Minutes'))]).toEqual([hours, minutes])
  })

  it('accepts the local zone of the machine', () => {
    expect(evaluate(at('Local'))).toBe(new Date('2020-07-01T12:34:56Z').getHours())
  })

  it.each([
    ['utc', 'unknown time zone utc'],
    ['europe/berlin', 'unknown time zone europe/berlin'],
    ['est', 'unknown time zone est'],
    ['Z', 'unknown time zone Z'],
    ['UTC+1', 'unknown time zone UTC+1'],
    ['../UTC', 'time: invalid location name'],
    ['/UTC', 'time: invalid location name'],
    ['+1:', 'strconv.Atoi: parsing \\"\\": invalid syntax'],
    [' 1:00', 'strconv.Atoi: parsing \\" 1\\": invalid syntax'],
    ['+9223372036854775808:00', 'strconv.Atoi: parsing \\"+9223372036854775808\\": value out of range'],
  ])('rejects %j', (zone, message) => {
    expect(evaluate(at(zone))).toBe(`error: ${message.replaceAll('\\', '')}`)
  })
})
