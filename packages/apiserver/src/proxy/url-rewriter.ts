import { cleanPath, formatReference, parseReference, type UrlReference } from './url-reference.ts'

/** How a proxied page is addressed. */
export interface RewriteOptions {
  /** Path of the proxy, before the path of the backend: `/api/v1/namespaces/a/services/b/proxy`. */
  readonly prefix: string
  /** Host and port of the backend. */
  readonly backendHost: string
  /** `Host` header of the client. */
  readonly clientHost: string
}

/**
 * Rewrites a reference so that it leads through the proxy again: absolute paths get the prefix of the proxy, and absolute URLs of the
 * backend become paths. References to other hosts and relative paths are kept.
 *
 * @returns the rewritten reference, or the problem of a text that is not a reference.
 */
export function rewriteReference(text: string, options: RewriteOptions): { readonly url: string } | { readonly problem: string } {
  const reference = parseReference(text)
  return typeof reference === 'string' ? { problem: reference } : { url: formatReference(rewritten(reference, options)) }
}

function rewritten(reference: UrlReference, { prefix, backendHost, clientHost }: RewriteOptions): UrlReference {
  const { host, path } = reference
  const isOtherHost = host !== '' && host !== backendHost && host !== clientHost
  if (isOtherHost || !path.startsWith('/')) return reference
  const here = host === clientHost ? reference : { ...reference, scheme: '', userInfo: '', host: '' }
  if (path.startsWith(prefix)) return here
  const joined = cleanPath(`${prefix}${path}`)
  return { ...here, path: path.endsWith('/') && !joined.endsWith('/') ? `${joined}/` : joined }
}
