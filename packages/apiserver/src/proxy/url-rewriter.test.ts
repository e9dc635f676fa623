import { describe, expect, it } from 'vitest'
import { rewriteReference } from './url-rewriter.ts'

const prefix = '/api/v1/namespaces/a/services/b:80/proxy'
const options = { prefix, backendHost: '10.1.2.3:8080', clientHost: 'cluster.example.com:6443' }

function rewrite(text: string): string {
  const result = rewriteReference(text, options)
  return 'url' in result ? result.url : `! ${result.problem}`
}

describe('references of proxied pages', () => {
  it.each([
    ['/abs', `${prefix}/abs`],
    ['/abs/', `${prefix}/abs/`],
    ['/', `${prefix}/`],
    ['/a/../b//c/?x=1#y', `${prefix}/b/c/?x=1#y`],
    ['http://10.1.2.3:8080/same/', `${prefix}/same/`],
    ['https://10.1.2.3:8080/tls', `${prefix}/tls`],
    ['HTTP://10.1.2.3:8080/up', `${prefix}/up`],
    ['//10.1.2.3:8080/p?x=1#y', `${prefix}/p?x=1#y`],
    ['https://u:p@10.1.2.3:8080/u', `${prefix}/u`],
    ['http://cluster.example.com:6443/host', `http://cluster.example.com:6443${prefix}/host`],
  ])('of the backend lead through the proxy: %s [P152]', (from, to) => {
    expect(rewrite(from)).toBe(to)
  })

  it.each([
    ['rel'],
    ['?q=1'],
    ['#f'],
    [''],
    ['http://10.1.2.3:8080'],
    ['http://other.example.com/x?a=b c'],
    ['mailto:x@y'],
    ['a:b'],
    [`${prefix}/already%2Fencoded`],
  ])('to other hosts, relative or already rewritten stay unchanged: %s [P152]', (text) => {
    expect(rewrite(text)).toBe(text)
  })

  it.each([
    ['/sp ace', `${prefix}/sp%20ace`],
    ['/\u00e9', `${prefix}/%E9`],
    ['/a%2Fb?c d', `${prefix}/a/b?c d`],
    ["/it's(a)$&+,;=@:", `${prefix}/it%27s%28a%29$&+,;=@:`],
    ['/x#\u00e9 b', `${prefix}/x#%E9%20b`],
    ['/a;b|c^d`e{f}', `${prefix}/a;b%7Cc%5Ed%60e%7Bf%7D`],
    ['/../../x', '/api/v1/namespaces/a/services/x'],
    [' /sp', '%20/sp'],
    ['//', ''],
  ])('are escaped and cleaned like by kube-apiserver: %s [P152]', (from, to) => {
    expect(rewrite(from)).toBe(to)
  })

  it.each([
    ['http://[bad', `! parse "http://[bad": missing ']' in host`],
    ['/%zz', '! parse "/%zz": invalid URL escape "%zz"'],
    [':x', '! parse ":x": missing protocol scheme'],
    ['/a\nb', '! parse "/a\\nb": net/url: invalid control character in URL'],
    ['http://a:b/c', '! parse "http://a:b/c": invalid port ":b" after host'],
    ['1a:b/c', '! parse "1a:b/c": first path segment in URL cannot contain colon'],
  ])('that are no URLs are reported: %s [P152]', (from, problem) => {
    expect(rewrite(from)).toBe(problem)
  })
})
