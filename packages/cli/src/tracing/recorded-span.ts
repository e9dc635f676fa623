import type { SpanAttributes, SpanIdentity, SpanLink, SpanOptions, TracerSpan } from '@krmkit/base/tracing'

/** Limit of OpenTelemetry for events of one span. */
const maxEvents = 128

/** A point in time inside a span. */
export interface SpanEvent {
  readonly name: string
  readonly time: number
  readonly attributes: SpanAttributes
}

/** A span that is kept until it is sent. Times are nanoseconds since the epoch. */
export class RecordedSpan implements TracerSpan {
  readonly name: string
  readonly identity: SpanIdentity
  /** Empty for the first span of a trace. */
  readonly parentSpanId: string
  readonly kind: number
  readonly startTime: number
  readonly links: readonly SpanLink[]
  readonly attributes: Record<string, SpanAttributes[string]>
  readonly events: SpanEvent[] = []
  droppedEvents = 0
  statusCode = 0
  endTime = 0
  readonly #ended: (span: RecordedSpan) => void

  constructor(
    name: string,
    identity: SpanIdentity,
    from: { readonly parentSpanId: string; readonly options: SpanOptions; readonly ended: (span: RecordedSpan) => void },
  ) {
    const { kind = 0, attributes, links = [], startTime } = from.options
    this.name = name
    this.identity = identity
    this.parentSpanId = from.parentSpanId
    this.kind = kind
    this.attributes = { ...attributes }
    this.links = links
    this.startTime = nanoseconds(startTime)
    this.#ended = from.ended
  }

  spanContext(): SpanIdentity {
    return this.identity
  }

  isRecording(): boolean {
    return this.endTime === 0
  }

  setAttributes(attributes: SpanAttributes): void {
    if (this.isRecording()) Object.assign(this.attributes, attributes)
  }

  setStatus({ code }: { readonly code: number }): void {
    if (this.isRecording()) this.statusCode = code
  }

  addEvent(name: string, attributes: SpanAttributes = {}): void {
    if (!this.isRecording()) return
    if (this.events.length >= maxEvents) this.droppedEvents++
    else this.events.push({ name, time: nanoseconds(undefined), attributes })
  }

  end(time?: Date): void {
    if (!this.isRecording()) return
    this.endTime = nanoseconds(time)
    this.#ended(this)
  }
}

function nanoseconds(time: Date | undefined): number {
  return (time?.getTime() ?? performance.timeOrigin + performance.now()) * 1e6
}
