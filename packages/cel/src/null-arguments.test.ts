import { describe, expect, it } from 'vitest'
import { Environment } from './environment.ts'
import { conversions } from './functions/conversions.ts'
import { operators } from './functions/operators.ts'
import { times } from './functions/times.ts'
import { namedFormats } from './libraries/formats.ts'
import { lists } from './libraries/lists.ts'
import { networks } from './libraries/networks.ts'
import { quantities } from './libraries/quantities.ts'
import { matching, regex } from './libraries/regex.ts'
import { semver } from './libraries/semver.ts'
import { sets } from './libraries/sets.ts'
import { strings } from './libraries/strings.ts'
import { urls } from './libraries/urls.ts'
import { Program } from './plan/program.ts'
import type { Overload } from './values/declarations.ts'
import { fromJson } from './values/json-values.ts'
import { parametersOf, stringType, type Type } from './values/types.ts'
import { Double, Duration, ErrorValue, Timestamp, Uint, type Value } from './values/values.ts'

/**
 * A value of any nullable type can be null at run time, so every function must return an error for null instead of throwing.
 */

const libraries = [strings, regex, lists, sets, urls, networks, quantities, namedFormats, semver]
const functions = [operators, conversions, times, [matching], ...libraries.map((library) => library.functions)].flat()

const samples: Readonly<Partial<Record<Type['kind'], Value>>> = {
  bool: true,
  int: 1,
  uint: new Uint(1n),
  double: new Double(1.5),
  string: 'a',
  null: null,
  timestamp: new Timestamp(0n),
  duration: new Duration(0n),
  dyn: 'a',
  list: fromJson(['a']),
  map: fromJson({ a: 'a' }),
}

/** Replaces the type parameters of a type by string. */
function concrete(type: Type): Type {
  if (type.kind === 'param') return stringType
  if (type.kind === 'list') return { ...type, elem: concrete(type.elem) }
  return type.kind === 'map' ? { ...type, key: concrete(type.key), value: concrete(type.value) } : type
}

const infix = /^_(\S+)_$/
const prefix = /^([!-])_$/

/** Returns the text of a call of an overload with the variables `x0`, `x1` ... */
function callOf(name: string, { args, member }: Overload): string {
  const variables = args.map((_, i) => `x${i}`)
  const [first = '', second = '', third = ''] = variables
  if (name === '_?_:_') return `${first} ? ${second} : ${third}`
  if (name === '_[_]') return `${first}[${second}]`
  if (name === '@in') return `${first} in ${second}`
  const operator = prefix.exec(name)?.[1] ?? infix.exec(name)?.[1]
  if (operator !== undefined) return args.length === 1 ? `${operator}${first}` : `${first} ${operator} ${second}`
  return member ? `${first}.${name}(${variables.slice(1).join(', ')})` : `${name}(${variables.join(', ')})`
}

const opaque = (type: Type): boolean => type.kind === 'opaque' || type.kind === 'type' || parametersOf(type).some(opaque)
const calls = functions.flatMap(({ name, overloads }) =>
  overloads
    .filter(({ args }) => !name.startsWith('@not') && args.length > 0 && !args.some(opaque))
    .map((overload) => [overload.id, callOf(name, overload), overload] as const),
)

/** Evaluates a call in which the arguments whose bits are set are null. */
function evaluate(text: string, { args }: Overload, nulls: number): Value {
  const types = args.map((type, i) => [`x${i}`, concrete(type)] as const)
  const compiled = Environment.ofRelease('1.33').with(types).compile(text)
  if ('problem' in compiled) throw new Error(compiled.problem)
  const program = compiled.program()
  if (!(program instanceof Program)) throw program
  const values = types.map(([name, { kind }], i) => [name, (nulls >> i) % 2 === 1 ? null : (samples[kind] ?? null)] as const)
  return program.evaluate(Object.fromEntries(values)).value
}

describe('null as an argument', () => {
  it.each(calls)('does not make %s throw: %s', (_, text, overload) => {
    for (let nulls = 1; nulls < 2 ** overload.args.length; nulls++) {
      const value = evaluate(text, overload, nulls)
      // With `&&` and `||` the other operand may decide; otherwise only parameters of any type accept null.
      if (/^logical_(and|or)$/.test(overload.id)) continue
      const takesNull = overload.args.every(
        ({ kind }, i) => (nulls >> i) % 2 === 0 || kind === 'param' || kind === 'dyn' || kind === 'null',
      )
      if (!takesNull) expect(value, nulls.toString(2)).toBeInstanceOf(ErrorValue)
    }
  })

  it('is found in lists and is not a map key', () => {
    const found = (text: string, x: unknown) => {
      const program = Environment.ofRelease('1.33')
        .with([['x', { kind: 'dyn' }]])
        .compile(text)
      if ('problem' in program) throw new Error(program.problem)
      return (program.program() as Program).evaluate({ x: fromJson(x) }).value
    }
    expect([found('null in x', [null]), found('null in x', ['a'])]).toEqual([true, false])
  })

  it.each(['all', 'exists', 'exists_one', 'filter', 'map'])('is not a range of %s', (macro) => {
    for (const type of [
      { kind: 'list', elem: stringType },
      { kind: 'map', key: stringType, value: stringType },
    ] as const) {
      const compiled = Environment.ofRelease('1.33')
        .with([['x', type]])
        .compile(`x.${macro}(a, a == 'a') == x.${macro}(a, true)`)
      if ('problem' in compiled) throw new Error(compiled.problem)
      const { value } = (compiled.program() as Program).evaluate({ x: null })
      expect(value).toMatchObject({ message: "got 'types.Null', expected iterable type" })
    }
  })
})
