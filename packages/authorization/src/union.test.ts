import { expect, it } from 'vitest'
import type { Attributes, Authorizer } from './interfaces.ts'
import { createUnionAuthorizer } from './union.ts'

const undecided = (reason: string): Authorizer => ({ authorize: () => ({ decision: 'noOpinion', reason }) })
const attributes: Attributes = {
  user: { username: 'jane', groups: [] },
  verb: 'get',
  isResource: false,
  path: '/api',
  ...{ group: '', version: '', resource: '', subresource: '', namespace: '', name: '' },
}

it('begins reasons with the name of their authorizer, if names are given', async () => {
  const authorizers = [undecided('unknown'), undecided(''), undecided('no role')]
  expect(await createUnionAuthorizer(authorizers).authorize(attributes)).toMatchObject({ reason: 'unknown\nno role' })
  const named = createUnionAuthorizer(authorizers, ['node', 'webhook', 'rbac'])
  expect(await named.authorize(attributes)).toMatchObject({ reason: 'node: unknown\nrbac: no role' })
})
