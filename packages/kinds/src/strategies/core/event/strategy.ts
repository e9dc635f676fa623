/** Event, served in two groups and stored in the core group. */

import type { Work } from '@krmkit/base/work'
import type { DeepReadonly } from '@krmkit/meta'
import { type GoText, goQuote, goText, utf8Length } from '@krmkit/meta/go-text'
import { validateDns1123Label, validateQualifiedNameFormat } from '@krmkit/meta/names'
import { formatGoTime } from '@krmkit/meta/time'
import type { Strategy, StrategyContext } from '../../../interfaces.ts'
import type { Event, ObjectReference } from '../../../types/core-v1.generated.ts'
import { semanticEqual } from '../../shared/equality.ts'
import type { ContextErrorList, FieldPath } from '../../shared/field-path.ts'
import { goStruct } from '../../shared/go-form.ts'
import { validateMetadata, validateMetadataUpdate } from '../../shared/metadata.ts'
import { creationRules, defineStrategy, updateRules } from '../../shared/strategy.ts'
import { isEmpty, isSet } from '../../shared/values.ts'

const maxShort = 128
const maxMessage = 1024

/** Whether the request uses the events group, whose members have other names. */
function isNewGroup({ requestVersion }: StrategyContext): boolean {
  return requestVersion !== undefined && requestVersion.group !== ''
}

/** Whether the rules of the stable version of the events group hold, which are stricter than those of its beta. */
function isStrict(context: StrategyContext): boolean {
  return isNewGroup(context) && context.requestVersion?.version === 'v1'
}

function validateLength(value: string | undefined, at: FieldPath, max: number): void {
  if (utf8Length(value ?? '') > max) at.invalid('', `can have at most ${max} characters`)
}

function validateNeeded(value: string | undefined, at: FieldPath): void {
  if (isEmpty(value)) at.required()
  validateLength(value, at, maxShort)
}

/** Rules of both groups. An event with `eventTime` needs a reporter, an action and a reason. */
function validateEvent(event: DeepReadonly<Event>, errors: ContextErrorList): void {
  const { context } = errors
  const namespace = event.metadata.namespace ?? ''
  const subject = event.involvedObject?.namespace ?? ''
  const at = errors.child('involvedObject').child('namespace')
  const mismatch = 'does not match event.namespace'
  if (isEmpty(event.eventTime)) {
    const fits = subject === '' ? namespace === '' || namespace === 'default' : subject === namespace
    if (!fits) at.invalid(subject, mismatch)
  } else {
    if (subject === '' && namespace !== 'default' && namespace !== context.profile.systemNamespace) at.invalid(subject, mismatch)
    const reporter = event.reportingComponent ?? ''
    const reporterAt = errors.child(isNewGroup(context) ? 'reportingController' : 'reportingComponent')
    if (reporter === '') reporterAt.required()
    reporterAt.invalidAll(reporter, validateQualifiedNameFormat(reporter))
    validateNeeded(event.reportingInstance, errors.child('reportingInstance'))
    validateNeeded(event.action, errors.child('action'))
    validateNeeded(event.reason, errors.child('reason'))
    validateLength(event.message, errors.child('message'), maxMessage)
  }
  errors.child('namespace').invalidAll(namespace, validateDns1123Label(namespace))
}

/** Rules for new events of the events group. */
function* validateNewEvent(event: DeepReadonly<Event>, errors: ContextErrorList): Work {
  yield* validateMetadata(event, errors, { namespaced: true })
  validateSeries(event, errors)
  if (isEmpty(event.eventTime)) errors.child('eventTime').required()
  if (event.type !== 'Normal' && event.type !== 'Warning')
    errors.child('type').invalid('', `has invalid value: ${event.type ?? ''}`)
  const unset = 'needs to be unset'
  if (isSet(event.firstTimestamp)) errors.child('firstTimestamp').invalid('', unset)
  if (isSet(event.lastTimestamp)) errors.child('lastTimestamp').invalid('', unset)
  if (event.count) errors.child('count').invalid('', unset)
  if (!isEmpty(event.source?.component) || !isEmpty(event.source?.host)) errors.child('source').invalid('', unset)
}

function validateSeries(event: DeepReadonly<Event>, errors: ContextErrorList): void {
  const { series } = event
  if (!isSet(series)) return
  const at = errors.child('series')
  if ((series.count ?? 0) < 2) at.child('count').invalid('', 'should be at least 2')
  if (isEmpty(series.lastObservedTime)) at.child('lastObservedTime').required()
}

/** The value of a member as Go prints it. */
function printMember(event: DeepReadonly<Event>, member: (typeof immutableMembers)[number][0]): unknown {
  const value = event[member]
  switch (member) {
    case 'involvedObject':
    case 'related':
      return isSet(event[member]) ? printReference(event[member]) : null
    case 'source': {
      const { component = '', host = '' } = event.source ?? {}
      return goText(goStruct('core.EventSource', { Component: goQuote(component), Host: goQuote(host) }))
    }
    case 'eventTime':
    case 'firstTimestamp':
    case 'lastTimestamp':
      return goText(isEmpty(event[member]) ? zeroTime : (formatGoTime(event[member]) ?? goQuote(event[member])))
    case 'count':
      return value ?? 0
    default:
      return value ?? ''
  }
}

const zeroTime = '0001-01-01 00:00:00 +0000 UTC'

function printReference(reference: DeepReadonly<ObjectReference>): GoText {
  const { kind = '', namespace = '', name = '', uid = '', apiVersion = '', resourceVersion = '', fieldPath = '' } = reference
  const members = { Kind: kind, Namespace: namespace, Name: name, UID: uid, APIVersion: apiVersion }
  const all = { ...members, ResourceVersion: resourceVersion, FieldPath: fieldPath }
  return goText(goStruct('core.ObjectReference', mapValues(all, goQuote)))
}

function mapValues(members: Readonly<Record<string, string>>, print: (value: string) => string): Record<string, string> {
  return Object.fromEntries(Object.entries(members).map(([name, value]) => [name, print(value)]))
}

/** Immutable members, in the order of comparison; one is listed twice, as on kube-apiserver. */
const immutableMembers = [
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
  defaultPropagation: 'Unsupported',
  validate: creationRules(function* (errors, event, context) {
    validateEvent(event, errors)
    if (isStrict(context)) yield* validateNewEvent(event, errors)
  }),
  validateUpdate: updateRules(function* (errors, event, old, context) {
    validateEvent(event, errors)
    if (!isStrict(context)) return
    yield* validateMetadataUpdate(event, old, errors)
    if (!(yield* semanticEqual(event.series, old.series))) validateSeries(event, errors)
    for (const [member, name] of immutableMembers) {
      if (!(yield* semanticEqual(event[member], old[member])))
        errors.child(name).invalid(printMember(event, member), 'field is immutable')
    }
  }),
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

/** `Event` of the events group; it receives objects of the core group. */
export const eventsGroupEventStrategy = defineStrategy<Event>({
  ...shared,
  selectableFields: selectable('regarding', {
    reason: (event) => event.reason ?? '',
    reportingController: (event) => event.reportingComponent ?? '',
    type: (event) => event.type ?? '',
  }),
})
