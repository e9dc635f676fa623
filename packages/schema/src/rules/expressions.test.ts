import { readFileSync } from 'node:fs'
import { type CheckedExpression, Environment, type Program } from '@krmkit/cel'
import { ErrorValue, toJson } from '@krmkit/cel/values'
import type { JsonObject, JsonValue } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { type DeclType, schemaDeclType } from './decl-type.ts'
import { declaredSizes, ruleEnvironment } from './rule-environment.ts'
import { schemaAdapter } from './schema-values.ts'

/** Vectors for expressions on values with a schema: compile errors, results and costs. */

interface Vector {
  readonly name: string
  readonly schema: JsonObject
  /** Expressions that do not compile, with the complete message. */
  readonly problems?: Readonly<Record<string, string>>
  readonly costs?: readonly Case[]
}

interface Case {
  readonly expr: string
  readonly self: JsonValue
  /** Expected result, unless `error` is set. */
  readonly is?: JsonValue
  readonly error?: string
  readonly estimate?: readonly [min: number, max: number]
  readonly cost?: number
}

const file = new URL('../../testdata/cel-expressions.json', import.meta.url)
const vectors = JSON.parse(readFileSync(file, 'utf8')) as readonly Vector[]

describe.each(vectors)('$name', ({ schema, problems = {}, costs = [] }) => {
  const declared = schemaDeclType(schema, 'T') as DeclType
  const compile = (text: string) => ruleEnvironment(Environment.ofRelease('1.33'), declared, false).compile(text)

  it.each(Object.entries(problems))('rejects %s', (text, problem) => {
    expect(compile(text)).toEqual({ problem })
  })

  it.each(costs)('evaluates $expr', ({ expr, self, is, error, estimate, cost }) => {
    const compiled = compile(expr) as CheckedExpression
    expect(compiled).not.toHaveProperty('problem')
    const { value, cost: spent } = (compiled.program() as Program).evaluate({ self: schemaAdapter(schema)(self) })
    expect(value instanceof ErrorValue ? { error: value.message } : { is: toJson(value) }).toEqual(
      error === undefined ? { is } : { error },
    )
    if (cost !== undefined) expect(spent).toBe(cost)
    const { min, max } = compiled.estimate(declaredSizes(declared))
    if (estimate !== undefined) expect([min, max]).toEqual(estimate)
  })
})
