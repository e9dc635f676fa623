import type { Declared } from './declared.ts'
import type { Environment } from './environment.ts'
import type { Estimate } from './estimate.ts'
import { optionalOf } from './types.ts'

/** How rules of custom resources see the value that they are about. */

export const selfName = 'self'
export const oldSelfName = 'oldSelf'

/** `self` and `oldSelf`; with `optional`, the old one may not be there. */
export function ruleEnvironment(base: Environment, { type }: Declared, optional: boolean): Environment {
  return base.with([
    [selfName, type],
    [oldSelfName, optional ? optionalOf(type) : type],
  ])
}

/** Sizes by what a schema allows. Every variable holds what the schema declares. */
export function declaredSizes(root: Declared): (path: readonly string[]) => Estimate | undefined {
  return (path) => {
    let at: Declared | undefined = root
    for (const step of path.slice(1)) {
      if (step === '@items' || step === '@values') at = at.elem
      else if (step === '@keys') at = at.key
      else at = at.fields?.get(step)
      if (at === undefined) return undefined
    }
    return { min: 0, max: at.maxElements }
  }
}

/** How often a value of that size fits into the largest request. */
export function greatestCardinality({ minSize }: Declared): number {
  return Math.floor(maxRequest / (minSize + 1))
}

const maxRequest = 3 * 1024 * 1024
