import { type RequestInfo, requestInfoOf } from '@krmkit/apiserver/request-info'
import type { ApiRequest } from '@krmkit/protocol'

/** The attributes of a request, as parsed by the server; resource attributes are empty for non-resource paths. */
export interface RequestAttributes
  extends Pick<RequestInfo, 'verb' | 'group' | 'version' | 'resource' | 'subresource' | 'namespace' | 'name'> {
  readonly method: string
  /** The path as sent, with escapes. */
  readonly path: string
  readonly query: string
}

/** Reads the attributes of a request. */
export function requestAttributes({ method, path, query }: Pick<ApiRequest, 'method' | 'path' | 'query'>): RequestAttributes {
  const info = requestInfoOf({ method, path, query }) ?? { ...undecodable, verb: method.toLowerCase() }
  const { verb, group, version, resource, subresource, namespace, name } = info
  return { method, path, query, verb, group, version, resource, subresource, namespace, name }
}

const undecodable = { group: '', version: '', resource: '', subresource: '', namespace: '', name: '' }
