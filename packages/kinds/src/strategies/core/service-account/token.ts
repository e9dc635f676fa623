/** `serviceaccounts/token`: what a TokenRequest may ask for. @see API protocol specification, 2.12 and 8 */
import {
  ApiError,
  type ApiObject,
  createFeatures,
  type DeepReadonly,
  type Features,
  type FieldError,
  field,
  formatTime,
  type GroupResource,
  Path,
} from '@krmkit/meta'
import { gateEnabled } from '@krmkit/meta/feature-gates'
import type { BoundObjectReference, TokenRequest } from '../../../types/authentication-v1.generated.ts'
import type { Pod } from '../../../types/core-v1.generated.ts'
import { isEmpty } from '../../shared/values.ts'

const defaultSeconds = 3600
const shortestSeconds = 600
const longestSeconds = 2 ** 32

/** The service account that a token is for. */
export interface TokenAccount {
  readonly namespace: string
  readonly name: string
}

/** Validates the name in a TokenRequest, which may be absent. {@link grantTokenRequest} has an example. */
export function validateTokenName({ metadata }: DeepReadonly<TokenRequest>, account: TokenAccount): FieldError[] {
  const { name = '' } = metadata
  if (name === '' || name === account.name) return []
  return [field.invalid(Path.of('metadata').child('name'), name, 'must match the service account name if specified')]
}

/** Validates the lifetime that a TokenRequest asks for. {@link grantTokenRequest} has an example. */
export function validateTokenRequest({ spec }: DeepReadonly<TokenRequest>): FieldError[] {
  const seconds = spec.expirationSeconds ?? defaultSeconds
  const at = Path.of('spec').child('expirationSeconds')
  const errors: FieldError[] = []
  if (seconds < shortestSeconds) errors.push(field.invalid(at, seconds, 'may not specify a duration less than 10 minutes'))
  if (seconds > longestSeconds) errors.push(field.invalid(at, seconds, 'may not specify a duration larger than 2^32 seconds'))
  return errors
}

/** A TokenRequest with the members that a client may omit. */
export type CompleteTokenRequest = TokenRequest & { spec: { audiences: string[]; expirationSeconds: number } }

/**
 * Returns a copy with name, namespace and time of creation, and with defaults for audiences and lifetime. {@link grantTokenRequest} has
 * an example.
 *
 * @param now milliseconds since the epoch.
 */
export function completeTokenRequest(
  { status: _, ...request }: TokenRequest,
  { name, namespace }: TokenAccount,
  now: number,
): CompleteTokenRequest {
  const { metadata, spec } = request
  return {
    ...request,
    metadata: { ...metadata, name, namespace, creationTimestamp: formatTime(now) },
    spec: { ...spec, audiences: spec.audiences ?? [], expirationSeconds: spec.expirationSeconds ?? defaultSeconds },
  }
}

/** An issued token. */
export interface TokenGrant {
  readonly token: string
  readonly audiences: readonly string[]
  readonly expirationSeconds: number
  /** Milliseconds since the epoch. */
  readonly expiresAt: number
}

/**
 * Returns a copy with the token and with the audiences and lifetime that the issuer granted.
 *
 * @example
 * import type { TokenRequest } from '@krmkit/kinds/authentication/v1'
 * import { boundObject, type BoundObjectReader, completeTokenRequest, type CompleteTokenRequest, grantTokenRequest, type TokenBinding, type TokenGrant, validateTokenName, validateTokenRequest } from '@krmkit/kinds/strategies'
 * declare const request: TokenRequest
 * declare const reader: BoundObjectReader
 * declare const issue: (request: CompleteTokenRequest, binding?: TokenBinding) => Promise<TokenGrant>
 * const account = { namespace: 'shop', name: 'web' }
 * const errors = [...validateTokenName(request, account), ...validateTokenRequest(request)]
 * const complete = completeTokenRequest(request, account, Date.now())
 * const bound = boundObject(request.spec.boundObjectRef, account, reader)
 * const answer = grantTokenRequest(complete, await issue(complete, bound))
 */
export function grantTokenRequest(request: TokenRequest, grant: TokenGrant): TokenRequest {
  const { token, audiences, expirationSeconds, expiresAt } = grant
  return {
    ...request,
    spec: { audiences: [...audiences], expirationSeconds, boundObjectRef: request.spec.boundObjectRef ?? null },
    status: { token, expirationTimestamp: formatTime(expiresAt) },
  }
}

const boundKinds = { Pod: 'pods', Secret: 'secrets', Node: 'nodes' } as const
type BoundKind = keyof typeof boundKinds

/** The object that a token is bound to: the token ends with it. */
export interface TokenBinding {
  readonly kind: BoundKind
  readonly name: string
  readonly uid: string
  /** For pods: the node; its uid is empty when the node does not exist yet. */
  readonly node?: { readonly name: string; readonly uid: string }
}

/** Reads stored objects. An empty namespace means cluster-scoped. */
export interface BoundObjectReader {
  get(resource: GroupResource, namespace: string, name: string): DeepReadonly<ApiObject> | undefined
}

/**
 * Finds the object that a token is to be bound to. {@link grantTokenRequest} has an example.
 *
 * @throws ApiError 400 for another kind, or a pod of another service account; 404; 409 for another uid.
 */
export function boundObject(
  reference: DeepReadonly<BoundObjectReference> | null | undefined,
  account: TokenAccount,
  reader: BoundObjectReader,
  { features = createFeatures() }: { readonly features?: Features } = {},
): TokenBinding | undefined {
  if (reference === undefined || reference === null) return undefined
  const { kind = '', apiVersion = '', name = '', uid: expected = '' } = reference
  const { group, version } = parsedVersion(apiVersion)
  if (!isBoundKind(kind) || group !== '')
    throw ApiError.badRequest(`cannot bind token to object of type ${group}/${version}, Kind=${kind}`)
  if (name === '') throw ApiError.badRequest('Name parameter required.')
  if (kind === 'Node' && !gateEnabled('ServiceAccountTokenNodeBinding', features))
    throw ApiError.badRequest(
      'cannot bind token to a Node object as the "ServiceAccountTokenNodeBinding" feature-gate is disabled',
    )
  const resource = boundKinds[kind]
  const found = reader.get({ group: '', resource }, kind === 'Node' ? '' : account.namespace, name)
  if (found === undefined) throw ApiError.notFound({ group: '', resource }, name)
  const pod = kind === 'Pod' ? (found as DeepReadonly<Pod>) : undefined
  if (pod !== undefined && (pod.spec?.serviceAccountName ?? '') !== account.name) {
    const asked = JSON.stringify(account.name)
    throw ApiError.badRequest(`cannot bind token for serviceaccount ${asked} to pod running with different serviceaccount name.`)
  }
  const { uid = '' } = found.metadata
  if (expected !== '' && expected !== uid) {
    const problem = `the UID in the bound object reference (${expected}) does not match the UID in record. The object might have been deleted and then recreated`
    throw ApiError.conflict({ group: '', resource: kind }, name, problem)
  }
  const nodeName = pod?.spec?.nodeName
  if (isEmpty(nodeName) || !gateEnabled('ServiceAccountTokenPodNodeInfo', features)) return { kind, name, uid }
  const node = reader.get({ group: '', resource: 'nodes' }, '', nodeName)
  return { kind, name, uid, node: { name: nodeName, uid: node?.metadata.uid ?? '' } }
}

function isBoundKind(kind: string): kind is BoundKind {
  return Object.hasOwn(boundKinds, kind)
}

/** Any version of the core group refers to the same objects, even none; an apiVersion that cannot be read counts as absent. */
function parsedVersion(apiVersion: string): { readonly group: string; readonly version: string } {
  const parts = apiVersion.split('/')
  const [group = '', version = ''] = parts.length === 1 ? ['', ...parts] : parts
  return parts.length > 2 ? { group: '', version: '' } : { group, version }
}
