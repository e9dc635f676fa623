import { fakeClock, seededRandom, stockProfile } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { createAuthenticatorChain } from './chain.ts'
import { createFrontProxyAuthenticator, type FrontProxyOptions } from './front-proxy.ts'
import { defaultFrontProxyHeaders } from './identity-headers.ts'
import type { AuthenticationOutcome } from './interfaces.ts'
import { createCertificateAuthority } from './testing/certificate-authority.ts'
import { createFakeFrontProxy } from './testing/fake-front-proxy.ts'
import { createClientCertificateAuthenticator } from './x509/client-certificate.ts'

const clock = fakeClock(Date.UTC(2026, 0, 1))
const environment = { clock, random: seededRandom(5) }
const lab = createFakeFrontProxy(environment)
const alice = { username: 'alice', uid: '7', groups: ['dev', 'ops'], extra: { scopes: ['view', 'edit'] } }
const proxyOf = (more: Partial<FrontProxyOptions> = {}) =>
  createFrontProxyAuthenticator({ authorities: lab.authority.certificate, clock, ...defaultFrontProxyHeaders, ...more })
const ask = (headers: Record<string, string | string[]>, more: Partial<FrontProxyOptions> = {}) =>
  proxyOf(more).authenticate({ headers, peer: lab.proxy.peer }) as AuthenticationOutcome
const userOf = (outcome: AuthenticationOutcome) => (outcome.kind === 'authenticated' ? outcome.user : outcome)

describe('createFrontProxyAuthenticator', () => {
  it('trusts the headers of a proxy with a certificate of the front proxy authority [P244]', () => {
    expect(proxyOf().authenticate(lab.request(alice))).toEqual({ kind: 'authenticated', user: alice })
  })

  it('ignores headers without a certificate, and rejects certificates of other authorities [P243]', () => {
    const { headers } = lab.request(alice)
    expect(proxyOf().authenticate({ headers, peer: {} })).toEqual({ kind: 'noOpinion' })
    expect(proxyOf().authenticate({ headers, peer: { certificates: [] } })).toEqual({ kind: 'noOpinion' })
    const other = createCertificateAuthority({ name: 'front proxy authority', ...environment }).issue({
      commonName: 'front-proxy',
    })
    expect(proxyOf().authenticate({ headers, peer: other.peer })).toMatchObject({ kind: 'rejected' })
    const serving = lab.authority.issue({ commonName: 'front-proxy', usage: 'server' })
    expect(proxyOf().authenticate({ headers, peer: serving.peer })).toMatchObject({ kind: 'rejected' })
    const old = lab.authority.issue({ commonName: 'front-proxy', notAfterMs: clock.now() - 1000 })
    expect(proxyOf().authenticate({ headers, peer: old.peer })).toMatchObject({ kind: 'rejected' })
  })

  it('restricts proxies to the allowed common names; an empty list allows all [P244]', () => {
    const request = lab.request(alice)
    expect(proxyOf({ allowedNames: ['other', 'front-proxy'] }).authenticate(request)).toMatchObject({ kind: 'authenticated' })
    for (const name of ['Front-Proxy', 'front', 'front-proxy2'])
      expect(proxyOf({ allowedNames: [name] }).authenticate(request)).toMatchObject({ kind: 'rejected' })
    expect(proxyOf({ allowedNames: [] }).authenticate(request)).toMatchObject({ kind: 'authenticated' })
  })

  it('takes the user name from the first header with a value, in any case [P244]', () => {
    const usernameHeaders = ['X-Remote-User', 'X-Other']
    expect(userOf(ask({ 'x-other': 'bob' }, { usernameHeaders }))).toMatchObject({ username: 'bob' })
    expect(userOf(ask({ 'x-other': 'bob', 'x-remote-user': 'alice' }, { usernameHeaders }))).toMatchObject({ username: 'alice' })
    expect(userOf(ask({ 'x-other': 'bob', 'x-remote-user': '' }, { usernameHeaders }))).toMatchObject({ username: 'bob' })
    expect(ask({ 'x-remote-group': 'system:masters' }, { usernameHeaders })).toEqual({ kind: 'noOpinion' })
  })

  it('takes groups from every value of every header [P244]', () => {
    const groupHeaders = ['X-Remote-Group', 'X-More']
    const headers = { 'x-remote-user': 'a', 'x-remote-group': ['one', 'two, three'], 'x-more': 'four' }
    expect(userOf(ask(headers, { groupHeaders }))).toMatchObject({ groups: ['one', 'two, three', 'four'] })
    expect(userOf(ask(headers, { groupHeaders: [] }))).toMatchObject({ groups: [] })
  })

  it('takes no group from empty values [P244]', () => {
    const groups = (value: string | string[]) => userOf(ask({ 'x-remote-user': 'a', 'x-remote-group': value }))
    expect(groups('')).toMatchObject({ groups: [] })
    expect(groups(['', 'dev', ''])).toMatchObject({ groups: ['dev'] })
  })

  it('derives extra keys without prefix, lower-cased and percent-decoded [P244]', () => {
    const headers = {
      'x-remote-user': 'a',
      'x-remote-extra-scopes': ['view', 'edit'],
      'x-remote-extra-example.com%2fproject': 'p',
      'x-remote-extra-a%20b%c3%a9': 'v',
      'x-remote-extra-bad%zz': 'w',
      'x-remote-extra-__proto__': 'x',
      'x-remote-extra-': 'empty',
    }
    const user = userOf(ask(headers)) as { extra: object }
    expect(Object.entries(user.extra)).toEqual([
      ['scopes', ['view', 'edit']],
      ['example.com/project', ['p']],
      ['a bé', ['v']],
      ['bad%zz', ['w']],
      ['__proto__', ['x']],
      ['', ['empty']],
    ])
  })

  it('rejects repeated user names and keys that are not UTF-8', () => {
    for (const headers of [
      { 'x-remote-user': ['a', 'b'] },
      { 'x-remote-user': 'a', 'x-remote-uid': ['1', '1'] },
      { 'x-remote-user': 'a', 'x-remote-extra-%ff': 'v' },
    ])
      expect(ask(headers)).toMatchObject({ kind: 'rejected' })
  })

  it('lets client certificate authentication apply to certificates of other authorities', () => {
    const people = createCertificateAuthority({ name: 'people', ...environment })
    const members = [
      proxyOf(),
      createClientCertificateAuthenticator({ authorities: people.certificate, clock, profile: stockProfile }),
    ]
    const { peer } = people.issue({ commonName: 'bob' })
    const outcome = createAuthenticatorChain(members).authenticate({
      headers: lab.request(alice).headers,
      peer,
    }) as AuthenticationOutcome
    expect(userOf(outcome)).toMatchObject({ username: 'bob', groups: [] })
  })

  it('follows changes of the CA bundle', () => {
    let pem = createCertificateAuthority({ name: 'former', ...environment }).certificate
    const proxy = proxyOf({ authorities: () => pem })
    expect(proxy.authenticate(lab.request(alice))).toMatchObject({ kind: 'rejected' })
    pem = lab.authority.certificate
    expect(proxy.authenticate(lab.request(alice))).toMatchObject({ kind: 'authenticated' })
  })

  it.each([[{ usernameHeaders: [] }], [{ usernameHeaders: ['X User'] }], [{ groupHeaders: [''] }]])(
    'rejects the options %j',
    (more) => {
      expect(() => proxyOf(more)).toThrow(expect.objectContaining({ code: 'InvalidHeaders' }))
    },
  )
})
