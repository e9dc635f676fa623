import type { SpanIdentity, TracerContext, TracerSpan, TraceState } from './tracer.ts'

/** The headers of W3C Trace Context and Baggage. @see https://www.w3.org/TR/trace-context/ */

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>

/** The trace context in the headers of a request. */
export interface RemoteContext {
  readonly identity: SpanIdentity
  /** The `baggage` header; empty if absent or too large. */
  readonly baggage: string
}

const maxStateCharacters = 512
const maxBaggageCharacters = 8192
const identityText = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/

/**
 * Reads `traceparent`, `tracestate` and `baggage`.
 *
 * @param headers names in lower case
 * @returns undefined without a valid `traceparent`
 * @example
 * import { readTraceContext } from '@krmkit/base/tracing'
 * const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
 * readTraceContext({ traceparent })?.identity.spanId // 'b7ad6b7169203331'
 */
export function readTraceContext(headers: Headers): RemoteContext | undefined {
  const { traceparent } = headers
  if (typeof traceparent !== 'string') return undefined
  const [, version = '', traceId = '', spanId = '', flags = '', rest] = identityText.exec(traceparent) ?? []
  const isInvalid = version === '' || version === 'ff' || (version === '00' && rest !== undefined)
  if (isInvalid || /^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined
  const state = joined(headers['tracestate'], maxStateCharacters)
  const identity = { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1, isRemote: true }
  return {
    identity: state === '' ? identity : { ...identity, traceState: new HeaderState(entriesOf(state)) },
    baggage: joined(headers['baggage'], maxBaggageCharacters),
  }
}

/** Returns the headers that propagate a span as the parent. */
export function traceHeaders({ traceId, spanId, traceFlags, traceState }: SpanIdentity, baggage: string): Record<string, string> {
  const flags = traceFlags.toString(16).padStart(2, '0')
  const state = traceState?.serialize() ?? ''
  return {
    traceparent: `00-${traceId}-${spanId}-${flags}`,
    ...(state === '' ? {} : { tracestate: state }),
    ...(baggage === '' ? {} : { baggage }),
  }
}

function joined(header: string | readonly string[] | undefined, maxCharacters: number): string {
  const text = typeof header === 'string' ? header : (header ?? []).join(',')
  return text.length > maxCharacters ? '' : text
}

function entriesOf(state: string): readonly (readonly [string, string])[] {
  return state.split(',').flatMap((entry) => {
    const [, key, value] = /^[ \t]*([^=\s]+)=([^\t]*?)[ \t]*$/.exec(entry) ?? []
    return key === undefined || value === undefined ? [] : [[key, value] as const]
  })
}

class HeaderState implements TraceState {
  readonly #entries: readonly (readonly [string, string])[]

  constructor(entries: readonly (readonly [string, string])[]) {
    this.#entries = entries
  }

  get(key: string): string | undefined {
    return this.#entries.find(([each]) => each === key)?.[1]
  }

  set(key: string, value: string): TraceState {
    return new HeaderState([[key, value], ...this.#others(key)])
  }

  unset(key: string): TraceState {
    return new HeaderState(this.#others(key))
  }

  serialize(): string {
    return this.#entries.map(([key, value]) => `${key}=${value}`).join(',')
  }

  #others(key: string) {
    return this.#entries.filter(([each]) => each !== key)
  }
}

/**
 * Key of the current span in an OpenTelemetry context. OpenTelemetry creates it with `Symbol.for`, so that it is the same in
 * all versions.
 */
const spanKey = Symbol.for('OpenTelemetry Context Key SPAN')

/** Creates a context that contains a parent span. */
export function contextOf(parent: TracerSpan): TracerContext {
  return new SpanContext(new Map([[spanKey, parent]]))
}

/** Returns the parent span in a context, for implementations of tracers. @see {@link Tracer} with an example */
export function parentIn(context: TracerContext | undefined): TracerSpan | undefined {
  return context?.getValue(spanKey) as TracerSpan | undefined
}

/**
 * Creates a span that represents a span of another process, or of a trace that is only propagated. @see {@link Tracer} with
 * an example
 */
export function remoteSpan(identity: SpanIdentity): TracerSpan {
  const nothing = () => undefined
  return {
    ...{ spanContext: () => identity, isRecording: () => false },
    ...{ setAttributes: nothing, setStatus: nothing, addEvent: nothing, end: nothing },
  }
}

class SpanContext implements TracerContext {
  readonly #values: ReadonlyMap<symbol, unknown>

  constructor(values: ReadonlyMap<symbol, unknown>) {
    this.#values = values
  }

  getValue(key: symbol): unknown {
    return this.#values.get(key)
  }

  setValue(key: symbol, value: unknown): TracerContext {
    return new SpanContext(new Map([...this.#values, [key, value]]))
  }

  deleteValue(key: symbol): TracerContext {
    return new SpanContext(new Map([...this.#values].filter(([each]) => each !== key)))
  }
}
