/** Expressions that select devices. */
import { utf8Length } from '@krmkit/meta/go-text'
import { cel, loadCel } from '@krmkit/schema'
import type { CompileBudget } from '@krmkit/schema/cel'
import type { StrategyContext } from '../../interfaces.ts'
import type { CELDeviceSelector, DeviceSelector } from '../../types/resource-v1beta1.generated.ts'
import type { FieldPath } from '../shared/field-path.ts'
import type { Steps } from '../shared/steps.ts'
import { isEmpty, isSet, type R } from '../shared/values.ts'
import { validateList } from './lists.ts'

const maxSelectors = 32
const longestExpression = 10 * 1024
const maxCost = 1_000_000

/** How the expressions of one object are compiled. */
export interface SelectorChecks {
  /** Expressions of the stored object may use everything that was available when they were stored. */
  readonly stored: boolean
  readonly context: StrategyContext
  /** Shared by all expressions of the object. */
  readonly budget: CompileBudget
}

export type SelectorList = readonly R<DeviceSelector>[] | null | undefined

/** Loads the engine if one of the lists has an expression. */
export function selectorsReady(lists: Iterable<SelectorList>): Promise<void> | undefined {
  for (const list of lists) if (!isEmpty(list)) return loadCel()
  return undefined
}

export function selectorChecks(context: StrategyContext, stored: boolean): SelectorChecks {
  let budget: CompileBudget | undefined
  return {
    stored,
    context,
    // Lazy: objects without expressions do not load the engine.
    get budget() {
      budget ??= cel().engine.createCompileBudget()
      return budget
    },
  }
}

export function validateSelectors(selectors: SelectorList, at: FieldPath, checks: SelectorChecks): Steps {
  return validateList(selectors, at, {
    max: maxSelectors,
    *each({ cel: expression }, here) {
      const place = here.child('cel')
      if (!isSet(expression)) place.required()
      else validateExpression(expression, place.child('expression'), checks)
      yield
    },
  })
}

function validateExpression({ expression = '' }: R<CELDeviceSelector>, at: FieldPath, checks: SelectorChecks): void {
  if (utf8Length(expression) > longestExpression) {
    at.tooLong('', longestExpression)
    return
  }
  const { engine, storedExpressions, newExpressions, deviceSelectors } = cel()
  const base = checks.stored ? storedExpressions : newExpressions(checks.context.features)
  const compiled = engine.compileDeviceSelector(deviceSelectors(base), expression, checks.budget)
  if ('maxCost' in compiled) {
    if (compiled.maxCost > maxCost) at.forbidden('too complex, exceeds cost limit')
  } else if (compiled.internal) at.internal(compiled.problem)
  else at.invalid(expression, compiled.problem)
}
