/** The messages of OTLP that carry spans. @see https://github.com/open-telemetry/opentelemetry-proto */
import type { SpanAttributes, SpanIdentity } from '@krmkit/meta/tracing'
import protobuf from 'protobufjs/minimal.js'
import type { RecordedSpan, SpanEvent } from './recorded-span.ts'

type Writer = protobuf.Writer

const wireBytes = 2
const wire64 = 1
const wire32 = 5

/** An `ExportTraceServiceRequest`. @param resource attributes of the process */
export function encodeSpans(spans: readonly RecordedSpan[], resource: SpanAttributes): Buffer {
  const writer = protobuf.Writer.create()
  inside(writer, 1, () => {
    inside(writer, 1, () => writeAttributes(writer, 1, resource))
    inside(writer, 2, () => {
      inside(writer, 1, () => writeText(writer, 1, 'krmkit'))
      for (const span of spans) inside(writer, 2, () => writeSpan(writer, span))
    })
  })
  return Buffer.from(writer.finish())
}

/** What an `ExportTraceServiceResponse` refuses: number of spans, and why. */
export function decodeRefusal(bytes: Uint8Array): { readonly rejected: number; readonly message: string } {
  const reader = protobuf.Reader.create(bytes)
  const refusal = { rejected: 0, message: '' }
  const read = (end: number, on: (field: number) => boolean) => {
    while (reader.pos < end) {
      const tag = reader.uint32()
      if (!on(tag >>> 3)) reader.skipType(tag & 7)
    }
  }
  read(reader.len, (outer) => {
    if (outer !== 1) return false
    read(reader.uint32() + reader.pos, (member) => {
      if (member === 1) refusal.rejected = Number(reader.int64())
      else if (member === 2) refusal.message = reader.string()
      return member === 1 || member === 2
    })
    return true
  })
  return refusal
}

function writeSpan(writer: Writer, span: RecordedSpan): void {
  writeIdentity(writer, span.identity)
  if (span.parentSpanId !== '') writeId(writer, 4, span.parentSpanId)
  writeText(writer, 5, span.name)
  // The protocol numbers kinds from 1.
  writer.uint32(tag(6, 0)).int32(span.kind + 1)
  writeTime(writer, 7, span.startTime)
  writeTime(writer, 8, span.endTime)
  writeAttributes(writer, 9, span.attributes)
  for (const event of span.events) inside(writer, 11, () => writeEvent(writer, event))
  if (span.droppedEvents > 0) writer.uint32(tag(12, 0)).uint32(span.droppedEvents)
  for (const { context } of span.links) inside(writer, 13, () => writeIdentity(writer, context))
  if (span.statusCode !== 0) inside(writer, 15, () => writer.uint32(tag(3, 0)).int32(span.statusCode))
  writer.uint32(tag(16, wire32)).fixed32(span.identity.traceFlags)
}

function writeIdentity(writer: Writer, { traceId, spanId, traceState }: SpanIdentity): void {
  writeId(writer, 1, traceId)
  writeId(writer, 2, spanId)
  if (traceState !== undefined) writeText(writer, 3, traceState.serialize())
}

function writeEvent(writer: Writer, { name, time, attributes }: SpanEvent): void {
  writeTime(writer, 1, time)
  writeText(writer, 2, name)
  writeAttributes(writer, 3, attributes)
}

function writeAttributes(writer: Writer, field: number, attributes: SpanAttributes): void {
  for (const [key, value] of Object.entries(attributes)) {
    inside(writer, field, () => {
      writeText(writer, 1, key)
      inside(writer, 2, () => writeValue(writer, value))
    })
  }
}

function writeValue(writer: Writer, value: SpanAttributes[string]): void {
  if (typeof value === 'string') writeText(writer, 1, value)
  else if (typeof value === 'boolean') writer.uint32(tag(2, 0)).bool(value)
  else if (Number.isSafeInteger(value)) writer.uint32(tag(3, 0)).int64(value)
  else writer.uint32(tag(4, wire64)).double(value)
}

function inside(writer: Writer, field: number, write: () => unknown): void {
  writer.uint32(tag(field, wireBytes)).fork()
  write()
  writer.ldelim()
}

function writeText(writer: Writer, field: number, text: string): void {
  writer.uint32(tag(field, wireBytes)).string(text)
}

function writeId(writer: Writer, field: number, hex: string): void {
  writer.uint32(tag(field, wireBytes)).bytes(Buffer.from(hex, 'hex'))
}

function writeTime(writer: Writer, field: number, nanoseconds: number): void {
  writer.uint32(tag(field, wire64)).fixed64(nanoseconds)
}

function tag(field: number, wireType: number): number {
  return (field << 3) | wireType
}
