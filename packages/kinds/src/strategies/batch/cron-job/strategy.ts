/** CronJob. */

import type { Work } from '@krmkit/base/work'
import type { DeepReadonly, NamingProfile } from '@krmkit/meta'
import { isTimeZone } from '@krmkit/meta/time'
import type { DefaultsContext } from '../../../interfaces.ts'
import type { CronJob, CronJobSpec } from '../../../types/batch-v1.generated.ts'
import type { ContextErrorList, FieldPath } from '../../shared/field-path.ts'
import { goSelector } from '../../shared/go-form.ts'
import { keepMembers, raiseGeneration, startGeneration, validateMetadata, validateMetadataUpdate } from '../../shared/metadata.ts'
import { validateNotNegative } from '../../shared/numbers.ts'
import { defaultPodTemplate } from '../../shared/pod-defaults.ts'
import { podEmpties } from '../../shared/pod-empties.ts'
import { dropDisabledPodFields } from '../../shared/pod-gates.ts'
import { podTemplateWarnings } from '../../shared/pod-warnings.ts'
import { lunsOfPods } from '../../shared/required-luns.ts'
import { creationRules, defineStrategy, updateRules } from '../../shared/strategy.ts'
import { isEmpty, isSet, type R } from '../../shared/values.ts'
import { warnPodNames } from '../../shared/workloads.ts'
import { validateJobSpec, warnJobSpec } from '../job/spec-validation.ts'
import { scheduleError } from './schedule.ts'

/** Names of jobs append eleven characters to that of the cron job. */
const maxName = 52
const successfulLimit = 3
const failedLimit = 1

const concurrencyPolicies = ['Allow', 'Forbid', 'Replace']

function defaults(cron: CronJob, _version: string, _profile: NamingProfile, { features }: DefaultsContext = {}): void {
  cron.spec ??= { schedule: '', jobTemplate: {} }
  const { spec } = cron
  spec.jobTemplate ??= {}
  spec.jobTemplate.spec ??= { template: {} }
  spec.jobTemplate.spec.template ??= {}
  defaultPodTemplate(spec.jobTemplate.spec.template, features)
  if (isEmpty(spec.concurrencyPolicy)) spec.concurrencyPolicy = 'Allow'
  spec.suspend ??= false
  spec.successfulJobsHistoryLimit ??= successfulLimit
  spec.failedJobsHistoryLimit ??= failedLimit
}

function* validateSpec(cron: DeepReadonly<CronJob>, old: DeepReadonly<CronJob> | undefined, errors: ContextErrorList): Work {
  const at = errors.child('spec')
  const spec: R<CronJobSpec> = cron.spec ?? { schedule: '', jobTemplate: {} }
  if (isEmpty(spec.schedule)) at.child('schedule').required()
  else yield* validateSchedule(spec, at.child('schedule'), old?.spec?.schedule.includes('TZ') === true)
  validateNotNegative(spec.startingDeadlineSeconds, at.child('startingDeadlineSeconds'))
  if (old === undefined || old.spec?.timeZone !== spec.timeZone) validateTimeZone(spec.timeZone, at.child('timeZone'))
  const policy = spec.concurrencyPolicy
  if (isEmpty(policy)) at.child('concurrencyPolicy').required()
  else if (!concurrencyPolicies.includes(policy)) at.child('concurrencyPolicy').notSupported(policy, concurrencyPolicies)
  yield* validateTemplate(spec, at.child('jobTemplate').child('spec'))
  validateNotNegative(spec.successfulJobsHistoryLimit, at.child('successfulJobsHistoryLimit'))
  validateNotNegative(spec.failedJobsHistoryLimit, at.child('failedJobsHistoryLimit'))
}

function* validateSchedule({ schedule, timeZone }: R<CronJobSpec>, at: FieldPath, zoneAllowed: boolean): Work {
  const error = yield* scheduleError(schedule)
  if (error !== undefined) at.invalid(schedule, error)
  if (!schedule.includes('TZ')) return
  if (!zoneAllowed) at.invalid(schedule, 'cannot use TZ or CRON_TZ in schedule, use timeZone field instead')
  else if (isSet(timeZone)) at.invalid(schedule, 'cannot use both timeZone field and TZ or CRON_TZ in schedule')
}

function validateTimeZone(zone: string | undefined, at: FieldPath): void {
  if (!isSet(zone)) return
  if (zone === '') {
    at.invalid(zone, 'timeZone must be nil or non-empty string')
    return
  }
  const unknown = `unknown time zone ${zone}`
  const wellFormed = zone
    .split('/')
    .every((part) => part !== '.' && part !== '..' && /^[A-Za-z._0-9+][A-Za-z.\-_0-9+]{0,13}$/.test(part))
  if (!wellFormed) {
    at.invalid(zone, unknown)
    return
  }
  if (zone.toLowerCase() === 'local') {
    at.invalid(zone, 'timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones')
    if (zone === 'Local') return
  }
  if (!isTimeZone(zone)) at.invalid(zone, unknown)
}

/** Jobs of a cron job generate their selector. */
function* validateTemplate(spec: R<CronJobSpec>, at: FieldPath): Work {
  const job = spec.jobTemplate?.spec ?? { template: {} }
  yield* validateJobSpec(job, at)
  if (isSet(job.selector)) at.child('selector').invalid(goSelector(job.selector), '`selector` will be auto-generated')
  if (job.manualSelector === true) at.child('manualSelector').notSupported(true, ['nil', 'false'])
}

export const cronJobStrategy = defineStrategy<CronJob>({
  distinctEmpties: podEmpties('spec', 'jobTemplate', 'spec', 'template', 'spec'),
  requiredMembers: { '': lunsOfPods('spec', 'jobTemplate', 'spec', 'template') },
  defaults,
  prepareForCreate(cron, context) {
    cron.status = {}
    startGeneration(cron)
    const spec = cron.spec?.jobTemplate?.spec?.template?.spec
    if (isSet(spec)) dropDisabledPodFields(spec, undefined, context.features)
  },
  *prepareForUpdate(cron, old, context) {
    yield* keepMembers(cron, old, 'status')
    const spec = cron.spec?.jobTemplate?.spec?.template?.spec
    if (isSet(spec)) dropDisabledPodFields(spec, old.spec?.jobTemplate?.spec?.template?.spec, context.features)
    yield* raiseGeneration(cron, old, 'spec')
  },
  validate: creationRules(function* (errors, cron) {
    yield* validateMetadata(cron, errors, { namespaced: true })
    yield* validateSpec(cron, undefined, errors)
    const name = cron.metadata.name ?? ''
    if (name.length > maxName) errors.child('metadata').child('name').invalid(name, `must be no more than ${maxName} characters`)
  }),
  validateUpdate: updateRules(function* (errors, cron, old) {
    yield* validateMetadataUpdate(cron, old, errors)
    yield* validateSpec(cron, old, errors)
  }),
  warnings(cron, old, { profile, features }) {
    const texts = old === undefined ? warnPodNames(cron) : []
    const job = cron.spec?.jobTemplate?.spec
    const at = 'spec.jobTemplate.spec'
    if (old === undefined || old.metadata.generation !== cron.metadata.generation) warnJobSpec(texts, job, at)
    texts.push(...podTemplateWarnings(cron, old, { template: job?.template, at: `${at}.template`, profile, features }))
    if (old !== undefined && cron.spec?.schedule.includes('TZ') === true) {
      // kube-apiserver names the member so.
      const advice = 'https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/'
      texts.push(`cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, see ${advice} for more details`)
    }
    return texts
  },
  subresources: {
    status: {
      prepareForUpdate: (cron, old) => keepMembers(cron, old, 'spec'),
      validateUpdate: () => [],
    },
  },
  resetFields: { '': [['status']], status: [['spec']] },
})
