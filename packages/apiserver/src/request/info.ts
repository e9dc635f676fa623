import type { ApiRequest } from '@krmkit/protocol'
import { flag, parseQuery } from './query.ts'

export { redactQuery } from './redacted-query.ts'

/**
 * The verb, resource and namespace of a request, parsed from its method and path.
 *
 * @see API protocol specification, 4
 */
export interface RequestInfo {
  /** False for discovery, health and other non-resource paths. */
  readonly isResource: boolean
  /**
   * `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`, `deletecollection`, or `proxy` for the deprecated `proxy/` prefix, which
   * is no longer served; the method in lower case for other paths.
   */
  readonly verb: string
  readonly group: string
  readonly version: string
  readonly namespace: string
  readonly resource: string
  readonly subresource: string
  readonly name: string
  /** The decoded path. */
  readonly path: string
  /** Segments after the subresource (`proxy/…`). */
  readonly rest: readonly string[]
  /** Whether the path has the deprecated `watch/` prefix. */
  readonly watchPrefix: boolean
}

/** Subresources of Namespace; any other third segment is a resource inside the namespace. */
const namespaceSubresources = new Set(['status', 'finalize'])

const verbs: Readonly<Record<string, string>> = {
  POST: 'create',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
  GET: 'get',
  HEAD: 'get',
}

/**
 * The attributes of a request as the server sees them; undefined when the path cannot be decoded, which the server answers with 400.
 *
 * @example
 * ```ts
 * import { requestInfoOf } from '@krmkit/apiserver/request-info'
 *
 * requestInfoOf({ method: 'GET', path: '/api/v1/namespaces/shop/pods', query: 'watch=1' })?.verb // 'watch'
 * ```
 */
export function requestInfoOf({ method, path, query }: Pick<ApiRequest, 'method' | 'path' | 'query'>): RequestInfo | undefined {
  return parseRequestInfo(method, path, flag(parseQuery(query), 'watch'))
}

/**
 * Parses a raw path. As on kube-apiserver, percent escapes are decoded before the path is split, so that an escaped slash
 * separates segments.
 *
 * @param isWatch whether the query has a true `watch` parameter.
 * @returns undefined when the path cannot be decoded.
 * @example
 * ```ts
 * import { parseRequestInfo } from '@krmkit/apiserver/request-info'
 *
 * parseRequestInfo('GET', '/apis/apps/v1/namespaces/shop/deployments/web/scale', false)?.subresource // 'scale'
 * ```
 */
export function parseRequestInfo(method: string, rawPath: string, isWatch: boolean): RequestInfo | undefined {
  const path = decodePath(rawPath)
  if (path === undefined) return undefined
  const nonResource: RequestInfo = {
    isResource: false,
    verb: method.toLowerCase(),
    group: '',
    version: '',
    namespace: '',
    resource: '',
    subresource: '',
    name: '',
    path,
    rest: [],
    watchPrefix: false,
  }
  const segments = path.split('/').slice(1)
  while (segments.at(-1) === '') segments.pop()
  const root = segments[0]
  const core = root === 'api'
  if (!core && root !== 'apis') return nonResource
  const group = core ? '' : (segments[1] ?? '')
  const version = segments[core ? 1 : 2] ?? ''
  let parts = segments.slice(core ? 2 : 3)
  // As on kube-apiserver, an empty namespace means all namespaces.
  const isAcross = core && parts[0] === 'namespaces' && parts[1] === '' && parts.length > 2
  if (isAcross) parts = parts.slice(2)
  if ((group === '' && !core) || version === '' || parts.length === 0 || hasEmptySegment(parts)) return nonResource
  const watchPrefix = parts[0] === 'watch' && parts.length > 1
  const proxyPrefix = parts[0] === 'proxy' && parts.length > 1
  if (watchPrefix || proxyPrefix) parts = parts.slice(1)
  let namespace = ''
  if (
    parts[0] === 'namespaces' && core
      ? parts.length > 2 && !namespaceSubresources.has(parts[2] ?? '')
      : parts[0] === 'namespaces' && parts.length > 2
  ) {
    namespace = parts[1] ?? ''
    parts = parts.slice(2)
  }
  const [resource = '', name = '', subresource = '', ...rest] = parts
  const ownNamespace = core && resource === 'namespaces' && name !== '' ? name : namespace
  let verb = verbs[method] ?? ''
  if (name === '' && verb === 'get') verb = 'list'
  if (name === '' && verb === 'delete') verb = 'deletecollection'
  if (proxyPrefix) verb = 'proxy'
  if (watchPrefix || (isWatch && (verb === 'list' || verb === 'get') && subresource === '')) verb = 'watch'
  return {
    ...nonResource,
    isResource: true,
    verb,
    group,
    version,
    namespace: ownNamespace,
    resource,
    subresource,
    name,
    rest,
    watchPrefix,
  }
}

/** Whether a path segment is empty. Segments after `proxy` are the path of another server and may be empty. */
function hasEmptySegment(parts: readonly string[]): boolean {
  const proxied = parts.indexOf('proxy', parts[0] === 'namespaces' ? 4 : 2)
  return (proxied < 0 ? parts : parts.slice(0, proxied)).includes('')
}

/**
 * The path of a group version.
 *
 * @example
 * ```ts
 * import { groupVersionPath } from '@krmkit/apiserver/request-info'
 *
 * groupVersionPath('apps', 'v1') // '/apis/apps/v1'
 * groupVersionPath('', 'v1') // '/api/v1'
 * ```
 */
export function groupVersionPath(group: string, version: string): string {
  return group === '' ? `/api/${version}` : `/apis/${group}/${version}`
}

function decodePath(raw: string): string | undefined {
  if (!raw.includes('%')) return raw
  try {
    return decodeURIComponent(raw)
  } catch {
    return undefined
  }
}
