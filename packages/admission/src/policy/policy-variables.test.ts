import { createTurns, Pace } from '@krmkit/base/work'
import { authorizerValue, type CelAuthorizer } from '@krmkit/cel'
import { intType, listOf, type Type } from '@krmkit/cel/types'
import { fromJson } from '@krmkit/cel/values'
import { cel, loadCel } from '@krmkit/schema'
import { describe, expect, it } from 'vitest'
import type { ExpressionProgram } from './evaluate-expression.ts'
import { policyVariables } from './policy-variables.ts'

const numbers = Array.from({ length: 30_000 }, (_, i) => i)

async function policyOf(texts: Readonly<Record<string, string>>, authorizer: CelAuthorizer) {
  await loadCel()
  const { engine, storedExpressions: stored } = cel()
  const types = new Map<string, Type>(Object.keys(texts).map((name) => [name, engine.dynType]))
  const scope = engine
    .admissionEnvironment(stored, { params: false, authorizer: true, variables: types })
    .with([['n', listOf(intType)]])
  const compile = (text: string): ExpressionProgram => ({ text, compiled: engine.compileExpression(scope, text) })
  const sources = new Map(Object.entries(texts).map(([name, text]) => [name, compile(text)]))
  const outer = { n: fromJson(numbers), authorizer: authorizerValue(authorizer) }
  const { variables, spending } = policyVariables(sources, outer, engine.createWorkBudget())
  return {
    spending,
    start(text: string) {
      const { compiled } = compile(text)
      if ('problem' in compiled) throw new Error(compiled.problem)
      return { engine, program: compiled.program, result: compiled.program.start(variables) }
    },
    async evaluate(text: string) {
      const { program } = this.start(text)
      return program.evaluateAsync(variables, new Pace(createTurns()))
    },
  }
}

describe('policyVariables', () => {
  const allowed: CelAuthorizer = () => ({ allowed: true, reason: '', error: '' })

  it('pauses the expression that uses a variable which takes long', async () => {
    const policy = await policyOf({ sums: 'n.map(i, i + 1)', long: 'variables.sums.all(i, i > 0)' }, allowed)
    let { engine, result } = policy.start('variables.long && variables.long')
    let pauses = 0
    while (result instanceof engine.PausedEvaluation) {
      pauses++
      result = result.resume()
    }
    expect(result.value).toBe(true)
    expect(pauses).toBeGreaterThan(8)
    // Each variable is evaluated once: 14 for an item of the list, 5 for an item that is checked, 5 for the names.
    expect(policy.spending.spent()).toBe(19 * numbers.length + 5)
  })

  it('waits for an authorizer within a variable, once for each check', async () => {
    let checks = 0
    const slow: CelAuthorizer = async ({ verb }) => {
      checks++
      return { allowed: verb === 'get', reason: '', error: '' }
    }
    const check = (verb: string) => `authorizer.group('').resource('pods').check('${verb}').allowed()`
    const policy = await policyOf({ may: `n.all(i, i >= 0) && ${check('get')}`, mayNot: `!${check('list')}` }, slow)
    expect((await policy.evaluate('variables.may && variables.mayNot && variables.may')).value).toBe(true)
    expect(checks).toBe(2)
  })
})
