/** Requests for devices, as resource claims and templates have them in their stored form. */
import type { Work } from '@krmkit/base/work'
import type { DeviceRequest, DeviceSubRequest } from '../../types/resource-v1beta1.generated.ts'
import type { FieldPath } from '../shared/field-path.ts'
import { forEachItem } from '../shared/for-each.ts'
import { validateDnsLabel, validateDnsSubdomain } from '../shared/names.ts'
import { isEmpty, isSet, type R } from '../shared/values.ts'
import { validateSet } from './lists.ts'
import { type SelectorChecks, validateSelectors } from './selectors.ts'
import { validateToleration } from './taints.ts'

const maxAlternatives = 8
const modes = ['All', 'ExactCount']
const oneOf = 'exactly one of `exactly` or `firstAvailable` is required'

/** Whether a request has members besides its name and alternatives: later versions show them as `exactly`. */
export function isExactRequest({
  deviceClassName,
  selectors,
  allocationMode,
  count,
  adminAccess,
  tolerations,
}: R<DeviceRequest>): boolean {
  const filled = !isEmpty(deviceClassName) || !isEmpty(allocationMode) || Boolean(count)
  return filled || isSet(selectors) || isSet(adminAccess) || isSet(tolerations)
}

export function* validateRequest(request: R<DeviceRequest>, at: FieldPath, checks: SelectorChecks): Work {
  validateDnsLabel(request.name ?? '', at.child('name'))
  const hasAlternatives = !isEmpty(request.firstAvailable)
  const exact = isExactRequest(request)
  // Since 1.35 a request with too many members is not validated further.
  if (hasAlternatives && exact && at.errors.context.features.release.atLeast('1.35')) {
    at.invalid(null, `${oneOf}, but multiple fields are set`)
    return
  }
  if (hasAlternatives) {
    yield* validateSet(request.firstAvailable, at.child('firstAvailable'), {
      max: maxAlternatives,
      each: (alternative, here) => validateAlternative(alternative, here, checks),
      key: ({ name = '' }) => name,
      member: 'name',
    })
  }
  if (exact) yield* validateWish(request, at.child('exactly'), checks)
  if (!hasAlternatives && !exact) at.required(oneOf)
  else if (hasAlternatives && exact) at.invalid(null, `${oneOf}, but multiple fields are set`)
}

function* validateAlternative(alternative: R<DeviceSubRequest>, at: FieldPath, checks: SelectorChecks): Work {
  validateDnsLabel(alternative.name ?? '', at.child('name'))
  yield* validateWish(alternative, at, checks)
}

/** What a request and its alternatives have in common. */
type Wish = R<Partial<Omit<DeviceSubRequest, 'name'>>>

function* validateWish(wish: Wish, at: FieldPath, checks: SelectorChecks): Work {
  const { deviceClassName = '', allocationMode = '', count = 0 } = wish
  const classAt = at.child('deviceClassName')
  if (deviceClassName === '') classAt.required()
  else validateDnsSubdomain(deviceClassName, classAt)
  yield* validateSelectors(wish.selectors, at.child('selectors'), checks)
  if (allocationMode === 'All') {
    if (Number(count) !== 0) at.child('count').invalid(count, "must not be specified when allocationMode is 'All'")
  } else if (allocationMode === 'ExactCount') {
    if (count <= 0) at.child('count').invalid(count, 'must be greater than zero')
  } else at.child('allocationMode').notSupported(allocationMode, modes)
  yield* forEachItem(wish.tolerations, (toleration, i) => validateToleration(toleration, at.child('tolerations').index(i)))
}
