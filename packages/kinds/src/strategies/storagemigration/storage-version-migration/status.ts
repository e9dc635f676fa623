/** Validation of the status of StorageVersionMigration. */
import { goQuote, joinFormatted } from '@krmkit/meta/go-text'
import { parseTime } from '@krmkit/meta/time'
import { validateConditions } from '@krmkit/meta/validation'
import type { MigrationCondition, StorageVersionMigrationStatus } from '../../../types/storagemigration-v1alpha1.generated.ts'
import type { FieldPath } from '../../shared/field-path.ts'
import { goStruct } from '../../shared/go-form.ts'
import { isEmpty, type R } from '../../shared/values.ts'

type Status = R<StorageVersionMigrationStatus> | null | undefined

export function validateStatusUpdate(status: Status, old: Status, at: FieldPath): void {
  const { resourceVersion = '' } = status ?? {}
  const conditions = status?.conditions ?? []
  const version = at.child('resourceVersion')
  const { release } = at.errors.context.features
  if (release.atLeast('1.35')) validateComparableVersion(resourceVersion, version)
  else validateResourceVersion(resourceVersion, version)
  const here = at.child('conditions')
  // kube-apiserver has the rules of common conditions, and names their time.
  const common = conditions.map(({ lastUpdateTime = null, ...others }) => {
    // Since 1.35 they are common conditions.
    if (release.atLeast('1.35')) return { lastTransitionTime: null, ...others }
    return { ...others, lastTransitionTime: isUnset(lastUpdateTime) ? null : lastUpdateTime }
  })
  here.add(validateConditions(common, here.path()))
  const before = old?.resourceVersion ?? ''
  if (before !== '' && before !== resourceVersion)
    version.invalid(resourceVersion, release.atLeast('1.35') ? 'field is immutable' : 'resourceVersion cannot be updated')

  const [succeeded, failed, running] = ['Succeeded', 'Failed', 'Running'].map((type) => isTrue(status, type))
  const refuse = (detail: string): void => here.invalidText(printConditions(conditions), detail)
  if (succeeded && failed) refuse('Both success and failed conditions cannot be true at the same time')
  const isExclusive = !release.atLeast('1.37')
  if (isExclusive && succeeded && running) refuse('Running condition cannot be true when success condition is true')
  if (isExclusive && failed && running) refuse('Running condition cannot be true when failed condition is true')
  if (isTrue(old, 'Succeeded') && !succeeded) refuse('Success condition cannot be set to false once it is true')
  if (isTrue(old, 'Failed') && !failed) refuse('Failed condition cannot be set to false once it is true')
}

/** The first condition of a type counts. */
function isTrue(status: Status, type: string): boolean {
  return status?.conditions?.find((condition) => condition.type === type)?.status === 'True'
}

/** Versions of 1.35 are compared as numbers without leading zeros, of any length. */
function validateComparableVersion(text: string, at: FieldPath): void {
  if (text === '' && at.errors.context.features.release.atLeast('1.37')) return
  if (!/^[1-9][0-9]*$/.test(text)) at.invalid(text, `resource version is not well formed: ${text}`)
}

const maxInteger = (1n << 63n) - 1n
const maxDigits = 19

function validateResourceVersion(text: string, at: FieldPath): void {
  if (text === '') return
  const refuse = (why: string): void =>
    at.invalid(text, `failed to parse resource version ${goQuote(text)}: strconv.ParseInt: parsing ${goQuote(text)}: ${why}`)
  if (!/^[+-]?\d+$/.test(text)) {
    refuse('invalid syntax')
    return
  }
  // The conversion of a million digits takes 100 ms.
  const digits = text.replace(/^[+-]?0*/, '')
  if (digits.length > maxDigits) {
    refuse('value out of range')
    return
  }
  const value = text.startsWith('-') ? -BigInt(digits) : BigInt(digits)
  if (value > maxInteger || value < -maxInteger - 1n) refuse('value out of range')
  else if (value < 0n) at.invalid(value, 'must be greater than or equal to 0')
}

/** The time that counts as unset. */
const zeroTime = Date.parse('0001-01-01T00:00:00Z')
const months = 'January February March April May June July August September October November December'.split(' ')

function isUnset(time: string | null): boolean {
  return isEmpty(time) || parseTime(time) === zeroTime
}

function printConditions(conditions: readonly R<MigrationCondition>[]): string {
  const type = 'storagemigration.MigrationCondition'
  const items = joinFormatted(conditions, ({ type: name = '', status = '', lastUpdateTime, reason = '', message = '' }) =>
    goStruct(type, {
      Type: goQuote(name),
      Status: goQuote(status),
      LastUpdateTime: printTime(lastUpdateTime),
      Reason: goQuote(reason),
      Message: goQuote(message),
    }),
  )
  return `[]${type}{${items}}`
}

function printTime(text: string | null | undefined): string {
  const time = new Date(isEmpty(text) ? zeroTime : parseTime(text))
  const clock = [time.getUTCHours(), time.getUTCMinutes(), time.getUTCSeconds()].join(', ')
  const day = `${time.getUTCFullYear()}, time.${months[time.getUTCMonth()]}, ${time.getUTCDate()}`
  return `time.Date(${day}, ${clock}, 0, time.${isEmpty(text) ? 'UTC' : 'Local'})`
}
