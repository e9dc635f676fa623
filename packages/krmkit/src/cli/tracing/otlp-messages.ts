/** The messages of OTLP that carry spans. @see https://github.com/open-telemetry/opentelemetry-proto */
import { MessageType } from '@krmkit/meta/protobuf'
import type { SpanAttributes, SpanIdentity } from '@krmkit/meta/tracing'
import type { RecordedSpan } from './recorded-span.ts'

interface AnyValue {
  readonly text?: string
  readonly bool?: boolean
  readonly int?: number
  readonly double?: number
}

interface KeyValue {
  readonly key: string
  readonly value: AnyValue
}

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

interface Refusal {
  readonly rejected: number
  readonly message: string
}

const anyValue = new MessageType<AnyValue>({
  1: ['text', 'text'],
  2: ['bool', 'bool'],
  3: ['int', 'int'],
  4: ['double', 'double'],
})
const keyValue = new MessageType<KeyValue>({ 1: ['key', 'text'], 2: ['value', anyValue] })
const link = new MessageType<Link>({ 1: ['traceId', 'bytes'], 2: ['spanId', 'bytes'], 3: ['traceState', 'text'] })
const event = new MessageType<Event>({
  1: ['time', 'fixed64'],
  2: ['name', 'text'],
  3: ['attributes', keyValue, 'repeated'],
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
  9: ['attributes', keyValue, 'repeated'],
  11: ['events', event, 'repeated'],
  12: ['droppedEvents', 'int'],
  13: ['links', link, 'repeated'],
  15: ['status', status],
  16: ['flags', 'fixed32'],
})
const scope = new MessageType<{ readonly name: string }>({ 1: ['name', 'text'] })
const scopeSpans = new MessageType<ScopeSpans>({ 1: ['scope', scope], 2: ['spans', span, 'repeated'] })
const resourceMessage = new MessageType<ResourceSpans['resource']>({ 1: ['attributes', keyValue, 'repeated'] })
const resourceSpans = new MessageType<ResourceSpans>({
  1: ['resource', resourceMessage],
  2: ['scopeSpans', scopeSpans, 'repeated'],
})
const exportRequest = new MessageType<{ readonly resourceSpans: readonly ResourceSpans[] }>({
  1: ['resourceSpans', resourceSpans, 'repeated'],
})
const refusal = new MessageType<Refusal>({ 1: ['rejected', 'int'], 2: ['message', 'text'] })
const exportResponse = new MessageType<{ readonly partialSuccess?: Refusal }>({ 1: ['partialSuccess', refusal] })

/** An `ExportTraceServiceRequest`. @param resource attributes of the process */
export function encodeSpans(spans: readonly RecordedSpan[], resource: SpanAttributes): Buffer {
  const own = { scope: { name: 'krmkit' }, spans: spans.map(spanOf) }
  return exportRequest.encode({ resourceSpans: [{ resource: { attributes: attributesOf(resource) }, scopeSpans: [own] }] })
}

/** What an `ExportTraceServiceResponse` refuses: number of spans, and why. */
export function decodeRefusal(bytes: Uint8Array): Refusal {
  return exportResponse.decode(bytes).partialSuccess ?? { rejected: 0, message: '' }
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

function attributesOf(attributes: SpanAttributes): KeyValue[] {
  return Object.entries(attributes).map(([key, value]) => ({ key, value: anyValueOf(value) }))
}

function anyValueOf(value: SpanAttributes[string]): AnyValue {
  if (typeof value === 'string') return { text: value }
  if (typeof value === 'boolean') return { bool: value }
  return Number.isSafeInteger(value) ? { int: value as number } : { double: value as number }
}
