/**
 * What a request is about, read from its method and path alone.
 *
 * @see API protocol specification, 4
 */
export interface RequestInfo {
  /** False for discovery, health and every other path that names no resource. */
  readonly isResource: boolean
  /** `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`, `deletecollection`; the method in lower case for other paths. */
  readonly verb: string
  readonly group: string
  readonly version: string
  readonly namespace: string
  readonly resource: string
  readonly subresource: string
  readonly name: string
  /** Decoded, as routes and authorizers see it. */
  readonly path: string
  /** Segments after the sub-resource (`proxy/…`). */
  readonly rest: readonly string[]
  /** The path has the deprecated `watch/` prefix. */
  readonly watchPrefix: boolean
}

/** Sub-resources of a namespace itself; every other third segment names a resource inside it. */
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
 * Reads a raw path. Percent escapes are decoded before the path is split, as the stock server does, so an escaped slash
 * separates segments like any other.
 *
 * @returns undefined when the path cannot be decoded.
 */
export function parseRequestInfo(method: string, rawPath: string, watchAsked: boolean): RequestInfo | undefined {
  const path = decodePath(rawPath)
  if (path === undefined) return undefined
  const other: RequestInfo = {
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
  if (segments.at(-1) === '') segments.pop()
  const root = segments[0]
  const core = root === 'api'
  if (!core && root !== 'apis') return other
  const group = core ? '' : (segments[1] ?? '')
  const version = segments[core ? 1 : 2] ?? ''
  let parts = segments.slice(core ? 2 : 3)
  if (version === '' || parts.length === 0 || parts.includes('')) return other
  const watchPrefix = parts[0] === 'watch' && parts.length > 1
  if (watchPrefix) parts = parts.slice(1)
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
  if (watchPrefix || (watchAsked && (verb === 'list' || verb === 'get') && subresource === '')) verb = 'watch'
  return {
    ...other,
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

function decodePath(raw: string): string | undefined {
  if (!raw.includes('%')) return raw
  try {
    return decodeURIComponent(raw)
  } catch {
    return undefined
  }
}
