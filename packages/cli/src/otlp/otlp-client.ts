import { Endpoints, type RpcMethod } from '@krmkit/grpc'
import type { ExportResponse, Resource } from './common-messages.ts'

const timeoutMs = 10_000

/** What a collector receives: traces or metrics. */
export interface OtlpSignal<Item, Request extends object> {
  readonly method: RpcMethod<Request, ExportResponse>
  /** What is sent, in plural, for errors: `spans`. */
  readonly noun: string
  requestOf(batch: readonly Item[], resource: Resource): Request
}

/** The connection to a collector of OpenTelemetry. */
export class OtlpClient<Item, Request extends object> {
  readonly #endpoints: Endpoints
  readonly #resource: Resource
  readonly #signal: OtlpSignal<Item, Request>

  /** @param endpoint target of gRPC; like on kube-apiserver, without TLS @param resource attributes of the process */
  constructor(endpoint: string, resource: Resource, signal: OtlpSignal<Item, Request>) {
    this.#endpoints = new Endpoints([endpoint], { what: 'collector', failsFast: true })
    this.#resource = resource
    this.#signal = signal
  }

  /** Sends a batch. Rejects where the collector does not take all of it. */
  async send(batch: readonly Item[]): Promise<void> {
    const { method, noun, requestOf } = this.#signal
    const { partialSuccess } = await this.#endpoints.call(method, requestOf(batch, this.#resource), { timeoutMs })
    if (partialSuccess === undefined || partialSuccess.rejected === 0) return
    throw new Error(`the collector rejected ${partialSuccess.rejected} ${noun}: ${partialSuccess.message}`)
  }

  close(): void {
    this.#endpoints.close()
  }
}
