import { ApiError, type ApiObject } from '@krmkit/meta'
import { gateEnabled } from '@krmkit/meta/feature-gates'
import type { ApiResponse } from '@krmkit/protocol'
import { attributesOf } from '../filters/authorization.ts'
import { writeContext } from '../handlers/write-context.ts'
import { readLog } from '../proxy/pod-log.ts'
import { openStream } from '../proxy/pod-stream.ts'
import { proxyResource } from '../proxy/proxy-resource.ts'
import type { RequestContext } from '../request/context.ts'
import { text } from '../request/query.ts'
import { negotiated, type RequestScope } from '../request/scope.ts'
import { connectOptions } from './connect-options.ts'

/**
 * Subresources that connect to a backend: `proxy` to pods, services and nodes; `exec`, `attach`, `portforward` and `log` to the kubelet
 * of a pod's node. The log of a pod without a node is empty.
 *
 * @throws ApiError
 */
export async function connectResource(scope: RequestScope, context: RequestContext): Promise<ApiResponse> {
  const { subresource } = context.info
  if (subresource === 'log') {
    // The log is text, whatever is negotiated: only unacceptable media types are refused.
    negotiated(scope, context, { transforms: ['PartialObjectMetadata', 'PartialObjectMetadataList'] })
    return readLog(scope, context)
  }
  if ((text(context.query, 'dryRun') ?? '') !== '') throw ApiError.badRequest('dryRun is not supported')
  const options = connectOptions(scope, context) ?? {}
  await admitConnection(scope, context, options)
  if (subresource !== 'proxy') await requireCreate(scope, context)
  return subresource === 'proxy' ? proxyResource(scope, context) : openStream(scope, context, options)
}

/**
 * Requires the permission to create a stream, which a WebSocket opens with GET (gate `AuthorizePodWebsocketUpgradeCreatePermission`).
 *
 * @throws ApiError 403 with the reason of the authorizer alone, as on kube-apiserver
 */
async function requireCreate({ authorizer, features }: RequestScope, context: RequestContext): Promise<void> {
  const { group, resource, name, verb } = context.info
  if (verb === 'create' || !gateEnabled('AuthorizePodWebsocketUpgradeCreatePermission', features)) return
  const { decision, reason, error } = await authorizer.authorize({ ...attributesOf(context), verb: 'create' })
  if (decision === 'allow') return
  if (error !== undefined && decision !== 'deny') throw ApiError.internalError(error)
  throw ApiError.forbidden({ group, resource }, name, reason)
}

/** Runs admission of a connection, before the object is read. Reading a log is not a connection. @throws ApiError */
async function admitConnection(scope: RequestScope, context: RequestContext, options: object): Promise<void> {
  const kind = scope.subresource?.kind
  if (kind === undefined || !('kind' in options)) return
  const { namespace, name, subresource } = context.info
  const write = writeContext(context, { dryRun: false, fieldManager: '' })
  const admission = scope.store.operation(write, { namespace, name, subresource, kind, operation: 'CONNECT' })
  await admission.validate(await admission.admit(options as ApiObject))
}
