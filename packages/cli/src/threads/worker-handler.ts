import type { ServerLike } from '@krmkit/http'
import { ApiError } from '@krmkit/meta'
import type { ApiResponse, Handler, ProxyConnection } from '@krmkit/protocol'
import type { Storage } from '@krmkit/storage'
import { forwardRequest, isForwarded } from './forwarded-requests.ts'

export interface WorkerHandlerParts {
  readonly storage: Pick<Storage, 'count' | 'refresh'>
  readonly writer: ProxyConnection
  readonly simulatesNodes: boolean
}

/**
 * Handles a request at a state that reflects every write that was acknowledged before it arrived, by any worker: objects, roles, tokens and
 * definitions alike.
 */
export function workerHandler(server: ServerLike, { storage, writer, simulatesNodes }: WorkerHandlerParts): Handler {
  const rules = { storage, simulatesNodes }
  return async (request) => {
    if (isHealthCheck(request.path)) return server.handle(request)
    try {
      await storage.refresh?.()
      if (!isForwarded(request, rules)) return server.handle(request)
      const response = await forwardRequest(request, writer)
      await storage.refresh?.()
      return response
    } catch (error) {
      if (ApiError.is(error)) return statusResponse(error)
      const reason = error instanceof Error ? error.message : String(error)
      return statusResponse(ApiError.serviceUnavailable(`the writer cannot be reached: ${reason}`))
    }
  }
}

function isHealthCheck(path: string): boolean {
  return path.startsWith('/livez') || path.startsWith('/readyz') || path.startsWith('/healthz')
}

function statusResponse({ status }: ApiError): ApiResponse {
  const code = status.code ?? 500
  const headers = { 'content-type': 'application/json', ...(code === 503 ? { 'retry-after': '1' } : {}) }
  return { status: code, headers, body: { kind: 'bytes', bytes: Buffer.from(`${JSON.stringify(status)}\n`) } }
}
