import { runAtOnce } from '@krmkit/base/work'
import { describe, expect, it } from 'vitest'
import { HtmlRewriter } from './html-rewriter.ts'

const rewriteUrl = (url: string) => (url.startsWith('/') ? `/p${url}` : url)

function rewrite(html: string, size = html.length): string {
  const rewriter = new HtmlRewriter(rewriteUrl)
  let out = ''
  for (let at = 0; at < html.length; at += size) out += runAtOnce(rewriter.write(html.slice(at, at + size)))
  return out + rewriter.end()
}

const pages: readonly (readonly [name: string, html: string, expected: string])[] = [
  ['links', '<a href="/x">x</a>', '<a href="/p/x">x</a>'],
  [
    'values without quotes, upper case, empty attributes',
    `<A HREF='/a?x=1&amp;y=2#z' class=plain disabled>x</A>`,
    '<a href="/p/a?x=1&amp;y=2#z" class="plain" disabled="">x</A>',
  ],
  ['relative links', '<a href="rel"><a href=""><a href>', '<a href="rel"><a href=""><a href="">'],
  ['void elements', '<br><br/><img src="/i.png"/>', '<br><br/><img src="/p/i.png"/>'],
  ['odd separators', '<a/href="/v"><a href = "/u"><a =/z href="/w">', '<a href="/p/v"><a href="/p/u"><a =="" z="" href="/p/w">'],
  ['bare ampersands', '<a href="/x?a=1&b=2&copy=3&amp;d">', '<a href="/p/x?a=1&amp;b=2&amp;copy=3&amp;d">'],
  ['attributes without URLs', `<p title="a<b>c" x="'&quot;&nbsp;">é`, '<p title="a&lt;b&gt;c" x="&#39;&#34;&nbsp;">é'],
  ['numeric references', '<a href="&#47;x&#x3f;&eacute;"><a href="&#47;x">', '<a href="/x?&eacute;"><a href="/p/x">'],
  [
    'scripts',
    `<script src="/s.js">var a = '<a href="/no">'</script><a href=/y>`,
    `<script src="/p/s.js">var a = '<a href="/no">'</script><a href="/p/y">`,
  ],
  [
    'raw text',
    "<title><a href='/no'></title><textarea><a href=/no></textareas></TEXTAREA><noscript><a href=/no></noscript><a href=/y>",
    '<title><a href=\'/no\'></title><textarea><a href=/no></textareas></TEXTAREA><noscript><a href=/no></noscript><a href="/p/y">',
  ],
  [
    'comments',
    '<!-- <a href="/no"> --><!--><a href=/y><!DOCTYPE html><a href=/z>',
    '<!-- <a href="/no"> --><!--><a href="/p/y"><!DOCTYPE html><a href="/p/z">',
  ],
  ['text with brackets', 'a < b <3 <> </> <a href=/y>', 'a < b <3 <> </> <a href="/p/y">'],
  ['an incomplete tag', 'x<a href="/y', 'x<a href="/y'],
  ['the end in a bracket', 'x<', 'x<'],
  [
    'sources, forms and objects',
    '<form action=/f><button formaction=/b><object data=/d classid=/c><video poster=/v>',
    '<form action="/p/f"><button formaction="/p/b"><object data="/p/d" classid="/p/c"><video poster="/p/v">',
  ],
]

describe('HTML', () => {
  it.each(pages)('of proxied pages is rewritten: %s [P152]', (_, html, expected) => {
    expect(rewrite(html)).toBe(expected)
  })

  it.each(pages)('is rewritten the same in pieces of any size: %s [P152]', (_, html, expected) => {
    for (let size = 1; size < 9; size++) expect(rewrite(html, size), `size ${size}`).toBe(expected)
  })

  it('in an endless tag passes unchanged and unbuffered [P152]', () => {
    const rewriter = new HtmlRewriter(rewriteUrl)
    let longest = 0
    let written = 0
    for (let i = 0; i < 2000; i++) {
      written += runAtOnce(rewriter.write('<a '.repeat(100))).length
      longest = Math.max(longest, 300 * (i + 1) - written)
    }
    expect(longest).toBeLessThan(80_000)
    expect(runAtOnce(rewriter.write('><a href=/y>'))).toContain('<a href="/p/y">')
  })
})
