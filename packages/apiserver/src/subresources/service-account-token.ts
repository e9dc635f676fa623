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
import { gateEnabled } from '@krmkit/meta/feature-gates'
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
  checkUid(scope, context, { body, kind, uid: metadata.uid ?? '', warn: write.warn })
  const request = completeTokenRequest(body, account, clock.now())
  if (features.release.atLeast('1.34')) request.metadata.uid ||= metadata.uid ?? ''
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

interface CheckedRequest {
  readonly body: TokenRequest
  readonly kind: KindInfo
  readonly uid: string
  readonly warn: (text: string) => void
}

/**
 * Compares the uid of a request with that of the account, from 1.34 on.
 *
 * @throws ApiError 409 for another uid; without the gate a warning.
 */
function checkUid({ features, profile }: RequestScope, context: RequestContext, { body, kind, uid, warn }: CheckedRequest): void {
  const stated = body.metadata.uid ?? ''
  if (stated === '' || stated === uid || !features.release.atLeast('1.34')) return
  const gate = 'TokenRequestServiceAccountUIDValidation'
  const problem = `the UID in the token request (${stated}) does not match the UID of the service account (${uid})`
  if (gateEnabled(gate, features)) throw ApiError.conflict({ group: kind.group, resource: kind.kind }, context.info.name, problem)
  context.annotations[`authentication.${profile.domain}/token-request-uid-mismatch`] = problem
  warn(`${problem} but ${gate} is not enabled. In the future, this will return a conflict error`)
}

/** @throws ApiError 422 when there are errors. */
function refuse({ group, kind }: KindInfo, name: string, errors: readonly FieldError[], features: Features): void {
  if (errors.length > 0) throw ApiError.invalid({ group, kind }, name, errors, features)
}
