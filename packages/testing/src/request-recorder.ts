import { RequestTrace } from '@krmkit/apiserver/request-trace'
import type { ApiBody, ApiRequest, ApiResponse } from '@krmkit/protocol'
import type { LedgerEntry, RequestContent } from './ledger.ts'
import { withOverrides } from './request-overrides.ts'

/** The data of a ledger entry besides attributes and status. */
export type RecordedRequest = Pick<LedgerEntry, 'durationMs' | 'requestBytes' | 'responseBytes' | 'trace' | 'body' | 'watch'>

/** Records trace, duration and bytes of one request. */
export class RequestRecorder {
  /** The request to process in place of the original. */
  readonly request: ApiRequest
  readonly #trace = new RequestTrace()
  readonly #startMs = performance.now()
  #content: RequestContent | undefined

  constructor(original: ApiRequest) {
    const { trace } = original
    const sink: ApiRequest['trace'] =
      trace === undefined
        ? this.#trace.receive
        : (step) => {
            trace(step)
            this.#trace.receive(step as Parameters<RequestTrace['receive']>[0])
          }
    this.request = withOverrides(original, {
      trace: sink,
      body: async (limitBytes) => {
        const bytes = await original.body(limitBytes)
        const type = original.headers['content-type']
        this.#content = { contentType: (typeof type === 'string' ? type : type?.[0]) ?? '', bytes }
        return bytes
      },
    })
  }

  /** Call it once, when the request has ended. @param response absent if it was lost */
  end(response?: ApiResponse): RecordedRequest {
    const responseBytes = response === undefined ? undefined : byteLength(response.body)
    return {
      durationMs: performance.now() - this.#startMs,
      requestBytes: this.#content?.bytes.byteLength ?? 0,
      ...(responseBytes === undefined ? {} : { responseBytes }),
      trace: this.#trace,
      ...(this.#content === undefined ? {} : { body: this.#content }),
    }
  }
}

function byteLength(body: ApiBody): number | undefined {
  if (body.kind === 'empty') return 0
  if (body.kind === 'bytes') return body.bytes.byteLength
  return body.kind === 'list' ? body.length : undefined
}
