import { type ApiObject, stockProfile } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { runPreparation } from '../../../preparation.ts'
import type { Secret } from '../../../types/core-v1.generated.ts'
import { runValidation } from '../../../validation.ts'
import { testContext } from '../../testing/context.ts'
import { secretStrategy } from './strategy.ts'

const merged = (members: object): unknown => {
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' }, ...members } as unknown as ApiObject
  runPreparation(secretStrategy.defaults?.(secret, 'v1', stockProfile))
  return secret
}

describe('stringData', () => {
  it('replaces members of data', () => {
    expect(merged({ data: { a: 'YQ==', b: 'Yg==' }, stringData: { b: 'ü', c: 'c' } })).toMatchObject({
      data: { a: 'YQ==', b: 'w7w=', c: 'Yw==' },
    })
  })

  it('becomes data where there is none', () => {
    expect(merged({ stringData: { c: 'c' } })).toEqual(expect.objectContaining({ data: { c: 'Yw==' } }))
    expect(merged({ stringData: {} })).not.toHaveProperty('data')
    expect(merged({ stringData: { c: 'c' } })).not.toHaveProperty('stringData')
  })

  it('treats __proto__ as an ordinary key', () => {
    for (const data of [{}, { data: { a: 'YQ==' } }]) {
      const { data: found } = merged({ ...data, stringData: JSON.parse('{"__proto__":"c"}') }) as { data: object }
      expect(JSON.stringify(found)).toContain('"__proto__":"Yw=="')
    }
  })
})

describe('configurations of registries', () => {
  const problems = (text: string) => {
    const data = { '.dockerconfigjson': btoa(text) }
    const metadata = { name: 's', namespace: 'n', uid: 'u', resourceVersion: '1' }
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata, type: 'kubernetes.io/dockerconfigjson', data }
    return runValidation(secretStrategy.validate?.(secret as Secret, testContext())).map(({ message }) => message)
  }

  it.each([
    ['{"auths":{"a":{}}}', undefined],
    ['', 'unexpected end of JSON input'],
    ['{"a":{}', 'unexpected end of JSON input'],
    ['{"a":}', "invalid character '}' looking for beginning of value"],
    ['{"a":{}} x', "invalid character 'x' after top-level value"],
    ['[]', 'json: cannot unmarshal array into Go value of type map[string]interface {}'],
  ])('%j: %s', (text, problem) => {
    expect(problems(text)).toEqual(problem === undefined ? [] : [`Invalid value: "<secret contents redacted>": ${problem}`])
  })
})
