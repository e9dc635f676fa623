import { describe, expect, it } from 'vitest'
import { addressOf } from './address.ts'

describe('addressOf', () => {
  it.each([
    ['https://example.com', { origin: 'https://example.com', hostAndPort: 'example.com:443', path: '/' }],
    ['https://example.com:8443/', { origin: 'https://example.com:8443', hostAndPort: 'example.com:8443', path: '/' }],
    ['https://127.0.0.1:9443//failing', { origin: 'https://127.0.0.1:9443', hostAndPort: '127.0.0.1:9443', path: '/failing' }],
    ['https://h.example.com/a/./b/../c/', { origin: 'https://h.example.com', hostAndPort: 'h.example.com:443', path: '/a/c' }],
    ['https://0177.0.0.1:9443/', { origin: 'https://0177.0.0.1:9443', hostAndPort: '0177.0.0.1:9443', path: '/' }],
    ['https://0x7F.1', { origin: 'https://0x7f.1', hostAndPort: '0x7f.1:443', path: '/' }],
    ['https://[FD00::1]:443/', { origin: 'https://[fd00::1]', hostAndPort: '[fd00::1]:443', path: '/' }],
    ['https://bücher.example', { origin: 'https://xn--bcher-kva.example', hostAndPort: 'xn--bcher-kva.example:443', path: '/' }],
  ])('parses the URL %s', (url, address) => expect(addressOf({ url })).toEqual(address))

  it.each([
    [undefined, '/'],
    ['', '/'],
    ['/validate', '/validate'],
    ['validate//pods/', '/validate/pods'],
  ])('resolves a service with path %j', (path, cleaned) => {
    expect(addressOf({ service: { namespace: 'shop', name: 'hook', ...(path === undefined ? {} : { path }) } })).toEqual({
      origin: 'https://hook.shop.svc:443',
      hostAndPort: 'hook.shop.svc:443',
      path: cleaned,
      service: { namespace: 'shop', name: 'hook', port: 443 },
      serverName: 'hook.shop.svc',
    })
  })

  it('returns a message for an invalid configuration', () => {
    expect(addressOf({})).toBe('webhook configuration must have either service or URL')
    expect(addressOf({ url: 'http://example.com' })).toBe('Unparsable URL: http://example.com')
  })
})
