import { type CheckedExpression, Environment, type Evaluation, PausedEvaluation } from '@krmkit/cel'
import type { JsonObject, JsonValue } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import calls from '../../testdata/cel-calls.json' with { type: 'json' }
import expressions from '../../testdata/cel-expressions.json' with { type: 'json' }
import { type DeclType, schemaDeclType } from './decl-type.ts'
import { ruleEnvironment } from './rule-environment.ts'
import { createRuleTree, type RuleNode } from './rule-tree.ts'
import { schemaAdapter } from './schema-values.ts'
import { validateRules } from './validate-rules.ts'

const numbers = (count: number) => Array.from({ length: count }, (_, i) => i)

it('expressions over values with a schema that pause have the results of those that do not', () => {
  interface Vector {
    readonly schema: JsonObject
    readonly self?: JsonObject
    readonly cases?: readonly { readonly expr: string }[]
    readonly costs?: readonly { readonly expr: string; readonly self: JsonValue }[]
  }
  let pauses = 0
  for (const { schema, self: shared, cases = [], costs = [] } of [calls, ...expressions] as unknown as Vector[]) {
    const scope = ruleEnvironment(Environment.ofRelease('1.33'), schemaDeclType(schema, 'T') as DeclType, false)
    for (const { expr, self = shared as JsonValue } of [...cases, ...costs] as readonly { expr: string; self?: JsonValue }[]) {
      const program = (scope.compile(expr) as CheckedExpression).program() as Exclude<
        ReturnType<CheckedExpression['program']>,
        Error
      >
      const variables = { self: schemaAdapter(schema)(self) }
      let result: Evaluation | PausedEvaluation = program.start(variables, { pauseAfter: 0 })
      for (; result instanceof PausedEvaluation; pauses++) result = result.resume()
      expect(result).toEqual(program.evaluate(variables))
    }
  }
  expect(pauses).toBeGreaterThan(1000)
})

describe('validateRules', () => {
  const tree = (rules: readonly string[]) =>
    createRuleTree(
      {
        type: 'object',
        properties: { n: { type: 'array', items: { type: 'integer', 'x-kubernetes-validations': [{ rule: 'self >= 0' }] } } },
        'x-kubernetes-validations': rules.map((rule) => ({ rule })),
      },
      { environment: () => Environment.ofRelease('1.33'), root: false },
    ) as RuleNode
  const yieldsOf = (rules: readonly string[], value: JsonObject) => {
    const yielded = [...validateRules(tree(rules), value)]
    expect(yielded.every((each) => each === true)).toBe(true)
    return yielded.length
  }

  it('can be interrupted after each expensive rule', () => {
    const rules = Array.from({ length: 30 }, (_, i) => `self.n.all(x, x >= -${i})`)
    expect(yieldsOf(rules, { n: numbers(400) })).toBeGreaterThanOrEqual(30)
  })

  it('can be interrupted within a rule', () => {
    expect(yieldsOf(['self.n.all(x, x >= 0)'], { n: numbers(100_000) })).toBeGreaterThan(10)
  })

  it('can be interrupted between the items of a list', () => {
    expect(yieldsOf([], { n: numbers(10_000) })).toBeGreaterThan(50)
  })

  it('yields nothing for a small object', () => {
    expect(yieldsOf(['self.n.all(x, x >= 0)'], { n: [1, 2] })).toBe(0)
  })
})
