import type { DeepReadonly } from '@krmkit/meta'
import { trimSpace } from '@krmkit/meta/go-text'
import type { Printer } from '../../../interfaces.ts'
import { column, nameColumn, wide } from '../../../printers/columns.ts'
import { since } from '../../../printers/duration.ts'
import type { Event } from '../../../types/core-v1.generated.ts'

export const eventPrinter: Printer<Event> = {
  columns: [
    column('Last Seen', 'string', 'Time since the last occurrence.'),
    column('Type', 'string', 'Type of the event (Normal or Warning).'),
    column('Reason', 'string', 'Reason of the event.'),
    column('Object', 'string', 'Object that the event is about.'),
    wide('Subobject', 'string', 'Part of the object that the event is about.'),
    wide('Source', 'string', 'Component that reports the event, and its host.'),
    column('Message', 'string', 'Description of the event.'),
    wide('First Seen', 'string', 'Time since the first occurrence.'),
    wide('Count', 'string', 'Number of occurrences.'),
    { ...nameColumn, priority: 1 },
  ],
  cells(event, { now }) {
    const first = event.firstTimestamp ? since(event.firstTimestamp, now) : since(event.eventTime, now)
    const last = event.lastTimestamp ? since(event.lastTimestamp, now) : first
    return [
      event.series ? since(event.series.lastObservedTime, now) : last,
      event.type ?? '',
      event.reason ?? '',
      involvedObject(event),
      event.involvedObject?.fieldPath ?? '',
      eventSource(event),
      trimSpace(event.message ?? ''),
      first,
      event.series ? (event.series.count ?? 0) : event.count || 1,
      event.metadata.name ?? '',
    ]
  },
}

function involvedObject({ involvedObject }: DeepReadonly<Event>): string {
  const kind = (involvedObject?.kind ?? '').toLowerCase()
  return involvedObject?.name ? `${kind}/${involvedObject.name}` : kind
}

function eventSource({ source, reportingComponent, reportingInstance }: DeepReadonly<Event>): string {
  const component = source?.component || reportingComponent || ''
  const host = source?.host || reportingInstance || ''
  return host === '' ? component : `${component}, ${host}`
}
