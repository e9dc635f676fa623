import type { OpenIdMetadata } from '@krmkit/authentication/service-account'
import { ApiError } from '@krmkit/meta'
import type { ApiResponse } from '@krmkit/protocol'
import { bytesBody } from '../media/response-writer.ts'

const configurationPath = '/.well-known/openid-configuration'
const keysPath = '/openid/v1/jwks'
/** Cache lifetime of the documents in seconds. */
const maxAgeSeconds = 3600

/** Paths of the OpenID Connect discovery of the service account issuer. */
export const issuerPaths: readonly string[] = [configurationPath, keysPath]

export interface IssuerRequest {
  /** Without a trailing slash. */
  readonly path: string
  readonly method: string
  /** @throws ApiError 406 unless the client accepts the media type. */
  readonly accepts: (type: string) => void
}

/**
 * The discovery documents by which relying parties verify service account tokens; undefined for other paths.
 *
 * @throws ApiError 405, 406
 */
export function issuerResponse(
  documents: OpenIdMetadata | undefined,
  { path, method, accepts }: IssuerRequest,
): ApiResponse | undefined {
  if (documents === undefined || !issuerPaths.includes(path)) return undefined
  if (method !== 'GET') throw ApiError.generic(405)
  const [type, document] =
    path === keysPath
      ? (['application/jwk-set+json', documents.jwks] as const)
      : (['application/json', documents.configuration] as const)
  accepts(type)
  return {
    status: 200,
    headers: { 'content-type': type, 'cache-control': `public, max-age=${maxAgeSeconds}` },
    body: bytesBody(new TextEncoder().encode(JSON.stringify(document))),
  }
}
