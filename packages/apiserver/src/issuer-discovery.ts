import type { OpenIdMetadata } from '@krmkit/authentication/service-account'
import { ApiError } from '@krmkit/meta'
import type { ApiResponse } from '@krmkit/protocol'
import { bytesBody } from './encoding/response-writer.ts'

const configurationPath = '/.well-known/openid-configuration'
const keysPath = '/openid/v1/jwks'
/** Cache lifetime of the documents in seconds. */
const maxAgeSeconds = 3600

/** Paths of the OpenID Connect discovery of the service account issuer. */
export const issuerPaths: readonly string[] = [configurationPath, keysPath]

/** The discovery documents by which relying parties verify service account tokens; undefined for other paths. @throws ApiError 405 */
export function issuerResponse(
  documents: OpenIdMetadata | undefined,
  { path, method }: { readonly path: string; readonly method: string },
): ApiResponse | undefined {
  if (documents === undefined || !issuerPaths.includes(path)) return undefined
  if (method !== 'GET' && method !== 'HEAD') throw ApiError.generic(405)
  const isKeys = path === keysPath
  const text = JSON.stringify(isKeys ? documents.jwks : documents.configuration)
  return {
    status: 200,
    headers: {
      'content-type': isKeys ? 'application/jwk-set+json' : 'application/json',
      'cache-control': `public, max-age=${maxAgeSeconds}`,
    },
    body: bytesBody(new TextEncoder().encode(text)),
  }
}
