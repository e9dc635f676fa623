import type { BoundObject, ServiceAccountIssuer } from '@krmkit/authentication'
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
import { isStorableName, objectKey } from '@krmkit/registry'
import type { ApiResponse } from '../interfaces.ts'
import { readObject } from '../request-body.ts'
import { header } from '../request-state.ts'
import { type ResourceRequest, requestedOptions, writeContext } from '../resource-handler.ts'
import { presentObject } from '../verbs/read.ts'
import { operationAdmission } from './operation.ts'

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
 * POST to `serviceaccounts/token`: issues a token for an account.
 *
 * @throws ApiError 404 for a missing account or bound object, 409 when the bound object is another one, 422 for bad lifetimes.
 * @see API protocol specification, 2.12 and 8
 */
export async function requestToken(request: ResourceRequest, issuer: ServiceAccountIssuer): Promise<ApiResponse> {
  const { machinery, state, definition } = request
  const { namespace, name } = state.info
  const representation = machinery.responder.negotiator.negotiate(header(state.request, 'accept'))
  const options = requestedOptions(request, 'CreateOptions')
  const type = () => machinery.responder.types.struct('authentication/v1.TokenRequest')
  const kind = request.subresource?.kind ?? definition.kind
  const body = (await readObject(machinery, state, {
    gvk: kind,
    type,
    fieldValidation: options.fieldValidation,
    unstored: true,
  })) as TokenRequest
  const context = writeContext(request, options)
  const admission = operationAdmission(request, definition, context, { name, kind })
  const asked = (await admission.admit(body)) as TokenRequest
  const { storage, clock, profile } = machinery.writer.environment
  const inBody = asked.metadata.namespace ?? ''
  if (inBody !== '' && inBody !== namespace) {
    throw ApiError.badRequest('the namespace of the provided object does not match the namespace sent on the request')
  }
  const entry = isStorableName(name) ? storage.peek(objectKey(definition, namespace, name)) : undefined
  if (entry === undefined) throw ApiError.notFound({ group: '', resource: 'serviceaccounts' }, name)
  const account = machinery.parsed.objectOf(entry)
  validate(asked, { name, kind })
  await admission.judge(completed(asked, { name, namespace, now: clock.now() }))
  const apiVersion = formatApiVersion(kind)
  const owned = trackUpdate({
    live: undefined,
    next: asked,
    manager: context.fieldManager,
    apiVersion,
    subresource: 'token',
    now: clock.now(),
    types: createTypeConverter({ [apiVersion]: type }),
  })
  const bound = boundObject(request, asked)
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
    context.warn(`requested expiration of ${expirationSeconds} seconds shortened to ${granted} seconds`)
  if (issued.credentialId !== undefined)
    state.annotations[`authentication.${profile.domain}/issued-credential-id`] = issued.credentialId
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
  return presentObject(request, 201, answer, representation)
}

/** The request as it will be answered, but for the token. */
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

/** The object that the token shall die with. */
function boundObject({ machinery, state }: ResourceRequest, { spec }: TokenRequest): BoundObject | undefined {
  const reference = spec.boundObjectRef
  if (reference === undefined || reference === null) return undefined
  const { kind: boundKind = '', apiVersion = '', name = '', uid = '' } = reference
  const resource = Object.hasOwn(boundKinds, boundKind) ? boundKinds[boundKind] : undefined
  if (resource === undefined || !isCoreVersion(apiVersion))
    throw ApiError.badRequest(`cannot bind token to object of type ${writtenType(apiVersion, boundKind)}`)
  if (name === '') throw ApiError.badRequest('Name parameter required.')
  const { reader } = machinery.writer
  const found = reader.get({ group: '', resource }, resource === 'nodes' ? '' : state.info.namespace, name)
  if (found === undefined) throw ApiError.notFound({ group: '', resource }, name)
  const actual = found.metadata.uid ?? ''
  const pod = boundKind === 'Pod' ? (found as { spec?: { serviceAccountName?: string; nodeName?: string } }) : undefined
  if (pod !== undefined && (pod.spec?.serviceAccountName ?? '') !== state.info.name)
    throw ApiError.badRequest(
      `cannot bind token for serviceaccount ${JSON.stringify(state.info.name)} to pod running with different serviceaccount name.`,
    )
  if (uid !== '' && uid !== actual) {
    throw ApiError.conflict(
      { group: '', resource: boundKind },
      name,
      `the UID in the bound object reference (${uid}) does not match the UID in record. The object might have been deleted and then recreated`,
    )
  }
  const nodeName = pod?.spec?.nodeName ?? ''
  // A node that is not there yet is still named, so that the holder can learn of it.
  const node = nodeName === '' ? undefined : reader.get({ group: '', resource: 'nodes' }, '', nodeName)
  return {
    kind: boundKind as BoundObject['kind'],
    name,
    uid: actual,
    ...(nodeName === '' ? {} : { node: { name: nodeName, uid: node?.metadata.uid ?? '' } }),
  }
}

/** The group decides; any version of the core group names the same objects. */
function isCoreVersion(apiVersion: string): boolean {
  return apiVersion !== '' && !apiVersion.includes('/')
}

/** `group/version, Kind=kind`, with nothing where nothing is given. */
function writtenType(apiVersion: string, kind: string): string {
  return `${apiVersion.includes('/') || apiVersion === '' ? apiVersion || '/' : `/${apiVersion}`}, Kind=${kind}`
}
