import { type ApiObject, formatApiVersion } from '@krmkit/meta'
import type { Event as CoreEvent } from '../types/core-v1.generated.ts'
import type { Event as NewEvent } from '../types/events-v1.generated.ts'
import { type ConvertFactory, omitUndefined, omitZero } from './convert.ts'

/**
 * Conversion of events: the core group and the events group name the same members differently.
 *
 * | core | events |
 * |---|---|
 * | involvedObject | regarding |
 * | message | note |
 * | reportingComponent | reportingController |
 * | source, firstTimestamp, lastTimestamp, count | deprecatedSource, deprecatedFirstTimestamp, ... |
 *
 * Both directions give the canonical form: members in the order of the type, unset times as null.
 *
 * @see API protocol specification, 9.4
 */
export const coreEventToNew: ConvertFactory = (to) => (object) => {
  const event = object as unknown as CoreEvent
  return {
    apiVersion: formatApiVersion(to),
    ...omitUndefined({
      kind: event.kind,
      metadata: event.metadata,
      eventTime: event.eventTime ?? null,
      series: event.series && { count: event.series.count ?? 0, lastObservedTime: event.series.lastObservedTime ?? null },
      reportingController: omitZero(event.reportingComponent),
      reportingInstance: omitZero(event.reportingInstance),
      action: event.action,
      reason: event.reason,
      regarding: event.involvedObject ?? {},
      related: event.related,
      note: event.message,
      type: event.type,
      deprecatedSource: event.source ?? {},
      deprecatedFirstTimestamp: event.firstTimestamp ?? null,
      deprecatedLastTimestamp: event.lastTimestamp ?? null,
      deprecatedCount: omitZero(event.count),
    }),
  } as ApiObject
}

export const newEventToCore: ConvertFactory = (to) => (object) => {
  const event = object as unknown as NewEvent
  return {
    apiVersion: formatApiVersion(to),
    ...omitUndefined({
      kind: event.kind,
      metadata: event.metadata,
      involvedObject: event.regarding ?? {},
      reason: event.reason,
      message: event.note,
      source: event.deprecatedSource ?? {},
      firstTimestamp: event.deprecatedFirstTimestamp ?? null,
      lastTimestamp: event.deprecatedLastTimestamp ?? null,
      count: omitZero(event.deprecatedCount),
      type: event.type,
      eventTime: event.eventTime ?? null,
      series:
        event.series &&
        omitUndefined({ count: omitZero(event.series.count), lastObservedTime: event.series.lastObservedTime ?? null }),
      action: event.action,
      related: event.related,
      reportingComponent: event.reportingController ?? '',
      reportingInstance: event.reportingInstance ?? '',
    }),
  } as ApiObject
}
