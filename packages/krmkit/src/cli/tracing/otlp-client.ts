/** The connection to a collector. The only module of traces that uses the gRPC library. */
import * as grpc from '@grpc/grpc-js'
import type { SpanAttributes } from '@krmkit/meta/tracing'
import { decodeRefusal, encodeSpans } from './otlp-messages.ts'
import type { RecordedSpan } from './recorded-span.ts'

const method = '/opentelemetry.proto.collector.trace.v1.TraceService/Export'
const timeoutMs = 10_000

export class OtlpClient {
  readonly #client: grpc.Client
  readonly #resource: SpanAttributes

  /** @param endpoint target of gRPC; like on the stock server, without TLS @param resource attributes of the process */
  constructor(endpoint: string, resource: SpanAttributes) {
    this.#client = new grpc.Client(endpoint, grpc.credentials.createInsecure())
    this.#resource = resource
  }

  /** Sends spans. Rejects where the collector does not take all of them. */
  send(spans: readonly RecordedSpan[]): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#client.makeUnaryRequest(
        method,
        (batch: readonly RecordedSpan[]) => encodeSpans(batch, this.#resource),
        decodeRefusal,
        spans,
        { deadline: Date.now() + timeoutMs },
        (error, refusal) => {
          if (error !== null) reject(error)
          else if (refusal !== undefined && refusal.rejected > 0) {
            reject(new Error(`the collector rejected ${refusal.rejected} spans: ${refusal.message}`))
          } else resolve()
        },
      )
    })
  }

  close(): void {
    this.#client.close()
  }
}
