/** Expressions that select devices. */

import type { Work } from '@krmkit/base/work'
import type { CompileBudget, Environment } from '@krmkit/cel'
import { utf8Length } from '@krmkit/meta/go-text'
import { cel } from '@krmkit/schema'
import type { StrategyContext } from '../../interfaces.ts'
import type { CELDeviceSelector, DeviceSelector } from '../../types/resource-v1beta1.generated.ts'
import type { FieldPath } from '../shared/field-path.ts'
import { isSet, type R } from '../shared/values.ts'
import { validateList } from './lists.ts'

const maxSelectors = 32
const longestExpression = 10 * 1024
const maxCost = 1_000_000

/** How the expressions of one object are compiled. */
export class SelectorChecks {
  /** Expressions of the stored object may use everything that was available when they were stored. */
  readonly stored: boolean
  readonly context: StrategyContext
  #budget: CompileBudget | undefined

  constructor(context: StrategyContext, stored: boolean) {
    this.context = context
    this.stored = stored
  }

  /** Shared by all expressions of the object; objects without expressions need no engine. */
  get budget(): CompileBudget {
    this.#budget ??= cel().engine.createCompileBudget()
    return this.#budget
  }
}

export type SelectorList = readonly R<DeviceSelector>[] | null | undefined

export function validateSelectors(selectors: SelectorList, at: FieldPath, checks: SelectorChecks): Work {
  return validateList(selectors, at, { max: maxSelectors, each: (selector, here) => validateSelector(selector, here, checks) })
}

function* validateSelector({ cel: expression }: R<DeviceSelector>, at: FieldPath, checks: SelectorChecks): Work {
  const here = at.child('cel')
  if (!isSet(expression)) here.required()
  else validateExpression(expression, here.child('expression'), checks)
  yield true
}

function validateExpression({ expression = '' }: R<CELDeviceSelector>, at: FieldPath, checks: SelectorChecks): void {
  // Stored expressions were valid when they were stored.
  if (checks.stored && checks.context.features.release.atLeast('1.37')) return
  if (utf8Length(expression) > longestExpression) {
    at.tooLong('', longestExpression)
    return
  }
  const { engine, storedExpressions, newExpressions } = cel()
  const base = checks.stored ? storedExpressions : newExpressions(checks.context.features)
  const compiled = engine.compileDeviceSelector(deviceEnvironment(base), expression, checks.budget)
  if ('maxCost' in compiled) {
    if (compiled.maxCost > maxCost) at.forbidden('too complex, exceeds cost limit')
  } else if (compiled.internal) at.internal(compiled.problem)
  else at.invalid(expression, compiled.problem)
}

const environments = /* @__PURE__ */ new WeakMap<Environment, Environment>()

function deviceEnvironment(base: Environment): Environment {
  let environment = environments.get(base)
  if (environment === undefined) {
    environment = cel().engine.deviceEnvironment(base)
    environments.set(base, environment)
  }
  return environment
}
