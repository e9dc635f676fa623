import type { BoundObject } from '@krmkit/authentication/service-account'
import { createTypeConverter, trackUpdate } from '@krmkit/fieldmanager'
import {
  ApiError,
  type ApiObject,
  type FieldError,
  field,
  formatApiVersion,
  formatTime,
  type GroupKind,
  Path,
} from '@krmkit/meta'
import type { ApiResponse } from '@krmkit/protocol'
import { objectResponse } from '../encoding/object-response.ts'
import { readObject } from '../encoding/request-body.ts'
import { header, type RequestContext } from '../request-context.ts'
import { type RequestScope, requestedOptions } from '../request-scope.ts'
import { writeContext } from '../write-context.ts'

interface TokenRequest extends ApiObject {
  spec: {
    audiences?: string[] | null
    expirationSeconds?: number | null
    boundObjectRef?: { apiVersion?: string; kind?: string; name?: string; uid?: string } | null
  }
  status?: { token: string; expirationTimestamp: string }
}

const defaultSeconds = 3600
const shortestSeconds = 600
const longestSeconds = 2 ** 32

/**
 * POST to `serviceaccounts/token`: issues a token for a service account.
 *
 * @throws ApiError 404 for a missing account or bound object, 405 without an issuer, 409 for another uid of the bound object, 422 for
 * lifetimes out of range.
 * @see API protocol specification, 2.12 and 8
 */
export async function createToken(scope: RequestScope, context: RequestContext): Promise<ApiResponse> {
  const { clock, codec, definition, issuer, profile, responses, store } = scope
  if (issuer === undefined) throw ApiError.generic(405)
  const { namespace, name, subresource } = context.info
  const representation = responses.negotiator.negotiate(header(context.request, 'accept'))
  const options = requestedOptions(scope, context, 'CreateOptions')
  const type = () => responses.types.struct('authentication/v1.TokenRequest')
  const kind = scope.subresource?.kind ?? definition.kind
  const body = (await readObject(scope, context, {
    gvk: kind,
    type,
    fieldValidation: options.fieldValidation,
    unstored: true,
  })) as TokenRequest
  const write = writeContext(context, options)
  const admission = store.operation(write, { namespace, name, subresource, kind })
  const asked = (await admission.admit(body)) as TokenRequest
  const inBody = asked.metadata.namespace ?? ''
  if (inBody !== '' && inBody !== namespace) {
    throw ApiError.badRequest('the namespace of the provided object does not match the namespace sent on the request')
  }
  const account = codec.object(await store.get({ namespace, name }, context))
  validate(asked, { name, kind })
  await admission.validate(completed(asked, { name, namespace, now: clock.now() }))
  const apiVersion = formatApiVersion(kind)
  const owned = trackUpdate({
    live: undefined,
    next: asked,
    manager: write.fieldManager,
    apiVersion,
    subresource: 'token',
    now: clock.now(),
    types: createTypeConverter({ [apiVersion]: type }),
  })
  const bound = boundObject(scope, context, asked)
  const given = asked.spec.audiences ?? []
  const expirationSeconds = asked.spec.expirationSeconds ?? defaultSeconds
  const issued = await issuer.issue({
    namespace,
    name,
    uid: account.metadata.uid ?? '',
    audiences: given,
    expirationSeconds,
    ...(bound === undefined ? {} : { bound }),
  })
  const granted = issued.expirationSeconds ?? expirationSeconds
  if (granted < expirationSeconds)
    write.warn(`requested expiration of ${expirationSeconds} seconds shortened to ${granted} seconds`)
  if (issued.credentialId !== undefined)
    context.annotations[`authentication.${profile.domain}/issued-credential-id`] = issued.credentialId
  const answer: TokenRequest = {
    ...asked,
    metadata: {
      ...asked.metadata,
      ...(owned.metadata.managedFields === undefined ? {} : { managedFields: owned.metadata.managedFields }),
      name,
      namespace,
      creationTimestamp: formatTime(clock.now()),
    },
    spec: { audiences: [...issued.audiences], expirationSeconds: granted, boundObjectRef: asked.spec.boundObjectRef ?? null },
    status: { token: issued.token, expirationTimestamp: formatTime(issued.expiresAt) },
  }
  return objectResponse(scope, context, answer, { representation, status: 201 })
}

/** The response without the token. */
function completed(
  asked: TokenRequest,
  { name, namespace, now }: { readonly name: string; readonly namespace: string; readonly now: number },
): TokenRequest {
  const { spec, metadata, ...rest } = asked
  return {
    ...rest,
    metadata: { ...metadata, name, namespace, creationTimestamp: formatTime(now) },
    spec: { ...spec, audiences: spec.audiences ?? [], expirationSeconds: spec.expirationSeconds ?? defaultSeconds },
  }
}

function validate({ spec, metadata }: TokenRequest, { name, kind }: { readonly name: string; readonly kind: GroupKind }): void {
  const subject = { group: kind.group, kind: kind.kind }
  const given = metadata.name ?? ''
  if (given !== '' && given !== name) {
    throw ApiError.invalid(subject, name, [
      field.invalid(Path.of('metadata').child('name'), given, 'must match the service account name if specified'),
    ])
  }
  const errors: FieldError[] = []
  const seconds = spec.expirationSeconds ?? defaultSeconds
  const at = Path.of('spec').child('expirationSeconds')
  if (seconds < shortestSeconds) errors.push(field.invalid(at, seconds, 'may not specify a duration less than 10 minutes'))
  if (seconds > longestSeconds) errors.push(field.invalid(at, seconds, 'may not specify a duration larger than 2^32 seconds'))
  if (errors.length > 0) throw ApiError.invalid(subject, given, errors)
}

const boundKinds: Readonly<Record<string, string>> = { Pod: 'pods', Secret: 'secrets', Node: 'nodes' }

/** The object that the token is bound to. */
function boundObject({ registry }: RequestScope, { info }: RequestContext, { spec }: TokenRequest): BoundObject | undefined {
  const reference = spec.boundObjectRef
  if (reference === undefined || reference === null) return undefined
  const { kind: boundKind = '', apiVersion = '', name = '', uid = '' } = reference
  const resource = Object.hasOwn(boundKinds, boundKind) ? boundKinds[boundKind] : undefined
  if (resource === undefined || !isCoreVersion(apiVersion))
    throw ApiError.badRequest(`cannot bind token to object of type ${writtenType(apiVersion, boundKind)}`)
  if (name === '') throw ApiError.badRequest('Name parameter required.')
  const { reader } = registry
  const found = reader.get({ group: '', resource }, resource === 'nodes' ? '' : info.namespace, name)
  if (found === undefined) throw ApiError.notFound({ group: '', resource }, name)
  const actual = found.metadata.uid ?? ''
  const pod = boundKind === 'Pod' ? (found as { spec?: { serviceAccountName?: string; nodeName?: string } }) : undefined
  if (pod !== undefined && (pod.spec?.serviceAccountName ?? '') !== info.name)
    throw ApiError.badRequest(
      `cannot bind token for serviceaccount ${JSON.stringify(info.name)} to pod running with different serviceaccount name.`,
    )
  if (uid !== '' && uid !== actual) {
    throw ApiError.conflict(
      { group: '', resource: boundKind },
      name,
      `the UID in the bound object reference (${uid}) does not match the UID in record. The object might have been deleted and then recreated`,
    )
  }
  const nodeName = pod?.spec?.nodeName ?? ''
  // The token names a node that does not exist yet, with an empty uid.
  const node = nodeName === '' ? undefined : reader.get({ group: '', resource: 'nodes' }, '', nodeName)
  return {
    kind: boundKind as BoundObject['kind'],
    name,
    uid: actual,
    ...(nodeName === '' ? {} : { node: { name: nodeName, uid: node?.metadata.uid ?? '' } }),
  }
}

/** Any version of the core group refers to the same objects. */
function isCoreVersion(apiVersion: string): boolean {
  return apiVersion !== '' && !apiVersion.includes('/')
}

/** `group/version, Kind=kind`; omitted parts are empty. */
function writtenType(apiVersion: string, kind: string): string {
  return `${apiVersion.includes('/') || apiVersion === '' ? apiVersion || '/' : `/${apiVersion}`}, Kind=${kind}`
}
