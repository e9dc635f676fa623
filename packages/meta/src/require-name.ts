import { ApiError } from './api-error.ts'
import { goQuote } from './go-text.ts'
import { validatePathSegmentName } from './names/name-formats.ts'

/**
 * Rejects a name in a request path that no object can have.
 *
 * @throws ApiError 400 `BadRequest`
 * @example
 * import { requirePathSegmentName } from '@krmkit/meta/names'
 * requirePathSegmentName('system:node')
 */
export function requirePathSegmentName(name: string): void {
  const problems = validatePathSegmentName(name)
  if (problems.length > 0) throw ApiError.badRequest(`Name parameter invalid: ${goQuote(name)}: ${problems.join(';')}`)
}
