import { describe, expect, it } from 'vitest'
import { parseGoUrl } from './go-url.ts'

const bad = (url: string, what: string): [string, string] => [url, `parse ${what}`]

/** The expected results come from a kube-apiserver, as URLs of admission webhooks. */
describe('parseGoUrl', () => {
  it.each<[string, string]>([
    bad('https://[::1', '"https://[::1": missing \']\' in host'),
    bad('https://a b', '"https://a b": invalid character " " in host name'),
    bad('https://a:x', '"https://a:x": invalid port ":x" after host'),
    bad('https://%zz', '"https://%zz": invalid URL escape "%zz"'),
    bad('https://a/%zz', '"https://a/%zz": invalid URL escape "%zz"'),
    bad('https://[a]', '"https://[a]": invalid host: ParseAddr("a"): unable to parse IP'),
    bad('https://[]', '"https://[]": invalid host: ParseAddr(""): unable to parse IP'),
    bad('https://a\u0001', '"https://a\\x01": net/url: invalid control character in URL'),
    bad('https://a/b\u007f', '"https://a/b\\x7f": net/url: invalid control character in URL'),
    bad(' https://a', '" https://a": first path segment in URL cannot contain colon'),
    bad('https://a\\b', '"https://a\\\\b": invalid character "\\\\" in host name'),
    bad('https://a%20b', '"https://a%20b": invalid URL escape "%20"'),
    bad('https://a%41', '"https://a%41": invalid URL escape "%41"'),
    bad('https://[::1]x', '"https://[::1]x": invalid port "x" after host'),
    bad(':', '":": missing protocol scheme'),
    bad('1:x', '"1:x": first path segment in URL cannot contain colon'),
  ])('rejects %j', (url, message) => {
    expect(parseGoUrl(url)).toBe(message)
  })

  it.each<[string, string]>([
    ['https://[::1]', '[::1]'],
    ['https://[::1]:443/x', '[::1]:443'],
    ['https://[fe80::1%25en0]/', '[fe80::1%25en0]'],
    ['https://a:99999', 'a:99999'],
    ['https://a:', 'a:'],
    ['https://:80', ':80'],
    ['HTTPS://a', 'a'],
    ['https://a]', 'a]'],
    ['https://a<b>', 'a<b>'],
    ['https://é', 'é'],
    ['https://', ''],
    ['https:///x', ''],
    ['https:a', ''],
    ['https:/a', ''],
  ])('parses the host of %j', (url, host) => {
    expect(parseGoUrl(url)).toMatchObject({ scheme: 'https', host, user: undefined })
  })

  it('parses user, query and fragment', () => {
    expect(parseGoUrl('https://u:p@a/b?c=d#e')).toEqual({ scheme: 'https', host: 'a', user: 'u:p', query: 'c=d', fragment: 'e' })
    expect(parseGoUrl('//a')).toMatchObject({ scheme: '', host: 'a' })
    expect(parseGoUrl('a')).toMatchObject({ scheme: '', host: '' })
  })
})
