import { expect, it } from 'vitest'
import { AuthorizationError } from './authorization-error.ts'
import { createRbacAuthorizer } from './rbac/rbac-authorizer.ts'
import { createUnionAuthorizer } from './union.ts'

/** Calls with wrong arguments, as made by untyped callers. */

const wrong = (value: unknown) => value as never

it.each<[() => unknown, string]>([
  [() => createUnionAuthorizer(wrong(undefined)), 'createUnionAuthorizer needs a list of authorizers'],
  [() => createUnionAuthorizer([wrong({})]), 'createUnionAuthorizer needs a list of authorizers'],
  [
    () => createUnionAuthorizer([]).authorize(wrong({ verb: 'get' })),
    'authorize needs attributes with user: { username, groups }',
  ],
  [() => createRbacAuthorizer(wrong({ object: [] })), 'has no "object"; did you mean "objects"?'],
  [() => createRbacAuthorizer().authorize(wrong(undefined)), 'authorize needs attributes with user'],
  [() => createRbacAuthorizer().authorize(wrong({ user: { username: 'a' } })), 'authorize needs attributes with user'],
])('call %# is an error that names the argument', (call, message) => {
  expect(call).toThrow(AuthorizationError)
  expect(call).toThrow(message)
})

it('malformed objects grant nothing', () => {
  const objects = [null, undefined, 3, {}, { metadata: null }].map(wrong)
  const { policy } = createRbacAuthorizer({ objects })
  for (const object of objects) policy.put(object)
  expect(policy.bindings()).toEqual([])
})
