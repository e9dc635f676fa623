import type { JsonObject } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import errors from '../../testdata/errors.json' with { type: 'json' }
import { type CheckedExpression, Environment } from '../environment.ts'
import { fromJson } from '../values/json-values.ts'
import { ErrorValue } from '../values/values.ts'
import { PlanError } from './step.ts'

/** Calls that fail for arguments of unknown type: error text and cost equal those of kube-apiserver's libraries. */

interface Case {
  readonly expr: string
  readonly error?: string
  readonly cost?: number
  /** Expected planning error. */
  readonly plan?: string
}

const { self, cases } = errors as unknown as { readonly self: JsonObject; readonly cases: readonly Case[] }
const environment = Environment.ofRelease('1.33').with([['self', { kind: 'dyn' }]])

function outcomeOf(expr: string): Omit<Case, 'expr'> {
  const program = (environment.compile(expr) as CheckedExpression).program()
  if (program instanceof PlanError) return { plan: program.message }
  const { value, cost } = program.evaluate({ self: fromJson(self) })
  return { error: value instanceof ErrorValue ? value.message : 'none', cost }
}

describe('errors of calls', () => {
  it.each(cases)('$expr', ({ expr, ...expected }) => {
    expect(outcomeOf(expr)).toEqual(expected)
  })
})

describe('values that cannot be compared', () => {
  const evaluate = (expr: string) => {
    const program = (environment.compile(expr) as CheckedExpression).program()
    return program instanceof PlanError ? program.message : program.evaluate({ self: fromJson(self) }).value
  }

  it('are an error with ==, and unequal with !=', () => {
    expect(evaluate("dyn(quantity('1')) == 'a'")).toEqual(new ErrorValue('no such overload'))
    expect(evaluate("dyn(quantity('1')) != 'a'")).toBe(true)
    expect(evaluate("'a' == dyn(quantity('1'))")).toBe(false)
  })

  it('are an error in max(), while NaN is skipped', () => {
    expect(evaluate('self.mixed.max()')).toEqual(new ErrorValue('no such overload'))
    expect(evaluate("[1.5, double('NaN'), 2.5].max() == 2.5")).toBe(true)
    expect(evaluate("[1.5, double('NaN'), 1.0].isSorted()")).toBe(true)
  })
})
