/** Expressions that narrow down which requests are looked at. */
import type { MatchCondition } from '../../types/admissionregistration-v1.generated.ts'
import { checkQualifiedName } from '../shared/names.ts'
import type { Place } from '../shared/place.ts'
import { isEmpty, type R } from '../shared/values.ts'

const maxConditions = 64

/** Names and presence; expressions are compiled where they are run. */
export function checkMatchConditions(conditions: readonly R<MatchCondition>[] | undefined, at: Place): void {
  const list = conditions ?? []
  if (list.length > maxConditions) at.tooMany(list.length, maxConditions)
  const names = new Set<string>()
  for (const [i, { name, expression }] of list.entries()) {
    const here = at.index(i)
    if ((expression ?? '').trim() === '') here.child('expression').required()
    if (isEmpty(name)) {
      here.child('name').required()
      continue
    }
    checkQualifiedName(name, here.child('name'))
    if (names.has(name)) here.child('name').duplicate(name)
    names.add(name)
  }
}
