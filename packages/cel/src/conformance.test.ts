import { tests as checking } from '@bufbuild/cel-spec/testdata/checking.js'
import { tests as comprehension } from '@bufbuild/cel-spec/testdata/comprehension.js'
import { tests as conformance } from '@bufbuild/cel-spec/testdata/conformance.js'
import { tests as parsing } from '@bufbuild/cel-spec/testdata/parsing.js'
import { describe, expect, it } from 'vitest'
import { type Case, runCase } from '../testdata/conformance.ts'
import { Environment } from './environment.ts'

/** The public CEL conformance suite, restricted to the CEL dialect of Kubernetes. */

interface Suite {
  readonly name: string
  readonly suites?: readonly Suite[]
  readonly tests?: readonly { readonly original: object; readonly error?: string }[]
}

const casesOf = (suite: Suite): { original: Case; error?: string }[] => [
  ...((suite.tests ?? []) as { original: Case; error?: string }[]),
  ...(suite.suites ?? []).flatMap(casesOf),
]

/** Number of passing cases by file. The remaining cases test error texts, containers and unsupported libraries. */
const passing: Readonly<Record<string, number>> = {
  basic: 39,
  comparisons: 304,
  conversions: 107,
  fields: 37,
  fp_math: 29,
  integer_math: 61,
  lists: 39,
  logic: 21,
  macros: 38,
  macros2: 39,
  namespace: 1,
  optionals: 52,
  parse: 148,
  plumbing: 4,
  string: 51,
  string_ext: 145,
  timestamps: 75,
  type_deductions: 18,
}

describe('public conformance suite', () => {
  for (const file of (conformance as Suite).suites ?? []) {
    it(file.name, () => {
      const results = casesOf(file).map(({ original }) => ({ original, result: runCase(original) }))
      const wrong = results.filter(({ result }) => result !== undefined && !result.startsWith('skip'))
      expect(wrong.map(({ original, result }) => `${original.name}: ${original.expr}: ${result}`)).toEqual([])
      expect(results.filter(({ result }) => result === undefined).length).toBe(passing[file.name] ?? 0)
    })
  }
})

describe('parser suites', () => {
  const environment = Environment.ofRelease('1.999')
  const problemOf = (expr: string) => {
    const compiled = environment.compile(expr)
    return 'problem' in compiled ? compiled.problem : undefined
  }

  for (const suite of [parsing, comprehension, checking] as Suite[]) {
    it(suite.name, () => {
      const wrong: string[] = []
      for (const { original, error } of casesOf(suite)) {
        const problem = problemOf(original.expr)
        if (error === undefined && problem !== undefined && !/undeclared reference|expected type/.test(problem)) {
          wrong.push(`${original.expr}: ${problem}`)
        }
        // The suite assumes a recursion limit of 32.
        const refused = suite.name === parsing.name && error !== undefined && !/recursion/.test(error)
        if (refused && problem === undefined) wrong.push(`${original.expr}: accepted`)
      }
      expect(wrong).toEqual([])
    })
  }
})
