/** Events, which are served in two groups and kept as those of the core group. */
import { type DeepReadonly, utf8Length, validateDns1123Label, validateQualifiedNameFormat } from '@krmkit/meta'
import type { Strategy, StrategyContext } from '../../interfaces.ts'
import type { Event } from '../../types/core-v1.generated.ts'
import type { FieldPath, Report } from '../shared/field-path.ts'
import { checkMetadataUpdate } from '../shared/metadata.ts'
import { defineStrategy, findings } from '../shared/strategy.ts'
import { isEmpty, isSet, semanticEqual } from '../shared/values.ts'

const maxShort = 128
const maxMessage = 1024

/** Whether the request came through the group of the newer, stricter events. */
function isNewGroup(context: StrategyContext): boolean {
  return context.requestVersion !== undefined && context.requestVersion.group !== ''
}

function checkLength(value: string | undefined, at: FieldPath, max: number): void {
  if (utf8Length(value ?? '') > max) at.invalid('', `can have at most ${max} characters`)
}

function checkNeeded(value: string | undefined, at: FieldPath): void {
  if (isEmpty(value)) at.required()
  checkLength(value, at, maxShort)
}

/** Rules of both groups. An event with a time of its own has to tell who reports it, and why. */
function checkEvent(event: DeepReadonly<Event>, report: Report): void {
  const { context } = report
  const namespace = event.metadata.namespace ?? ''
  const subject = event.involvedObject?.namespace ?? ''
  const at = report.at('involvedObject').child('namespace')
  const mismatch = 'does not match event.namespace'
  if (isEmpty(event.eventTime)) {
    const fits = subject === '' ? namespace === '' || namespace === 'default' : subject === namespace
    if (!fits) at.invalid(subject, mismatch)
  } else {
    if (subject === '' && namespace !== 'default' && namespace !== context.profile.systemNamespace) at.invalid(subject, mismatch)
    const reporter = event.reportingComponent ?? ''
    const reporterAt = report.at(isNewGroup(context) ? 'reportingController' : 'reportingComponent')
    if (reporter === '') reporterAt.required()
    reporterAt.invalidAll(reporter, validateQualifiedNameFormat(reporter))
    checkNeeded(event.reportingInstance, report.at('reportingInstance'))
    checkNeeded(event.action, report.at('action'))
    checkNeeded(event.reason, report.at('reason'))
    checkLength(event.message, report.at('message'), maxMessage)
  }
  report.at('namespace').invalidAll(namespace, validateDns1123Label(namespace))
}

/** What only the newer group asks of a new event. */
function checkStrictly(event: DeepReadonly<Event>, report: Report): void {
  if (isEmpty(event.eventTime)) report.at('eventTime').required()
  checkSeries(event, report)
  if (event.type !== 'Normal' && event.type !== 'Warning') report.at('type').invalid('', `has invalid value: ${event.type ?? ''}`)
  const unset = 'needs to be unset'
  if (isSet(event.firstTimestamp)) report.at('firstTimestamp').invalid('', unset)
  if (isSet(event.lastTimestamp)) report.at('lastTimestamp').invalid('', unset)
  if (event.count) report.at('count').invalid('', unset)
  if (!isEmpty(event.source?.component) || !isEmpty(event.source?.host)) report.at('source').invalid('', unset)
}

function checkSeries(event: DeepReadonly<Event>, report: Report): void {
  const { series } = event
  if (!isSet(series)) return
  const at = report.at('series')
  if ((series.count ?? 0) < 2) at.child('count').invalid('', 'should be at least 2')
  if (isEmpty(series.lastObservedTime)) at.child('lastObservedTime').required()
}

/** Members in the order in which they are compared; one of them twice, as on the stock server. */
const frozen = [
  ['involvedObject', 'involvedObject'],
  ['reason', 'reason'],
  ['message', 'message'],
  ['source', 'source'],
  ['firstTimestamp', 'firstTimestamp'],
  ['lastTimestamp', 'lastTimestamp'],
  ['count', 'count'],
  ['reason', 'reason'],
  ['type', 'type'],
  ['eventTime', 'eventTime'],
  ['action', 'action'],
  ['related', 'related'],
  ['reportingComponent', 'reportingController'],
  ['reportingInstance', 'reportingInstance'],
] as const

const subjectFields = ['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath'] as const

type Selectable = Record<string, (event: DeepReadonly<Event>) => string>

function selectable(subject: string, others: Selectable): Selectable {
  const fields: Selectable = {}
  for (const name of subjectFields) fields[`${subject}.${name}`] = (event) => event.involvedObject?.[name] ?? ''
  return { ...fields, ...others }
}

const shared: Strategy<Event> = {
  allowCreateOnUpdate: true,
  validate(event, context) {
    return findings(context, (report) => {
      checkEvent(event, report)
      if (isNewGroup(context)) checkStrictly(event, report)
    })
  },
  validateUpdate(event, old, context) {
    return findings(context, (report) => {
      checkEvent(event, report)
      if (!isNewGroup(context)) return
      checkMetadataUpdate(event, old, report)
      if (!semanticEqual(event.series, old.series)) checkSeries(event, report)
      for (const [member, name] of frozen) {
        if (!semanticEqual(event[member], old[member])) report.at(name).invalid(event[member], 'field is immutable')
      }
    })
  },
}

/** `Event` of the core group. */
export const eventStrategy = defineStrategy<Event>({
  ...shared,
  selectableFields: selectable('involvedObject', {
    reason: (event) => event.reason ?? '',
    reportingComponent: (event) => event.reportingComponent ?? '',
    source: (event) => event.source?.component || event.reportingComponent || '',
    type: (event) => event.type ?? '',
  }),
})

/** `Event` of the newer group; the objects it is given are those of the core group. */
export const newEventStrategy = defineStrategy<Event>({
  ...shared,
  selectableFields: selectable('regarding', {
    reason: (event) => event.reason ?? '',
    reportingController: (event) => event.reportingComponent ?? '',
    type: (event) => event.type ?? '',
  }),
})
