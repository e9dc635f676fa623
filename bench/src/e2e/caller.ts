/** The server without sockets: requests whose response bodies are discarded after the status is checked. */
import type { ApiResponse, Handler } from '@krmkit/protocol'

export interface Call {
  readonly method: string
  readonly path: string
  readonly query?: string
  readonly contentType?: string
  readonly accept?: string
  readonly body?: Uint8Array
}

export type Caller = (call: Call) => Promise<ApiResponse>

const user = { username: 'bench', groups: ['system:masters', 'system:authenticated'] }
const never = new AbortController().signal
const nothing = new Uint8Array(0)

/** @throws Error for every response that is not a success. */
export function callerOf(handle: Handler): Caller {
  return async ({ method, path, query = '', contentType, accept = 'application/json', body }) => {
    const headers = {
      accept,
      'user-agent': 'bench/1',
      ...(contentType === undefined ? {} : { 'content-type': contentType }),
    }
    const response = await handle({
      method,
      path,
      query,
      headers,
      body: () => Promise.resolve(body ?? nothing),
      peer: {},
      signal: never,
      user,
    })
    if (response.status >= 300) throw new Error(`${method} ${path}: HTTP ${response.status} ${textOf(response)}`)
    return response
  }
}

function textOf({ body }: ApiResponse): string {
  return body.kind === 'bytes' ? new TextDecoder().decode(body.bytes) : ''
}
