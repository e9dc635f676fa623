/** Conditions under which pods are bound to nodes with a device. */
import type { Work } from '@krmkit/base/work'
import type { FieldPath } from '../shared/field-path.ts'
import { validateQualifiedName } from '../shared/names.ts'
import { isEmpty } from '../shared/values.ts'
import { validateList } from './lists.ts'

export interface Bindings {
  readonly bindingConditions?: readonly string[] | null
  readonly bindingFailureConditions?: readonly string[] | null
}

const maxConditions = 4

/** Both lists are given, name each condition once, and have none in common. */
export function* validateBindings({ bindingConditions, bindingFailureConditions }: Bindings, at: FieldPath): Work {
  const [here, failuresAt] = [at.child('bindingConditions'), at.child('bindingFailureConditions')]
  const rules = { max: maxConditions, each: validateQualifiedName }
  yield* validateList(bindingConditions, here, rules)
  yield* validateList(bindingFailureConditions, failuresAt, rules)
  const conditions = new Set<string>()
  for (const [i, condition] of (bindingConditions ?? []).entries()) {
    if (conditions.has(condition)) here.index(i).duplicate(condition)
    conditions.add(condition)
  }
  const failures = new Set<string>()
  for (const [i, condition] of (bindingFailureConditions ?? []).entries()) {
    if (failures.has(condition)) failuresAt.index(i).duplicate(condition)
    failures.add(condition)
    if (conditions.has(condition))
      failuresAt.index(i).invalid(condition, 'bindingFailureConditions must not overlap with bindingConditions')
  }
  if (isEmpty(bindingConditions) && !isEmpty(bindingFailureConditions))
    here.invalid(bindingConditions ?? null, 'bindingConditions are required to use bindingFailureConditions')
  if (isEmpty(bindingFailureConditions) && !isEmpty(bindingConditions))
    failuresAt.invalid(bindingFailureConditions ?? null, 'bindingFailureConditions are required to use bindingConditions')
}
