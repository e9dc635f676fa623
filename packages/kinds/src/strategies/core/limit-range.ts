/** LimitRange. */

import type { Work } from '@krmkit/base/work'
import type { DeepReadonly, Quantity } from '@krmkit/meta'
import { goText } from '@krmkit/meta/go-text'
import { validateQualifiedNameFormat } from '@krmkit/meta/names'
import type { LimitRange, LimitRangeItem } from '../../types/core-v1.generated.ts'
import type { ContextErrorList, FieldPath } from '../shared/field-path.ts'
import { addMissingMembers } from '../shared/for-each.ts'
import { validateMetadata } from '../shared/metadata.ts'
import { amount, printAmount } from '../shared/quantities.ts'
import { mayOvercommit, validateContainerResourceName, validateResourceName } from '../shared/resource-names.ts'
import { roundUp } from '../shared/round-up.ts'
import { sortedKeys } from '../shared/sorted-keys.direct.ts'
import { creationRules, defineStrategy, updateRules } from '../shared/strategy.ts'
import { isEmpty, isEmptyMap, own, type R } from '../shared/values.ts'

type Amounts = Record<string, string>

/** For containers, the default limit is the maximum, and the default request is the default limit or the minimum. */
function* defaultItem(item: LimitRangeItem): Work {
  for (const name of ['max', 'min', 'default', 'defaultRequest', 'maxLimitRequestRatio'] as const) yield* roundUp(item[name])
  if (item.type !== 'Container') return
  const limits: Amounts = {}
  for (const from of [item.default, item.max]) yield* addMissingMembers(limits, from)
  const requests: Amounts = {}
  for (const from of [item.defaultRequest, limits, item.min]) yield* addMissingMembers(requests, from)
  if (!isEmptyMap(limits)) item.default = limits
  if (!isEmptyMap(requests)) item.defaultRequest = requests
}

const standardTypes = ['Pod', 'Container', 'PersistentVolumeClaim']

function validateType(type: string, at: FieldPath): void {
  const messages = validateQualifiedNameFormat(type)
  at.invalidAll(type, messages)
  if (messages.length === 0 && !type.includes('/') && !standardTypes.includes(type)) {
    at.invalid(type, 'must be a standard limit type or fully qualified')
  }
}

function validateNames(
  item: R<LimitRangeItem>,
  member: 'max' | 'min' | 'default' | 'defaultRequest' | 'maxLimitRequestRatio',
  at: FieldPath,
): void {
  const check = item.type === 'Pod' || item.type === 'Container' ? validateContainerResourceName : validateResourceName
  for (const name of sortedKeys(item[member])) check(name, at.child(member).key(name))
}

function validateItem(item: R<LimitRangeItem>, at: FieldPath): void {
  validateNames(item, 'max', at)
  validateNames(item, 'min', at)
  for (const member of ['default', 'defaultRequest'] as const) {
    if (item.type !== 'Pod') validateNames(item, member, at)
    else if (!isEmptyMap(item[member])) at.child(member).forbidden("may not be specified when `type` is 'Pod'")
  }
  if (item.type === 'PersistentVolumeClaim' && own(item.min, 'storage') === undefined && own(item.max, 'storage') === undefined) {
    at.child('limits').required('either minimum or maximum storage value is required, but neither was provided')
  }
  validateNames(item, 'maxLimitRequestRatio', at)
  const members = item.type === 'Pod' ? ([] as const) : (['default', 'defaultRequest'] as const)
  const names = new Set<string>()
  for (const member of ['max', 'min', ...members, 'maxLimitRequestRatio'] as const)
    for (const name of sortedKeys(item[member])) names.add(name)
  for (const name of names) validateAmounts(item, name, at)
}

interface Bound {
  readonly text: string
  readonly value: Quantity
}

function bound(amounts: Readonly<Amounts> | undefined, name: string): Bound | undefined {
  const text = own(amounts, name)
  return text === undefined ? undefined : { text, value: amount(text) }
}

function validateNotAbove(a: Bound | undefined, b: Bound | undefined): a is Bound {
  return a !== undefined && b !== undefined && a.value.compare(b.value) > 0
}

/** Minimum, default request, default limit and maximum must be in ascending order. */
function validateAmounts(item: R<LimitRangeItem>, name: string, at: FieldPath): void {
  const isPod = item.type === 'Pod'
  const min = bound(item.min, name)
  const max = bound(item.max, name)
  const limit = isPod ? undefined : bound(item.default, name)
  const request = isPod ? undefined : bound(item.defaultRequest, name)
  const ratio = bound(item.maxLimitRequestRatio, name)
  const tell = (member: string, shown: Bound | undefined, detail: string): void => {
    at.child(member)
      .key(name)
      .invalid(goText(printAmount(shown?.text ?? '0')), detail)
  }
  if (validateNotAbove(min, max)) tell('min', min, `min value ${min.value} is greater than max value ${max?.value}`)
  if (validateNotAbove(min, request))
    tell('defaultRequest', request, `min value ${min.value} is greater than default request value ${request?.value}`)
  if (validateNotAbove(request, max))
    tell('defaultRequest', request, `default request value ${request.value} is greater than max value ${max?.value}`)
  if (validateNotAbove(request, limit)) {
    tell('defaultRequest', request, `default request value ${request.value} is greater than default limit value ${limit?.value}`)
  }
  if (validateNotAbove(min, limit)) tell('default', min, `min value ${min.value} is greater than default value ${limit?.value}`)
  if (validateNotAbove(limit, max)) tell('default', max, `default value ${limit.value} is greater than max value ${max?.value}`)
  if (ratio !== undefined) validateRatio(ratio, { min, max }, (detail) => tell('maxLimitRequestRatio', ratio, detail))
  if (
    !mayOvercommit(name, at.profile.domain) &&
    limit !== undefined &&
    request !== undefined &&
    !limit.value.equals(request.value)
  ) {
    tell('defaultRequest', request, `default value ${limit.value} must equal to defaultRequest value ${request.value} in ${name}`)
  }
}

/** Largest amount whose thousandths have 63 bits. */
const maxMilliValue = (2n ** 63n - 1n) / 1000n

function validateRatio(
  ratio: Bound,
  { min, max }: { readonly min: Bound | undefined; readonly max: Bound | undefined },
  tell: (detail: string) => void,
): void {
  if (ratio.value.compare(amount('1')) < 0) tell(`ratio ${ratio.value} is less than 1`)
  if (min === undefined || max === undefined) return
  // Thousandths of larger amounts would overflow on kube-apiserver, which rounds all of them up then.
  const inThousandths = [ratio, max, min].every(({ value }) => value.value() < maxMilliValue)
  const number = (value: Quantity) => Number(inThousandths ? value.milliValue() : value.value())
  const given = inThousandths ? number(ratio.value) / 1000 : number(ratio.value)
  const possible = number(max.value) / number(min.value)
  if (given > possible) tell(`ratio ${ratio.value} is greater than max/min = ${possible.toFixed(6)}`)
}

function* validateLimitRange(range: DeepReadonly<LimitRange>, errors: ContextErrorList): Work {
  yield* validateMetadata(range, errors, { namespaced: true })
  const types = new Set<string>()
  for (const [i, item] of (range.spec?.limits ?? []).entries()) {
    const at = errors.child('spec').child('limits').index(i)
    const type = item.type ?? ''
    validateType(type, at.child('type'))
    if (types.has(type)) at.child('type').duplicate(type)
    types.add(type)
    validateItem(item, at)
  }
}

function* defaultLimits(range: LimitRange): Work {
  for (const item of range.spec?.limits ?? []) {
    yield* defaultItem(item)
    yield
  }
}

export const limitRangeStrategy = defineStrategy<LimitRange>({
  keepInMemory: true,
  allowCreateOnUpdate: true,
  defaults: defaultLimits,
  prepareForCreate({ metadata }, { random }) {
    if (isEmpty(metadata.name)) metadata.name = random.uuid()
  },
  validate: creationRules((errors, range) => validateLimitRange(range, errors)),
  validateUpdate: updateRules((errors, range) => validateLimitRange(range, errors)),
})
