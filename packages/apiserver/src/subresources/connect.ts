import type { Pod } from '@krmkit/kinds/core/v1'
import { checkContainer } from '@krmkit/kinds/strategies'
import { ApiError, type DeepReadonly } from '@krmkit/meta'
import type { ApiResponse } from '@krmkit/protocol'
import { text } from '../query.ts'
import type { RequestContext } from '../request-context.ts'
import type { RequestScope } from '../request-scope.ts'
import { writeContext } from '../write-context.ts'
import { connectOptions } from './connect-options.ts'

/** Subresources that connect to a node, with their methods; `proxy` takes every method. */
export const connectable: ReadonlyMap<string, readonly string[] | undefined> = new Map([
  ['exec', ['GET', 'POST']],
  ['attach', ['GET', 'POST']],
  ['portforward', ['GET', 'POST']],
  ['log', ['GET']],
  ['proxy', undefined],
])

/** Subresources of one container of the pod. */
const ofContainers: ReadonlySet<string> = new Set(['log', 'exec', 'attach'])

/**
 * Subresources that connect to a node (`exec`, `attach`, `portforward`, `log`, `proxy`). The server has no connection to nodes and
 * returns the error of the stock server for a pod without a node. The log of such a pod is empty.
 */
export async function connectResource(scope: RequestScope, context: RequestContext): Promise<ApiResponse> {
  const { definition, codec, store } = scope
  const { namespace, name, subresource } = context.info
  if (subresource !== 'log') await admitConnection(scope, context)
  const object = codec.object(await store.get({ namespace, name }, context)) as DeepReadonly<Pod>
  const host = object.spec?.nodeName ?? ''
  if (definition.kind.kind === 'Pod') {
    if (ofContainers.has(subresource)) checkContainer(object, text(context.query, 'container') ?? '')
    if (host === '' && subresource === 'log') return { status: 204, headers: {}, body: { kind: 'empty' } }
    if (host === '') throw ApiError.badRequest(`pod ${name} does not have a host assigned`)
  }
  throw ApiError.serviceUnavailable(
    `no way leads to ${host === '' ? name : `node ${JSON.stringify(host)}`}: this server is not connected to any node`,
  )
}

/** Admission runs before the object is read; reading a log is not a connection. @throws ApiError */
async function admitConnection(scope: RequestScope, context: RequestContext): Promise<void> {
  const options = connectOptions(scope, context)
  const kind = scope.subresource?.kind
  if (options === undefined || kind === undefined) return
  const { namespace, name, subresource } = context.info
  const write = writeContext(context, { dryRun: false, fieldManager: '' })
  const admission = scope.store.operation(write, { namespace, name, subresource, kind, operation: 'CONNECT' })
  await admission.validate(await admission.admit(options))
}
