export { inSpan, RequestSpan } from './request-span.ts'
export { parentIn, type RemoteContext, readTraceContext, remoteSpan } from './trace-context.ts'
export type {
  SpanAttributes,
  SpanIdentity,
  SpanLink,
  SpanOptions,
  Tracer,
  TracerContext,
  TracerSpan,
  TraceState,
} from './tracer.ts'
export { spanKinds, spanStatusError } from './tracer.ts'
