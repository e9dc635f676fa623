import { contextOf, type RemoteContext, remoteSpan, traceHeaders } from './trace-context.ts'
import { type SpanAttributes, type SpanOptions, spanKinds, spanStatusError, type Tracer, type TracerSpan } from './tracer.ts'

/**
 * A span in the trace of a request. Attributes are passed as functions, which run only if the span is recorded.
 *
 * @example
 * import { readTraceContext, RequestSpan } from '@krmkit/base/tracing'
 * const remote = readTraceContext({ traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' })
 * const span = remote && RequestSpan.passedOn(remote, 'audit-id')
 * span?.headers.traceparent // '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
 */
export class RequestSpan {
  /** The Audit-ID of the request, an attribute of many spans. */
  readonly auditId: string
  readonly #tracer: Tracer | undefined
  readonly #span: TracerSpan
  readonly #baggage: string

  private constructor(tracer: Tracer | undefined, span: TracerSpan, of: { readonly auditId: string; readonly baggage: string }) {
    this.#tracer = tracer
    this.#span = span
    this.auditId = of.auditId
    this.#baggage = of.baggage
  }

  /**
   * Starts the first span of a request in this process.
   *
   * @param from.remote the span of the caller; it becomes the parent, or a link if `options.root` is set
   */
  static start(
    tracer: Tracer,
    name: string,
    options: SpanOptions,
    from: { readonly auditId: string; readonly remote: RemoteContext | undefined },
  ): RequestSpan {
    const { auditId, remote } = from
    const of = { auditId, baggage: remote?.baggage ?? '' }
    if (remote === undefined) return new RequestSpan(tracer, tracer.startSpan(name, options), of)
    const span =
      options.root === true
        ? tracer.startSpan(name, { ...options, links: [{ context: remote.identity }] })
        : tracer.startSpan(name, options, contextOf(remoteSpan(remote.identity)))
    return new RequestSpan(tracer, span, of)
  }

  /** Wraps the span of the caller, for a server that does not record spans: the trace context is propagated unchanged. */
  static passedOn({ identity, baggage }: RemoteContext, auditId: string): RequestSpan {
    return new RequestSpan(undefined, remoteSpan(identity), { auditId, baggage })
  }

  /** False if the trace is not sampled or only propagated. */
  get isRecording(): boolean {
    return this.#span.isRecording()
  }

  /** Starts a child span; returns this span if it is not recorded. */
  child(name: string, attributes: () => SpanAttributes = noAttributes, options: SpanOptions = {}): RequestSpan {
    if (this.#tracer === undefined || !this.isRecording) return this
    const started = this.#tracer.startSpan(name, { ...options, attributes: { ...attributes() } }, contextOf(this.#span))
    return new RequestSpan(this.#tracer, started, { auditId: this.auditId, baggage: this.#baggage })
  }

  /** Starts a child span for a request to another server. Add `headers` to the request, and end the span with `endCall`. */
  call(method: string, url: string): RequestSpan {
    return this.child(`HTTP ${method}`, () => callAttributes(method, url), { kind: spanKinds.client })
  }

  /** Ends the span of a call. @param status of the response; undefined without a response */
  endCall(status: number | undefined): void {
    if (status === undefined || status >= 400) this.#span.setStatus({ code: spanStatusError })
    if (status !== undefined) this.set(() => ({ 'http.status_code': status }))
    this.end()
  }

  event(name: string, attributes?: () => SpanAttributes): void {
    if (this.isRecording) this.#span.addEvent(name, { ...attributes?.() })
  }

  set(attributes: () => SpanAttributes): void {
    if (this.isRecording) this.#span.setAttributes({ ...attributes() })
  }

  /** Marks the span as failed. */
  fail(): void {
    this.#span.setStatus({ code: spanStatusError })
  }

  end(time?: Date): void {
    if (!this.isRecording) return
    if (time === undefined) this.#span.end()
    else this.#span.end(time)
  }

  /** The headers that propagate this span as the parent of spans in the called server. */
  get headers(): Readonly<Record<string, string>> {
    return traceHeaders(this.#span.spanContext(), this.#baggage)
  }
}

/**
 * Runs `work` in a child span, which ends with `work`. If the parent is not recorded, no span is created.
 *
 * @see {@link RequestSpan} with an example
 */
export async function inSpan<T>(
  parent: RequestSpan | undefined,
  name: string,
  attributes: () => SpanAttributes,
  work: (span: RequestSpan | undefined) => T | Promise<T>,
): Promise<T> {
  if (parent?.isRecording !== true) return work(undefined)
  const span = parent.child(name, attributes)
  try {
    return await work(span)
  } catch (error) {
    span.fail()
    throw error
  } finally {
    span.end()
  }
}

function noAttributes(): SpanAttributes {
  return {}
}

function callAttributes(method: string, url: string): SpanAttributes {
  const { hostname, port, protocol } = new URL(url)
  const given = port === '' ? 0 : Number(port)
  const attributes = { 'http.method': method, 'http.url': url, 'net.peer.name': hostname }
  return given > 0 && given !== (protocol === 'https:' ? 443 : 80) ? { ...attributes, 'net.peer.port': given } : attributes
}
