import type { ApiRequest } from '@krmkit/protocol'

/** The attributes of a request, from its method, path and query. */
export interface RequestInfo {
  /** `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`, `deletecollection`; the method in lower case for other paths. */
  readonly verb: string
  readonly method: string
  readonly path: string
  readonly query: string
  readonly group: string
  readonly version: string
  /** Empty for non-resource paths. */
  readonly resource: string
  readonly subresource: string
  readonly namespace: string
  readonly name: string
}

/** `watch`, `watch=1`, `watch=true`, but not `watch=0` and `watch=false`. */
const watchParameter = /(?:^|&)watch(?:=(?!0(?:&|$)|false(?:&|$))|&|$)/
const verbs: Readonly<Record<string, string>> = { POST: 'create', PUT: 'update', PATCH: 'patch' }

/** Reads the attributes of a request. */
export function requestInfoOf({ method, path, query }: Pick<ApiRequest, 'method' | 'path' | 'query'>): RequestInfo {
  const parts = path
    .split('/')
    .filter((part) => part !== '')
    .map(decodeSegment)
  const common = { method, path, query }
  const [root, ...rest] = parts
  const attributes =
    root === 'api'
      ? { group: '', ...afterGroup(rest) }
      : root === 'apis'
        ? { group: rest[0] ?? '', ...afterGroup(rest.slice(1)) }
        : undefined
  if (attributes === undefined || attributes.resource === '') {
    return {
      ...common,
      verb: method.toLowerCase(),
      group: '',
      version: '',
      resource: '',
      subresource: '',
      namespace: '',
      name: '',
    }
  }
  const isWatch = watchParameter.test(query)
  const isNamed = attributes.name !== ''
  const verb =
    method === 'GET' || method === 'HEAD'
      ? isWatch
        ? 'watch'
        : isNamed
          ? 'get'
          : 'list'
      : method === 'DELETE'
        ? isNamed
          ? 'delete'
          : 'deletecollection'
        : (verbs[method] ?? method.toLowerCase())
  return { ...common, verb, ...attributes }
}

/** Parses the segments after the group: `v1/namespaces/a/pods/b/status`. */
function afterGroup(parts: readonly string[]) {
  const [version = '', ...rest] = parts
  // `namespaces/a/status` is a subresource of the namespace, `namespaces/a/pods` a resource in it.
  const isInside = rest[0] === 'namespaces' && rest.length > 2 && !['status', 'finalize'].includes(rest[2]!)
  const namespace = isInside ? rest[1]! : ''
  const [resource = '', name = '', ...more] = isInside ? rest.slice(2) : rest
  return { version, namespace, resource, name, subresource: more.join('/') }
}

function decodeSegment(part: string): string {
  if (!part.includes('%')) return part
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
