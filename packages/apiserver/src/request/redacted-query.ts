const secretParameters: ReadonlySet<string> = new Set(['token', 'access_token'])

/**
 * Replaces the values of parameters that carry credentials, for logs and pages.
 *
 * @param text a query, or a path with a query
 * @example
 * import { redactQuery } from '@krmkit/apiserver/request-info'
 * redactQuery('/api/v1/pods?token=abc&limit=5') // '/api/v1/pods?token=REDACTED&limit=5'
 */
export function redactQuery(text: string): string {
  return text.replaceAll(/(^|[?&;])([^=&?;]*)=([^&;]*)/g, (whole, before: string, name: string) =>
    secretParameters.has(decoded(name).toLowerCase()) ? `${before}${name}=REDACTED` : whole,
  )
}

function decoded(name: string): string {
  try {
    return decodeURIComponent(name)
  } catch {
    return name
  }
}
