import type { Attributes, Authorizer } from '@krmkit/authorization'
import { ApiError } from '@krmkit/meta'
import type { Filter, RequestState } from '../request-state.ts'

/** Asks whether the caller may do that; @see API protocol specification, 5.9. */
export function authorization(authorizer: Authorizer): Filter {
  return async (state, next) => {
    const attributes = attributesOf(state)
    const { decision, reason } = await authorizer.authorize(attributes)
    if (decision === 'allow') return next()
    throw ApiError.forbidden(
      attributes.isResource ? { group: attributes.group, resource: attributes.resource } : { group: '', resource: '' },
      attributes.isResource ? attributes.name : '',
      refusal(attributes) + (reason === '' ? '' : `: ${reason}`),
    )
  }
}

export function attributesOf({ info, user }: RequestState): Attributes {
  const { isResource, verb, group, version, resource, subresource, name, path } = info
  const clusterNamespace = info.namespace
  return { user, verb, isResource, group, version, resource, subresource, namespace: clusterNamespace, name, path }
}

/** The sentence of a refusal, which tells who may not do what where. */
export function refusal({ user, verb, isResource, group, resource, subresource, namespace, path }: Attributes): string {
  const who = `User ${JSON.stringify(user.username)} cannot ${verb}`
  if (!isResource) return `${who} path ${JSON.stringify(path)}`
  const what = `${who} resource ${JSON.stringify(subresource === '' ? resource : `${resource}/${subresource}`)} in API group ${JSON.stringify(group)}`
  return namespace === '' ? `${what} at the cluster scope` : `${what} in the namespace ${JSON.stringify(namespace)}`
}
