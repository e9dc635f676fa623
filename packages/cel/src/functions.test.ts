import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { Environment } from './environment.ts'
import { namedFormats } from './libraries/formats.ts'
import { lists } from './libraries/lists.ts'
import { networks } from './libraries/networks.ts'
import { optionals } from './libraries/optionals.ts'
import { quantities } from './libraries/quantities.ts'
import { regex } from './libraries/regex.ts'
import { semver } from './libraries/semver.ts'
import { sets } from './libraries/sets.ts'
import { strings } from './libraries/strings.ts'
import { urls } from './libraries/urls.ts'
import { PlanError } from './plan/step.ts'
import type { FunctionDeclaration } from './values/declarations.ts'
import { ErrorValue, type Value } from './values/values.ts'

/** Vectors of the functions of every library. */

interface Vectors {
  readonly true: readonly string[]
  readonly errors: readonly (readonly [expression: string, message: string])[]
}

const file = new URL('../testdata/functions.json', import.meta.url)
const vectors = JSON.parse(readFileSync(file, 'utf8')) as Readonly<Record<string, Vectors>>
const environment = Environment.ofRelease('1.33')

/** Libraries that need no authorizer. */
const extensions = [strings, regex, lists, sets, urls, networks, quantities, namedFormats, semver, optionals]

function evaluate(expression: string): Value | string {
  const compiled = environment.compile(expression)
  if ('problem' in compiled) return compiled.problem
  const program = compiled.program()
  if (program instanceof PlanError) return program.message
  const { value } = program.evaluate({})
  return value instanceof ErrorValue ? `error: ${value.message}` : value
}

describe.each(Object.entries(vectors))('%s', (_, { true: truths, errors }) => {
  it.each(truths)('holds: %s', (expression) => {
    expect(evaluate(expression)).toBe(true)
  })

  it.each(errors)('fails: %s', (expression, message) => {
    expect(evaluate(expression)).toBe(`error: ${message}`)
  })
})

it('has a vector for every library function', () => {
  const functions = new Map<string, FunctionDeclaration>()
  for (const { name, overloads } of extensions.flatMap((library) => library.functions)) {
    functions.set(name, { name, overloads: [...(functions.get(name)?.overloads ?? []), ...overloads] })
  }
  const texts = Object.values(vectors).flatMap(({ true: truths, errors }) => [...truths, ...errors.map(([text]) => text)])
  const missing = [...functions.keys()].filter((name) => {
    const plain = name.replace(/[.[\]?]/g, '\\$&')
    const used = new RegExp(name.startsWith('_') ? `\\[\\?|\\.\\?|\\[` : `\\b${plain}\\(`)
    return !texts.some((text) => used.test(text))
  })
  expect(missing).toEqual([])
})
