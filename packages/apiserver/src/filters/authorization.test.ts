import type { Attributes, Authorizer } from '@krmkit/authorization'
import { describe, expect, it } from 'vitest'
import { compose } from '../request/context.ts'
import { contextOf, done } from '../testing/sample-server.ts'
import { authorization } from './authorization.ts'

const user = { username: 'jane "j" doe', groups: [] }
const nobody: Authorizer = { authorize: () => ({ decision: 'noOpinion', reason: '' }) }

describe('authorization', () => {
  it.each([
    [
      'GET',
      '/api/v1/namespaces/ns/pods/p',
      'pods "p" is forbidden: User "jane \\"j\\" doe" cannot get resource "pods" in API group "" in the namespace "ns"',
    ],
    [
      'GET',
      '/api/v1/nodes',
      'nodes is forbidden: User "jane \\"j\\" doe" cannot list resource "nodes" in API group "" at the cluster scope',
    ],
    [
      'PATCH',
      '/apis/apps/v1/namespaces/ns/deployments/d/scale',
      'deployments.apps "d" is forbidden: User "jane \\"j\\" doe" cannot patch resource "deployments/scale" in API group "apps" in the namespace "ns"',
    ],
    [
      'DELETE',
      '/api/v1/namespaces/ns',
      'namespaces "ns" is forbidden: User "jane \\"j\\" doe" cannot delete resource "namespaces" in API group "" in the namespace "ns"',
    ],
    ['GET', '/metrics', 'forbidden: User "jane \\"j\\" doe" cannot get path "/metrics"'],
    ['POST', '/anything', 'forbidden: User "jane \\"j\\" doe" cannot post path "/anything"'],
  ])('rejects %s %s with the message of kube-apiserver [P312]', async (method, target, message) => {
    const enforced = compose([authorization(nobody)], async () => done)
    await expect(enforced(contextOf(target, { method, user }))).rejects.toMatchObject({
      code: 403,
      reason: 'Forbidden',
      message,
    })
  })

  it('appends the reason to the message', async () => {
    for (const decision of ['deny', 'noOpinion'] as const) {
      const filter = authorization({ authorize: async () => ({ decision, reason: 'because' }) })
      await expect(filter(contextOf('/metrics', { user }), async () => done)).rejects.toThrow(
        /cannot get path "\/metrics": because$/,
      )
    }
  })

  it('authorizes the attributes of the path, and passes allowed requests', async () => {
    const authorized: Attributes[] = []
    const filter = authorization({
      authorize: (attributes) => {
        authorized.push(attributes)
        return { decision: 'allow', reason: 'yes' }
      },
    })
    expect(await filter(contextOf('/api/v1/namespaces/ns/pods?watch=true', { user }), async () => done)).toBe(done)
    expect(authorized).toEqual([
      {
        user,
        verb: 'watch',
        isResource: true,
        group: '',
        version: 'v1',
        resource: 'pods',
        subresource: '',
        namespace: 'ns',
        name: '',
        path: '/api/v1/namespaces/ns/pods',
      },
    ])
  })
})
