import { ApiError } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { decodeContinueToken, encodeContinueToken, expiredToken } from './continue-token.ts'

const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')

describe('continue tokens', () => {
  it('round-trip through encoding [P174]', () => {
    const token = { revision: 42, after: 'default/a' }
    expect(decodeContinueToken(encodeContinueToken(token))).toEqual(token)
  })

  it('have the format of kube-apiserver [P174]', () => {
    const text = Buffer.from(encodeContinueToken({ revision: 7, after: 'ns/x' }), 'base64url').toString()
    expect(text).toBe('{"v":"meta.k8s.io/v1","rv":7,"start":"ns/x\\u0000"}')
  })

  it.each([
    ['abc', "invalid character 'i' looking for beginning of value"],
    ['%%%', 'illegal base64 data at input byte 0'],
    ['ab\r\n%', 'illegal base64 data at input byte 4'],
    ['ab\n==', 'illegal base64 data at input byte 3'],
    ['ab\ncde', 'illegal base64 data at input byte 5'],
    ['\n', 'unexpected end of JSON input'],
    ['e30', 'server does not recognize this encoded version '],
    [encoded({ v: 'meta.k8s.io/v1', rv: 0, start: 'a' }), 'incorrect encoded start resourceVersion (version meta.k8s.io/v1)'],
    [
      encoded({ v: 'meta.k8s.io/v1', rv: 1.5, start: 'a' }),
      'json: cannot unmarshal number 1.5 into Go struct field continueToken.rv of type int64',
    ],
    [encoded({ v: 1 }), 'json: cannot unmarshal number into Go struct field continueToken.v of type string'],
    [encoded({ rv: '1' }), 'json: cannot unmarshal string into Go struct field continueToken.rv of type int64'],
    [encoded({ start: false }), 'json: cannot unmarshal bool into Go struct field continueToken.start of type string'],
    [encoded({ v: 'meta.k8s.io/v1', rv: 3, start: '' }), 'encoded start key empty (version meta.k8s.io/v1)'],
    [encoded({ v: 'meta.k8s.io/v1', rv: 3, start: '../other/a' }), '../other/a'],
    [encoded({ v: 'meta.k8s.io/v1', rv: 3, start: 'a/../../b' }), 'a/../../b'],
    [encoded({ v: 'meta.k8s.io/v1', rv: 3, start: '//etc' }), '//etc'],
    [encoded({ v: 'meta.k8s.io/v1', rv: 3, start: 'a/' }), 'a/'],
    [encoded([1]), 'json: cannot unmarshal array into Go value of type storage.continueToken'],
    [encoded(null), 'server does not recognize this encoded version '],
  ])('refuses %s as a bad request', (text, why) => {
    expect(() => decodeContinueToken(text)).toThrow(
      ApiError.badRequest(`invalid continue token: continue key is not valid: ${why}`),
    )
  })

  it('accepts line breaks in the base64 text, and member names in any case', () => {
    const text = encoded({ V: 'meta.k8s.io/v1', RV: 3, Start: 'b\0' })
    const broken = `\n${text.slice(0, 5)}\r\n${text.slice(5)}\r`
    for (const token of [text, broken]) expect(decodeContinueToken(token)).toEqual({ revision: 3, after: 'b' })
  })

  it('treats a start key that begins with a slash as relative', () => {
    expect(decodeContinueToken(encoded({ v: 'meta.k8s.io/v1', rv: 3, start: '/a' }))).toEqual({ revision: 3, after: 'a' })
  })

  it('answers an expired token with a token that continues on the newest snapshot [P315]', () => {
    const error = expiredToken({ revision: 5, after: 'ns/x' }) as ApiError
    expect(error.code).toBe(410)
    expect(error.reason).toBe('Expired')
    expect(decodeContinueToken(error.status.metadata.continue ?? '')).toEqual({ revision: -1, after: 'ns/x' })
  })
})
