import {
  parentIn,
  remoteSpan,
  type SpanIdentity,
  type SpanOptions,
  type Tracer,
  type TracerContext,
  type TracerSpan,
} from '@krmkit/base/tracing'
import type { Random } from '@krmkit/meta'
import { RecordedSpan } from './recorded-span.ts'

export interface SamplingOptions {
  readonly random: Pick<Random, 'bytes'>
  readonly samplingRatePerMillion: number
  /** Receives every span that has ended. */
  readonly ended: (span: RecordedSpan) => void
}

/**
 * Samples like kube-apiserver: as the client has decided, or else the given part of all traces. The decision depends on the trace id
 * alone, so that servers with the same rate record the same traces.
 */
export function createSamplingTracer({ random, samplingRatePerMillion, ended }: SamplingOptions): Tracer {
  /** Ids below it are sampled; the last 7 bytes of an id are random by the specification, and kube-apiserver reads the last 8. */
  const threshold = Math.floor((samplingRatePerMillion / 1e6) * 2 ** 63)
  const isSampled = (traceId: string) => Number(BigInt(`0x${traceId.slice(16)}`) >> 1n) < threshold
  return {
    startSpan(name: string, options: SpanOptions = {}, context?: TracerContext): TracerSpan {
      const parent = options.root === true ? undefined : parentIn(context)?.spanContext()
      const traceId = parent?.traceId ?? hex(random.bytes(16))
      const sampled = parent === undefined ? isSampled(traceId) : (parent.traceFlags & 1) === 1
      const identity: SpanIdentity = { traceId, spanId: hex(random.bytes(8)), traceFlags: sampled ? 1 : 0 }
      if (parent?.traceState !== undefined) identity.traceState = parent.traceState
      return sampled
        ? new RecordedSpan(name, identity, { parentSpanId: parent?.spanId ?? '', options, ended })
        : remoteSpan(identity)
    },
  }
}

function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
