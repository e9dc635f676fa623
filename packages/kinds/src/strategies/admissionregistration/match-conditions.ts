/** Match conditions: expressions that narrow down the matched requests. */

import type { Work } from '@krmkit/base/work'
import { trimSpace } from '@krmkit/meta/go-text'
import type { MatchCondition } from '../../types/admissionregistration-v1.generated.ts'
import type { FieldPath } from '../shared/field-path.ts'
import { validateQualifiedName } from '../shared/names.ts'
import { isEmpty, type R } from '../shared/values.ts'
import { type ExpressionContext, validateExpression } from './admission-expressions.ts'

const maxConditions = 64

/** @param params whether the expressions may use parameters. */
export function* validateMatchConditions(
  conditions: readonly R<MatchCondition>[] | undefined,
  at: FieldPath,
  { params, checks }: { readonly params: boolean; readonly checks: ExpressionContext },
): Work {
  const list = conditions ?? []
  if (list.length > maxConditions) at.tooMany(list.length, maxConditions)
  const names = new Set<string>()
  for (const [i, { name, expression }] of list.entries()) {
    const here = at.index(i)
    const text = trimSpace(expression ?? '')
    if (text === '') here.child('expression').required()
    else validateExpression(text, here.child('expression'), { scope: { params, authorizer: true }, checks, kinds: ['bool'] })
    yield true
    if (isEmpty(name)) {
      here.child('name').required()
      continue
    }
    validateQualifiedName(name, here.child('name'))
    if (names.has(name)) here.child('name').duplicate(name)
    names.add(name)
  }
}
