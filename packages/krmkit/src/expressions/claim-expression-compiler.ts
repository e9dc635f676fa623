import type { ClaimExpression, ClaimExpressionCompiler } from '@krmkit/authentication/configuration'
import type { Environment } from '@krmkit/cel'
import { celTypes, createEvaluator, loadOperatorCel } from './cel.ts'

/**
 * Creates the CEL compiler of an AuthenticationConfiguration: expressions over the `claims` of a token and over the resulting `user`.
 *
 * @example
 * import { claimExpressions } from 'krmkit'
 * const expressions = await claimExpressions()
 * 'problem' in expressions.claims("claims.email.endsWith('@example.com')", 'condition') // false
 * @see docs/operate/authentication.md
 */
export async function createClaimExpressionCompiler(): Promise<ClaimExpressionCompiler> {
  const known = await loadOperatorCel()
  const { engine, environment } = known
  const { text, texts, textsByName, struct } = celTypes(known)
  const user = struct('UserInfo', { username: text, uid: text, groups: texts, extra: textsByName })
  const compile = (
    source: string,
    options: { readonly scope: Environment; readonly variable: string; readonly isCondition: boolean },
  ): ClaimExpression | { readonly problem: string } => {
    const { scope, variable, isCondition } = options
    const compiled = scope.compile(source)
    if ('problem' in compiled) return { problem: `compilation failed: ${compiled.problem}` }
    if (isCondition && compiled.type.kind !== 'bool') return { problem: 'must evaluate to bool' }
    const program = compiled.program()
    if (program instanceof engine.PlanError) return { problem: `program instantiation failed: ${program.message}` }
    const evaluate = createEvaluator(known, { program, variable, read: (result) => result })
    return { evaluate, reads: (member) => compiled.reads(variable, member) }
  }
  const claimScope = environment.with([['claims', engine.mapOf(engine.stringType, engine.dynType)]])
  const userScope = environment.with([['user', user]])
  return {
    claims: (source, kind) => compile(source, { scope: claimScope, variable: 'claims', isCondition: kind === 'condition' }),
    user: (source) => compile(source, { scope: userScope, variable: 'user', isCondition: true }),
  }
}
