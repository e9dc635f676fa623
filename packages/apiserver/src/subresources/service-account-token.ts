import { createTypeConverter, trackUpdate } from '@krmkit/fieldmanager'
import type { KindInfo } from '@krmkit/kinds'
import type { TokenRequest } from '@krmkit/kinds/authentication/v1'
import {
  boundObject,
  completeTokenRequest,
  grantTokenRequest,
  validateTokenName,
  validateTokenRequest,
} from '@krmkit/kinds/strategies'
import { ApiError, type Features, type FieldError, formatApiVersion } from '@krmkit/meta'
import type { ApiResponse } from '@krmkit/protocol'
import { normalize } from '@krmkit/schema'
import { objectResponse } from '../encoding/object-response.ts'
import type { RequestContext } from '../request/context.ts'
import { negotiatedObjects, type RequestScope } from '../request/scope.ts'
import { admitOperation } from './operation.ts'

/**
 * POST to `serviceaccounts/token`: issues a token for a service account.
 *
 * @throws ApiError 404 for a missing account or bound object, 405 without an issuer, 409 for another uid of the bound object, 422 for
 * another name and for lifetimes out of range.
 * @see API protocol specification, 2.12 and 8
 */
export async function createToken(scope: RequestScope, context: RequestContext): Promise<ApiResponse> {
  const { clock, codec, features, issuer, profile, registry, store } = scope
  if (issuer === undefined) throw ApiError.generic(405)
  const { namespace, name } = context.info
  const account = { namespace, name }
  const representation = negotiatedObjects(scope, context)
  const { body, kind, write, admission } = await admitOperation<TokenRequest>(scope, context)
  refuse(kind, name, validateTokenName(body, account), features)
  const { metadata } = codec.object(await store.get(account, context))
  const request = completeTokenRequest(body, account, clock.now())
  refuse(kind, '', validateTokenRequest(request), features)
  await admission.validate(request)
  const bound = boundObject(request.spec.boundObjectRef, account, registry.reader, { features })
  const { audiences, expirationSeconds } = request.spec
  const issued = await issuer.issue({
    ...account,
    uid: metadata.uid ?? '',
    audiences,
    expirationSeconds,
    ...(bound === undefined ? {} : { bound }),
  })
  const granted = issued.expirationSeconds ?? expirationSeconds
  if (granted < expirationSeconds)
    write.warn(`requested expiration of ${expirationSeconds} seconds shortened to ${granted} seconds`)
  if (issued.credentialId !== undefined)
    context.annotations[`authentication.${profile.domain}/issued-credential-id`] = issued.credentialId
  // As on kube-apiserver, the response has managedFields although nothing is stored.
  const apiVersion = formatApiVersion(kind)
  const types = createTypeConverter({ [apiVersion]: kind.type })
  const next = { ...body, spec: { ...body.spec, expirationSeconds } }
  const tracking = { live: undefined, next, manager: write.fieldManager, apiVersion, now: clock.now(), types }
  const owned = trackUpdate({ ...tracking, subresource: 'token' })
  const answer = grantTokenRequest(request, { ...issued, expirationSeconds: granted })
  if (owned.metadata.managedFields !== undefined) answer.metadata.managedFields = owned.metadata.managedFields
  return objectResponse(scope, context, normalize(kind.type(), answer), { representation, status: 201 })
}

/** @throws ApiError 422 when there are errors. */
function refuse({ group, kind }: KindInfo, name: string, errors: readonly FieldError[], features: Features): void {
  if (errors.length > 0) throw ApiError.invalid({ group, kind }, name, errors, features)
}
