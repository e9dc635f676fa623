import { type CompileBudget, type Environment, PlanError, type Program } from '@krmkit/cel'
import { boolType, stringType } from '@krmkit/cel/types'
import { trimSpace } from '@krmkit/meta/go-text'
import type { DeclType } from './decl-type.ts'
import { declaredSizes, oldSelfName, ruleEnvironment } from './rule-environment.ts'

/** An entry of `x-kubernetes-validations`. */
export interface Rule {
  readonly rule: string
  readonly message?: string | undefined
  readonly messageExpression?: string | undefined
  readonly reason?: string | null | undefined
  readonly fieldPath?: string | undefined
  readonly optionalOldSelf?: boolean | null | undefined
}

/** A compiled rule with its cost estimates. */
export interface CompiledRule {
  /** Absent for a rule that is empty or does not compile. */
  readonly program?: Program
  /** Compile error of the rule. */
  readonly problem?: string
  readonly usesOldSelf: boolean
  /** Worst-case cost of one evaluation. */
  readonly maxCost: number
  readonly message?: Program
  readonly messageProblem?: string
  readonly messageMaxCost: number
}

export interface RuleCompilerOptions {
  /** Returns the environment of an expression: stored expressions may use more functions than new ones. */
  environment(expression: string): Environment
  /** Node budget shared with the other rules of the schema. */
  readonly budget?: CompileBudget
  /** Whether to estimate costs; needed only when a CustomResourceDefinition is validated. */
  readonly estimate?: boolean
}

const emptyRule = { usesOldSelf: false, maxCost: 0, messageMaxCost: 0 }

/**
 * Compiles a rule. Never throws: errors are part of the result.
 *
 * @example
 * import { compileRule, schemaDeclType } from '@krmkit/schema/rules'
 * import { Environment } from '@krmkit/cel'
 * const declared = schemaDeclType({ type: 'object', properties: { n: { type: 'integer' } } }, 'Widget')!
 * const environment = Environment.ofRelease('1.33')
 * compileRule({ rule: 'self.n < 3' }, declared, { environment: () => environment }).problem // undefined
 * const { maxCost } = compileRule({ rule: 'self.n < 3' }, declared, { environment: () => environment, estimate: true })
 * maxCost // 3
 */
export function compileRule(
  rule: Rule,
  declared: DeclType,
  { environment, estimate = false, budget }: RuleCompilerOptions,
): CompiledRule {
  if (trimSpace(rule.rule ?? '') === '') return emptyRule
  const optional = rule.optionalOldSelf === true
  const scope = (text: string) => ruleEnvironment(environment(text), declared, optional)
  const cost = declaredSizes(declared)
  const compiled = scope(rule.rule).compile(rule.rule, budget)
  if ('problem' in compiled) return { ...emptyRule, problem: `compilation failed: ${compiled.problem}` }
  if (compiled.type.kind !== boolType.kind) return { ...emptyRule, problem: 'cel expression must evaluate to a bool' }
  const usesOldSelf = compiled.uses(oldSelfName)
  const program = compiled.program()
  if (program instanceof PlanError)
    return { ...emptyRule, usesOldSelf, problem: `program instantiation failed: ${program.message}` }
  const whole = { usesOldSelf, program, maxCost: estimate ? compiled.estimate(cost).max : 0, messageMaxCost: 0 }
  const text = rule.messageExpression ?? ''
  if (text === '') return whole
  const message = scope(text).compile(text, budget)
  if ('problem' in message) return { ...whole, messageProblem: `messageExpression compilation failed: ${message.problem}` }
  if (message.type.kind !== stringType.kind) return { ...whole, messageProblem: 'messageExpression must evaluate to a string' }
  const messageProgram = message.program()
  if (messageProgram instanceof PlanError) {
    return { ...whole, messageProblem: `messageExpression instantiation failed: ${messageProgram.message}` }
  }
  return { ...whole, message: messageProgram, messageMaxCost: estimate ? message.estimate(cost).max : 0 }
}
