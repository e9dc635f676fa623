import type { Environment } from './environment.ts'
import type { Program } from './plan/program.ts'
import { PlanError } from './plan/step.ts'
import type { CompileBudget } from './syntax/compile-budget.ts'
import { sameType, type Type, typeName } from './values/types.ts'

/** Expressions whose result must have one of several types. */
export interface CompiledExpression {
  readonly text: string
  readonly program: Program
  readonly type: Type
}

/** The reason why an expression is rejected. */
export interface ExpressionProblem {
  readonly problem: string
  /** Whether planning failed after a successful type check. */
  readonly internal: boolean
}

export interface ExpressionOptions {
  /** Allowed kinds of the result type. Default: any. */
  readonly kinds?: readonly Type['kind'][] | undefined
  /** The result type, compared by name and arguments. Default: any. */
  readonly result?: Type | undefined
  /** Node budget shared with other expressions of the same object. */
  readonly budget?: CompileBudget | undefined
}

/**
 * Compiles an expression and checks its result type.
 *
 * @example
 * import { compileExpression, Environment } from '@krmkit/cel'
 * import { dynType } from '@krmkit/cel/types'
 * import { fromJson } from '@krmkit/cel/values'
 * const environment = Environment.ofRelease('1.33').with([['self', dynType]])
 * const compiled = compileExpression(environment, 'self.n < 3', { kinds: ['bool'] })
 * if ('problem' in compiled) throw new Error(compiled.problem)
 * compiled.program.evaluate({ self: fromJson({ n: 5 }) }).value // false
 */
export function compileExpression(
  environment: Environment,
  text: string,
  { kinds, result, budget }: ExpressionOptions = {},
): CompiledExpression | ExpressionProblem {
  const compiled = environment.compile(text, budget)
  if ('problem' in compiled) return { problem: `compilation failed: ${compiled.problem}`, internal: false }
  const { type } = compiled
  if (kinds !== undefined && !kinds.includes(type.kind)) {
    const [only, ...more] = kinds.map((kind) => (kind === 'null' ? 'null_type' : kind))
    const wanted = more.length === 0 ? only : `one of [${[only, ...more].join(' ')}]`
    return { problem: `must evaluate to ${wanted} but got ${shown(type)}`, internal: false }
  }
  if (result !== undefined && !sameType(type, result)) {
    return { problem: `must evaluate to ${shown(result)} but got ${shown(type)}`, internal: false }
  }
  const program = compiled.program()
  if (program instanceof PlanError) return { problem: `program instantiation failed: ${program.message}`, internal: true }
  return { text, program, type }
}

/** A type with its arguments: `map(string, int)`. */
export function shown(type: Type): string {
  if (type.kind === 'list') return `list(${shown(type.elem)})`
  if (type.kind === 'map') return `map(${shown(type.key)}, ${shown(type.value)})`
  if (type.kind === 'opaque' && type.params.length > 0) return `${type.name}(${type.params.map(shown).join(', ')})`
  return typeName(type)
}
