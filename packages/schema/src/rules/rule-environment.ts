import type { Environment, Estimate } from '@krmkit/cel'
import { optionalOf } from '@krmkit/cel/types'
import { type DeclType, maxRequestSize } from './decl-type.ts'

/** Variables of validation rules of custom resources. */

export const selfName = 'self'
export const oldSelfName = 'oldSelf'

/** Declares `self` and `oldSelf`; with `optional`, `oldSelf` is an optional. */
export function ruleEnvironment(base: Environment, { type }: DeclType, optional: boolean): Environment {
  return base.with([
    [selfName, type],
    [oldSelfName, optional ? optionalOf(type) : type],
  ])
}

/** Sizes of variables by the limits of the schema. */
export function declaredSizes(root: DeclType): (path: readonly string[]) => Estimate | undefined {
  return (path) => {
    let at: DeclType | undefined = root
    for (const step of path.slice(1)) {
      if (step === '@items' || step === '@values') at = at.elem
      else if (step === '@keys') at = at.key
      else at = at.fields?.get(step)
      if (at === undefined) return undefined
    }
    return { min: 0, max: at.maxElements }
  }
}

/**
 * Maximum number of values of this size in a request; a rule on list elements costs this many evaluations.
 *
 * @example
 * import { maxCardinality, schemaDeclType } from '@krmkit/schema/rules'
 * const element = schemaDeclType({ type: 'string', maxLength: 5 }, 'T')!
 * maxCardinality(element) // 1048576
 * @see {@link compileRule}
 */
export function maxCardinality({ minSize }: DeclType): number {
  return Math.floor(maxRequestSize / (minSize + 1))
}
