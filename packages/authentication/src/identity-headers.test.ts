import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  createIdentityHeaderRules,
  decodeExtraKey,
  headerValues,
  impersonationHeaders,
  isValidHeaderText,
  readBearerCredential,
  singleHeaderValue,
} from './identity-headers.ts'

const judged = createIdentityHeaderRules({
  usernameHeaders: ['X-Who'],
  groupHeaders: ['X-Team'],
  extraHeaderPrefixes: ['X-More-'],
})
type Headers = Readonly<Record<string, string | readonly string[]>>
const codeOf = (headers: Headers, headersJoined = false) => judged.validate({ headers, headersJoined })?.code

describe('createIdentityHeaderRules', () => {
  it.each<[string, Headers]>([
    ['no identity header', { accept: ['a', 'a'], 'x-harmless': '\ufffd\n', 'impersonate-nothing': '\0' }],
    ['a token', { authorization: 'Bearer abc' }],
    ['another scheme', { authorization: 'Basic dTpw' }],
    ['a scheme without token', { authorization: 'Bearer' }],
    ['white space, commas and letters of any script', { 'impersonate-user': ' gr\u00fcn, \u{1f600}\t' }],
    ['groups', { 'impersonate-user': 'a', 'impersonate-group': ['', 'b, c', ' '] }],
    ['a list with one value', { 'impersonate-user': ['a'], authorization: ['Bearer a'] }],
    ['malformed percent-encoding in keys', { 'impersonate-extra-%zz': 'v', 'x-more-%': 'v' }],
  ])('accepts %s', (_, headers) => {
    expect(codeOf(headers)).toBeUndefined()
  })

  it.each<[number, string, Headers]>([
    [401, 'repeated tokens', { authorization: ['Bearer a', 'Bearer a'] }],
    [401, 'a token that is not text', { authorization: 'Bearer a\ufffd' }],
    [400, 'a repeated Impersonate-User', { 'impersonate-user': ['a', 'b'] }],
    [400, 'a repeated Impersonate-Uid', { 'impersonate-user': 'a', 'impersonate-uid': ['1', '1'] }],
    [400, 'a repeated proxy user header', { 'x-remote-user': ['a', 'b'] }],
    [400, 'a repeated configured user header', { 'x-who': ['a', 'b'] }],
    [400, 'bytes that are not UTF-8', { 'impersonate-user': 'a\ufffd' }],
    [400, 'a group that is not UTF-8', { 'impersonate-group': ['a', '\ufffd'] }],
    [400, 'a proxy group that is not UTF-8', { 'x-team': '\ufffd' }],
    [400, 'an extra value that is not UTF-8', { 'impersonate-extra-a': '\ufffd' }],
    [400, 'an extra key that is not UTF-8', { 'impersonate-extra-a%ff': 'v' }],
    [400, 'a proxy extra key that is not UTF-8', { 'x-more-%c3%28': 'v' }],
    [400, 'a control character', { 'impersonate-user': 'a\u0000' }],
    [400, 'a line break', { 'impersonate-user': 'a\nb' }],
    [400, 'DEL', { 'impersonate-user': '\x7f' }],
    [400, 'a lone high surrogate', { 'impersonate-user': 'a\ud83d' }],
    [400, 'a lone low surrogate', { 'impersonate-user': '\ude00' }],
    [400, 'a header name in mixed case', { 'Impersonate-User': 'a' }],
  ])('returns %i for %s', (code, _, headers) => {
    expect(codeOf(headers)).toBe(code)
  })

  it('rejects values that may be joined repeated headers', () => {
    for (const name of ['impersonate-user', 'impersonate-group', 'impersonate-extra-a', 'x-who', 'x-remote-user'])
      expect([codeOf({ [name]: 'a, b' }, true), codeOf({ [name]: 'a,b' }, true), codeOf({ [name]: 'a, b' })]).toEqual([
        400,
        undefined,
        undefined,
      ])
    expect(codeOf({ authorization: 'Bearer a, Bearer b' }, true)).toBe(401)
    // A value and an empty value, joined; the trailing space is trimmed.
    expect([codeOf({ 'impersonate-user': 'a,' }, true), codeOf({ 'impersonate-user': 'a,' })]).toEqual([400, undefined])
    expect(codeOf({ accept: 'a, b' }, true)).toBeUndefined()
  })

  it('recognizes default and configured proxy headers [P243]', () => {
    for (const name of ['x-remote-user', 'x-remote-uid', 'x-remote-group', 'x-remote-extra-a', 'x-who', 'x-team', 'x-more-a'])
      expect(judged.isProxyHeader(name), name).toBe(true)
    for (const name of ['authorization', 'x-remote', 'x-other', 'accept', 'impersonate-user'])
      expect(judged.isProxyHeader(name), name).toBe(false)
  })

  it('accepts a header only if it is read completely', () => {
    const name = fc.constantFrom('authorization', 'impersonate-user', 'impersonate-uid', 'impersonate-group', 'x-who', 'x-team')
    const value = fc.oneof(fc.string({ unit: 'binary', maxLength: 6 }), fc.constantFrom('Bearer a', 'Bearer', 'a\ufffd', ' a '))
    fc.assert(
      fc.property(fc.dictionary(name, fc.array(value, { minLength: 1, maxLength: 3 })), (headers) => {
        if (judged.validate({ headers }) !== undefined) return
        for (const single of ['authorization', impersonationHeaders.user, impersonationHeaders.uid, 'x-who'])
          expect(singleHeaderValue(headers[single])).toBe(headers[single]?.[0])
        for (const sent of Object.values(headers).flat()) expect(Buffer.from(sent).toString()).toBe(sent)
        for (const many of [impersonationHeaders.group, 'x-team'])
          expect(headerValues(headers[many])).toEqual(headers[many] ?? [])
        expect(readBearerCredential(headers.authorization).kind).not.toBe('malformed')
      }),
    )
  })
})

describe('readBearerCredential', () => {
  it.each<[string | undefined, string]>([
    [undefined, 'absent'],
    ['Basic dTpw', 'absent'],
    ['Negotiate', 'absent'],
    ['Bearerabc abc', 'absent'],
    ['Bearer abc', 'abc'],
    ['bearer abc', 'abc'],
    ['  BEARER abc  ', 'abc'],
    ['Bearer abc def', 'abc'],
    ['', 'absent'],
    ['Bearer', 'absent'],
    ['Bearer ', 'absent'],
    ['Bearer  abc', 'absent'],
    ['Bearer\tabc', 'absent'],
  ])('reads %j as %s [P236]', (header, expected) => {
    const credential = readBearerCredential(header)
    expect(credential.kind === 'token' ? credential.token : credential.kind).toBe(expected)
  })
})

it('decodeExtraKey decodes valid percent-encoding', () => {
  expect(['A', 'a%41', '%C3%bc', 'a%', 'a%4', 'a%zz%41', '100%25', '%ff', '%c3'].map(decodeExtraKey)).toEqual([
    ...['a', 'aA', 'ü', 'a%', 'a%4', 'a%zz%41', '100%', undefined, undefined],
  ])
})

it('isValidHeaderText agrees with UTF-8', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'binary' }),
      fc.string({ unit: fc.constantFrom('\ud83d', '\ude00', 'a', '\ufffd') }),
      (a, b) => {
        for (const text of [a, b, a + b]) {
          const whole = Buffer.from(text).toString() === text && !text.includes('\ufffd')
          const control = [...text].some((char) => (char < ' ' && char !== '\t') || char === '\x7f')
          expect(isValidHeaderText(text)).toBe(whole && !control)
        }
      },
    ),
  )
})
