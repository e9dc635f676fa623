/**
 * The part of the tracing API of OpenTelemetry that a server uses. `trace.getTracer('name')` of `@opentelemetry/api` is such
 * a tracer, so this package needs no dependency on OpenTelemetry.
 *
 * @see https://opentelemetry.io/docs/specs/otel/trace/api/
 * @example
 * import type { Tracer } from '@krmkit/base/tracing'
 * const ended: string[] = []
 * const identity = { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331', traceFlags: 1 }
 * const tracer: Tracer = {
 *   startSpan: (name) => ({
 *     ...{ spanContext: () => identity, isRecording: () => true, setAttributes() {}, setStatus() {}, addEvent() {} },
 *     end: () => void ended.push(name),
 *   }),
 * }
 * tracer.startSpan('Get').end()
 * ended // ['Get']
 */
export interface Tracer {
  /** @param context contains the parent; if absent, the tracer decides, in OpenTelemetry by the active context. */
  startSpan(name: string, options?: SpanOptions, context?: TracerContext): TracerSpan
}

export interface TracerSpan {
  spanContext(): SpanIdentity
  /** False for spans that are not sampled: their attributes and children are not computed. */
  isRecording(): boolean
  setAttributes(attributes: Attributes): unknown
  setStatus(status: { code: number; message?: string }): unknown
  addEvent(name: string, attributes?: Attributes): unknown
  /** @param time Default: now */
  end(time?: Date): void
}

/** The `SpanContext` of OpenTelemetry. */
export interface SpanIdentity {
  /** 32 hexadecimal digits. */
  traceId: string
  /** 16 hexadecimal digits. */
  spanId: string
  /** Bit 0: sampled. */
  traceFlags: number
  isRemote?: boolean
  traceState?: TraceState
}

/** The entries of a `tracestate` header; immutable. */
export interface TraceState {
  get(key: string): string | undefined
  set(key: string, value: string): TraceState
  unset(key: string): TraceState
  serialize(): string
}

export interface SpanOptions {
  kind?: number
  attributes?: Attributes
  links?: SpanLink[]
  startTime?: Date
  /** Whether the span has no parent. */
  root?: boolean
}

export interface SpanLink {
  context: SpanIdentity
}

type Attributes = { [name: string]: string | number | boolean }

export type SpanAttributes = Readonly<Attributes>

/** The `Context` of OpenTelemetry: immutable values by key. */
export interface TracerContext {
  getValue(key: symbol): unknown
  setValue(key: symbol, value: unknown): TracerContext
  deleteValue(key: symbol): TracerContext
}

/** The `SpanKind` of OpenTelemetry. */
export const spanKinds = { internal: 0, server: 1, client: 2 } as const

/** The `SpanStatusCode` of a failure. */
export const spanStatusError = 2
