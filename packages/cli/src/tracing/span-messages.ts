/** The messages of OTLP that carry spans. */
import { MessageType } from '@krmkit/base/protobuf'
import type { SpanIdentity } from '@krmkit/base/tracing'
import {
  attributesOf,
  exportResponse,
  type KeyValue,
  keyValueMessage,
  ownScope,
  resourceMessage,
  scopeMessage,
} from '../otlp/common-messages.ts'
import type { OtlpSignal } from '../otlp/otlp-client.ts'
import type { RecordedSpan } from './recorded-span.ts'

interface Link {
  readonly traceId: Uint8Array
  readonly spanId: Uint8Array
  readonly traceState: string | undefined
}

interface Event {
  readonly time: number
  readonly name: string
  readonly attributes: readonly KeyValue[]
}

interface Span extends Link {
  readonly parentSpanId: Uint8Array | undefined
  readonly name: string
  readonly kind: number
  readonly startTime: number
  readonly endTime: number
  readonly attributes: readonly KeyValue[]
  readonly events: readonly Event[]
  readonly droppedEvents: number | undefined
  readonly links: readonly Link[]
  readonly status: { readonly code: number } | undefined
  readonly flags: number
}

interface ScopeSpans {
  readonly scope: { readonly name: string }
  readonly spans: readonly Span[]
}

interface ResourceSpans {
  readonly resource: { readonly attributes: readonly KeyValue[] }
  readonly scopeSpans: readonly ScopeSpans[]
}

/** An `ExportTraceServiceRequest`. */
interface SpanRequest {
  readonly resourceSpans: readonly ResourceSpans[]
}

const link = new MessageType<Link>({ 1: ['traceId', 'bytes'], 2: ['spanId', 'bytes'], 3: ['traceState', 'text'] })
const event = new MessageType<Event>({
  1: ['time', 'fixed64'],
  2: ['name', 'text'],
  3: ['attributes', keyValueMessage, 'repeated'],
})
const status = new MessageType<{ readonly code: number }>({ 3: ['code', 'int'] })
const span = new MessageType<Span>({
  1: ['traceId', 'bytes'],
  2: ['spanId', 'bytes'],
  3: ['traceState', 'text'],
  4: ['parentSpanId', 'bytes'],
  5: ['name', 'text'],
  6: ['kind', 'int'],
  7: ['startTime', 'fixed64'],
  8: ['endTime', 'fixed64'],
  9: ['attributes', keyValueMessage, 'repeated'],
  11: ['events', event, 'repeated'],
  12: ['droppedEvents', 'int'],
  13: ['links', link, 'repeated'],
  15: ['status', status],
  16: ['flags', 'fixed32'],
})
const scopeSpans = new MessageType<ScopeSpans>({ 1: ['scope', scopeMessage], 2: ['spans', span, 'repeated'] })
const resourceSpans = new MessageType<ResourceSpans>({
  1: ['resource', resourceMessage],
  2: ['scopeSpans', scopeSpans, 'repeated'],
})
const exportRequest = new MessageType<SpanRequest>({
  1: ['resourceSpans', resourceSpans, 'repeated'],
})

export const spanSignal: OtlpSignal<RecordedSpan, SpanRequest> = {
  method: {
    path: '/opentelemetry.proto.collector.trace.v1.TraceService/Export',
    request: exportRequest,
    response: exportResponse,
  },
  noun: 'spans',
  requestOf(spans, resource) {
    const own = { scope: ownScope, spans: spans.map(spanOf) }
    return { resourceSpans: [{ resource: { attributes: attributesOf(resource) }, scopeSpans: [own] }] }
  },
}

function spanOf(recorded: RecordedSpan): Span {
  const { identity, parentSpanId, name, kind, startTime, endTime, attributes, events, droppedEvents, links, statusCode } =
    recorded
  // Without spreads, which cost more than the encoding.
  const { traceId, spanId, traceState } = linkOf(identity)
  return {
    traceId,
    spanId,
    traceState,
    parentSpanId: parentSpanId === '' ? undefined : Buffer.from(parentSpanId, 'hex'),
    name,
    // The protocol numbers kinds from 1.
    kind: kind + 1,
    startTime,
    endTime,
    attributes: attributesOf(attributes),
    events: events.map((each) => ({ time: each.time, name: each.name, attributes: attributesOf(each.attributes) })),
    droppedEvents: droppedEvents > 0 ? droppedEvents : undefined,
    links: links.map(({ context }) => linkOf(context)),
    status: statusCode === 0 ? undefined : { code: statusCode },
    flags: identity.traceFlags,
  }
}

function linkOf({ traceId, spanId, traceState }: SpanIdentity): Link {
  return { traceId: Buffer.from(traceId, 'hex'), spanId: Buffer.from(spanId, 'hex'), traceState: traceState?.serialize() }
}
