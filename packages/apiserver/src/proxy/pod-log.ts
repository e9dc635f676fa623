import { concatBytes, utf8Text } from '@krmkit/base/bytes'
import type { Pod } from '@krmkit/kinds/core/v1'
import { chosenContainer } from '@krmkit/kinds/strategies'
import { ApiError, type DeepReadonly } from '@krmkit/meta'
import type { ApiResponse } from '@krmkit/protocol'
import { hostAndPort } from '../backends/addresses.ts'
import type { RequestContext } from '../request/context.ts'
import type { RequestScope } from '../request/scope.ts'
import { plainError } from './errors.ts'
import { cancelBody } from './forwarded-message.ts'
import { logOptions } from './log-options.ts'
import { kubeletOf } from './pod-stream.ts'
import { createRequestDeadline } from './request-deadline.ts'

/** Maximum size of an error message of the kubelet, in bytes. */
const maxMessageBytes = 50_000

/** The subresource `log`: streams the log of a container from the kubelet. The log of a pod without a node is empty. @throws ApiError */
export async function readLog(scope: RequestScope, context: RequestContext): Promise<ApiResponse> {
  const { store, codec, backends, clock } = scope
  const { namespace, name } = context.info
  const { container: requested, skipVerify, kubeletQuery } = logOptions(context.query, name, scope.features)
  const pod = codec.object(await store.get({ namespace, name }, context)) as DeepReadonly<Pod>
  const container = chosenContainer(pod, requested)
  const kubelet = kubeletOf(scope, pod)
  if (kubelet === undefined) return { status: 204, headers: {}, body: { kind: 'empty' } }
  const location = skipVerify ? { ...kubelet, unverified: true } : kubelet
  const path = `/containerLogs/${namespace}/${name}/${container}${kubeletQuery}`
  const deadline = createRequestDeadline(context, clock)
  let response: ApiResponse
  try {
    const { connection, address } = backends.connect(location)
    const headers = { host: hostAndPort(location) }
    response = deadline.responseStarted(await connection.send({ method: 'GET', path, headers, address, signal: deadline.signal }))
  } catch (error) {
    deadline.release()
    const reason = error instanceof Error ? error.message : String(error)
    throw plainError(`Get "https://${hostAndPort(location)}${path}": ${reason}`)
  }
  await checkResponse(response, name)
  return { status: 200, headers: { 'content-type': 'text/plain' }, body: response.body }
}

/** Checks the status of a kubelet response. Error responses of the kubelet are plain text. @throws ApiError with this text */
async function checkResponse(response: ApiResponse, name: string): Promise<void> {
  const { status, headers } = response
  if (status >= 200 && status <= 206) return
  if (status >= 300 && status <= 399 && headers.location !== undefined) {
    cancelBody(response)
    throw plainError('redirects forbidden')
  }
  const message = await readMessage(response)
  if (status === 400) throw ApiError.badRequest(message)
  if (status === 500) throw ApiError.internalError(message)
  throw ApiError.generic(status, { resource: { group: '', resource: 'pods/log' }, name, serverMessage: message })
}

async function readMessage({ body }: ApiResponse): Promise<string> {
  if (body.kind === 'bytes') return utf8Text(body.bytes.subarray(0, maxMessageBytes))
  if (body.kind !== 'stream') return ''
  const parts: Uint8Array[] = []
  let length = 0
  for await (const part of body.stream) {
    parts.push(part)
    length += part.byteLength
    if (length >= maxMessageBytes) break
  }
  return utf8Text(concatBytes(parts).subarray(0, maxMessageBytes))
}
