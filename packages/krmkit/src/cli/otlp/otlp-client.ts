/** The connection to a collector of OpenTelemetry. The only module that uses the gRPC library. */
import * as grpc from '@grpc/grpc-js'
import { decodeRefusal, type Resource } from './common-messages.ts'

const timeoutMs = 10_000

/** What a collector receives: traces or metrics. */
export interface OtlpSignal<Item> {
  /** Path of the method of gRPC. */
  readonly method: string
  /** What is sent, in plural, for errors: `spans`. */
  readonly noun: string
  encode(batch: readonly Item[], resource: Resource): Buffer
}

export class OtlpClient<Item> {
  readonly #client: grpc.Client
  readonly #resource: Resource
  readonly #signal: OtlpSignal<Item>

  /** @param endpoint target of gRPC; like on the stock server, without TLS @param resource attributes of the process */
  constructor(endpoint: string, resource: Resource, signal: OtlpSignal<Item>) {
    this.#client = new grpc.Client(endpoint, grpc.credentials.createInsecure())
    this.#resource = resource
    this.#signal = signal
  }

  /** Sends a batch. Rejects where the collector does not take all of it. */
  send(batch: readonly Item[]): Promise<void> {
    const { method, noun, encode } = this.#signal
    return new Promise((resolve, reject) => {
      this.#client.makeUnaryRequest(
        method,
        (items: readonly Item[]) => encode(items, this.#resource),
        decodeRefusal,
        batch,
        { deadline: Date.now() + timeoutMs },
        (error, refusal) => {
          if (error !== null) reject(error)
          else if (refusal !== undefined && refusal.rejected > 0) {
            reject(new Error(`the collector rejected ${refusal.rejected} ${noun}: ${refusal.message}`))
          } else resolve()
        },
      )
    })
  }

  close(): void {
    this.#client.close()
  }
}
