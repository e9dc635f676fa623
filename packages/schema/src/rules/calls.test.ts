import { type CheckedExpression, Environment, type Program } from '@krmkit/cel'
import { ErrorValue, toJson } from '@krmkit/cel/values'
import type { JsonObject, JsonValue } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import calls from '../../testdata/cel-calls.json' with { type: 'json' }
import { type DeclType, schemaDeclType } from './decl-type.ts'
import { declaredSizes, ruleEnvironment } from './rule-environment.ts'
import { schemaAdapter } from './schema-values.ts'

/** Nested calls of every function: estimate, cost, and result or error equal those of kube-apiserver's libraries. */

interface Case {
  readonly expr: string
  /** `null` for an unlimited maximum. */
  readonly estimate: readonly [min: number, max: number | null]
  readonly cost: number
  readonly is?: JsonValue
  readonly error?: string
}

const { schema, self, cases } = calls as unknown as {
  readonly schema: JsonObject
  readonly self: JsonObject
  readonly cases: readonly Case[]
}

/** Larger estimates count as unlimited. */
const unlimited = 1e15

describe('calls', () => {
  const declared = schemaDeclType(schema, 'T') as DeclType
  const environment = ruleEnvironment(Environment.ofRelease('1.33'), declared, false)

  it.each(cases)('evaluates $expr', ({ expr, ...expected }) => {
    const compiled = environment.compile(expr) as CheckedExpression
    const { min, max } = compiled.estimate(declaredSizes(declared))
    const { value, cost } = (compiled.program() as Program).evaluate({ self: schemaAdapter(schema)(self) })
    const result = value instanceof ErrorValue ? { error: value.message } : { is: toJson(value) }
    expect({ estimate: [min, max > unlimited ? null : max], cost, ...result }).toEqual(expected)
  })
})
