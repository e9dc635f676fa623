import { shown } from '@krmkit/base/arguments'
import type { ApiObject } from '@krmkit/meta'
import { ClientError } from './client-error.ts'
import type { ResourceRef, ResourceType } from './interfaces.ts'

/**
 * Describes a resource for the client.
 *
 * @example
 * import { apiVersionOf, resourceType } from '@krmkit/client'
 * import type { ApiObject } from '@krmkit/meta'
 * interface Widget extends ApiObject {
 *   spec: { size: number }
 * }
 * const Widget = resourceType<Widget>({ group: 'shop.example.com', version: 'v1', resource: 'widgets', kind: 'Widget' })
 * apiVersionOf(Widget) // 'shop.example.com/v1'
 */
export function resourceType<T extends ApiObject = ApiObject>(
  fields: Omit<ResourceType, 'namespaced'> & { readonly namespaced?: boolean },
): ResourceType<T> {
  return { namespaced: true, ...fields } as ResourceType<T>
}

/**
 * Describes a subresource whose objects have a different type.
 *
 * @example
 * import { Deployment } from '@krmkit/kinds/apps/v1'
 * import type { Scale } from '@krmkit/kinds/autoscaling/v1'
 * import { subresourceType } from '@krmkit/client'
 * const DeploymentScale = subresourceType<Scale>(Deployment, { name: 'scale', apiVersion: 'autoscaling/v1', kind: 'Scale' })
 */
export function subresourceType<T extends ApiObject = ApiObject>(
  resource: ResourceRef,
  options: { readonly name: string; readonly apiVersion: string; readonly kind: string },
): ResourceType<T> {
  const { group, version, resource: plural, namespaced } = typeOf(resource)
  const { name: subresource, apiVersion: objectVersion, kind } = options
  return { group, version, resource: plural, namespaced, subresource, objectVersion, kind }
}

/**
 * Converts a `ResourceRef` to a `ResourceType`.
 *
 * @example
 * import { Deployment } from '@krmkit/kinds/apps/v1'
 * import { typeOf } from '@krmkit/client'
 * typeOf(Deployment).resource // 'deployments'
 * @throws ClientError `InvalidRequest` for other values
 */
export function typeOf<T extends ApiObject, W extends ApiObject = T>(ref: ResourceRef<T, W>): ResourceType<T> {
  // A misplaced argument would otherwise address a wrong path.
  if (typeof ref?.group !== 'string' || typeof ref.version !== 'string') throw notResource(ref)
  if (typeof ref.resource === 'string') return ref as unknown as ResourceType<T>
  const { group, version, resource } = ref
  if (typeof resource?.name !== 'string' || ref.kind === undefined) throw notResource(ref)
  const kind = typeof ref.kind === 'string' ? ref.kind : ref.kind.kind
  return { group, version, resource: resource.name, namespaced: resource.namespaced, kind }
}

function notResource(value: unknown): ClientError {
  const expected = 'a resource is a handle such as ConfigMap of @krmkit/kinds/core/v1, or comes from resourceType()'
  return new ClientError({ code: 'InvalidRequest', message: `${expected}, not ${shown(value)}` })
}

/** Returns the apiVersion of the objects: `apps/v1`, or `v1` for the core group. @see {@link resourceType} */
export function apiVersionOf(type: ResourceType): string {
  return type.objectVersion ?? (type.group === '' ? type.version : `${type.group}/${type.version}`)
}

/** Returns the path of a collection, an object or a subresource. An empty namespace means all namespaces. */
export function pathOf(
  type: ResourceType,
  location: { readonly namespace: string; readonly name?: string; readonly subresource?: string | undefined },
): string {
  const { namespace, name, subresource = type.subresource } = location
  let path = type.group === '' ? `/api/${type.version}` : `/apis/${type.group}/${type.version}`
  if (type.namespaced && namespace !== '') path += `/namespaces/${segment(namespace, 'namespace')}`
  path += `/${type.resource}`
  if (name !== undefined) path += `/${segment(name, 'name')}`
  return subresource === undefined ? path : `${path}/${subresource}`
}

function segment(text: string, what: string): string {
  if (typeof text !== 'string' || text === '' || text === '.' || text === '..')
    throw new ClientError({ code: 'InvalidRequest', message: `the ${what} ${JSON.stringify(text)} is not a valid path segment` })
  return encodeURIComponent(text)
}

/** Encodes a query: `a=1&b=x%20y`. Parameters without a value are omitted. */
export function queryOf(parameters: Readonly<Record<string, string | number | boolean | undefined>>): string {
  let query = ''
  for (const name in parameters) {
    const value = parameters[name]
    if (value === undefined || value === '' || value === false) continue
    query += `${query === '' ? '' : '&'}${name}=${encodeURIComponent(String(value))}`
  }
  return query
}
