import type { Authorizer } from '@krmkit/authorization'
import { describe, expect, it } from 'vitest'
import { fakeAuthorizer } from '../testing/policies.ts'
import { attributesOf } from '../testing/request.ts'
import type { MatchConditionResult } from '../webhook/interfaces.ts'
import { celMatchConditions } from './match-conditions.ts'

const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', labels: { app: 'x' } }, data: { k: 'v' } }

async function evaluate(
  expressions: readonly string[],
  authorizer: Authorizer = fakeAuthorizer(() => false),
): Promise<MatchConditionResult> {
  const conditions = expressions.map((expression, i) => ({ name: `c${i}`, expression }))
  const evaluate = celMatchConditions({ authorizer }).compile(conditions)
  const attributes = attributesOf('configmaps', { namespace: 'ns', user: { username: 'jane', groups: ['g'] } })
  const request = { operation: 'CREATE', userInfo: { username: 'jane', groups: ['g'] } }
  return await evaluate({ attributes, object, oldObject: null, request })
}

describe('celMatchConditions', () => {
  it.each<[string[], MatchConditionResult]>([
    [[], { outcome: 'match' }],
    [['true'], { outcome: 'match' }],
    [["object.metadata.labels['app'] == 'x'", "!('system:masters' in request.userInfo.groups)"], { outcome: 'match' }],
    [['true', 'false'], { outcome: 'noMatch' }],
    [['object.data.none == 1', "request.operation == 'UPDATE'"], { outcome: 'noMatch' }],
    [['oldObject == null && namespaceObject == null'], { outcome: 'match' }],
    [
      ['object.data.none == 1'],
      { outcome: 'error', message: "expression 'object.data.none == 1' resulted in error: no such key: none" },
    ],
    [
      ['1 / 0 == 1', '[][0] == 1'],
      {
        outcome: 'error',
        message:
          "[expression '1 / 0 == 1' resulted in error: division by zero, expression '[][0] == 1' resulted in error: index out of bounds: 0]",
      },
    ],
  ])('%j', async (expressions, result) => {
    expect(await evaluate(expressions)).toEqual(result)
  })

  it.each([false, true])('evaluates authorizer checks (async: %s)', async (async) => {
    const authorizer = fakeAuthorizer(
      ({ verb, resource, name }) => `${verb} ${resource} ${name}` === 'breakglass configmaps a',
      async,
    )
    expect(await evaluate(["authorizer.requestResource.check('breakglass').allowed()"], authorizer)).toEqual({ outcome: 'match' })
    expect(await evaluate(["!authorizer.requestResource.check('breakglass').allowed()"], authorizer)).toEqual({
      outcome: 'noMatch',
    })
  })

  it('fails when the shared cost budget is exceeded', async () => {
    const list = `[${Array.from({ length: 300 }, (_, i) => i).join()}]`
    const costly = `${list}.all(a, ${list}.all(b, a + b >= 0))`
    expect(await evaluate(Array.from({ length: 10 }, () => costly))).toEqual({
      outcome: 'error',
      message: 'validation failed due to running out of cost budget, no further validation rules will be run',
    })
  })
})
