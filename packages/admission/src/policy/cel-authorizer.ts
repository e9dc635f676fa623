import type { Attributes, Authorizer, Decision } from '@krmkit/authorization'
import { whenDone } from '@krmkit/base/work'
import type { CelAccessCheck, CelAccessDecision, CelAuthorizer } from '@krmkit/cel'
import type { UserInfo } from '@krmkit/meta'

/** The `authorizer` variable of expressions, backed by the server's authorizer. */
export function celAuthorizer(user: UserInfo, authorizer: Authorizer): CelAuthorizer {
  return (question) => whenDone(authorizer.authorize(attributesOf(question, user)), responseOf)
}

function responseOf({ decision, reason, error = '' }: Decision): CelAccessDecision {
  return { allowed: decision === 'allow', reason, error }
}

function attributesOf(question: CelAccessCheck, requester: UserInfo): Attributes {
  const { serviceAccount, verb, path, group, resource, subresource, namespace, name, fieldSelector, labelSelector } = question
  const user = serviceAccount === undefined ? requester : serviceAccountUser(serviceAccount)
  const nowhere = { group: '', version: '', resource: '', subresource: '', namespace: '', name: '' }
  if (path !== undefined) return { user, verb, isResource: false, ...nowhere, path }
  return {
    user,
    verb,
    isResource: true,
    group,
    version: '*',
    resource,
    subresource,
    namespace,
    name,
    path: '',
    ...(fieldSelector === undefined ? {} : { fieldSelector }),
    ...(labelSelector === undefined ? {} : { labelSelector }),
  }
}

function serviceAccountUser({ namespace, name }: { readonly namespace: string; readonly name: string }): UserInfo {
  return {
    username: `system:serviceaccount:${namespace}:${name}`,
    groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'],
  }
}
