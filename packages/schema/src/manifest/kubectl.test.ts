import { describe, expect, it } from 'vitest'
import { readManifest } from './manifest.ts'
import { rewriteManifest } from './rewrite/rewrite-manifest.ts'

/** Files, and the objects that `kubectl create --dry-run=client -f` of release 1.33 reads from them. */

const yaml = (name: string): string => `kind: ConfigMap\nmetadata: {name: ${name}}\n`
const json = (name: string): string => `{"kind":"ConfigMap","metadata":{"name":"${name}"}}`
const flow = (name: string): string => `{kind: ConfigMap, metadata: {name: ${name}}}`

const namesIn = (text: string): string[] =>
  readManifest(text).map((each) =>
    each.kind === 'document' ? (each.value as { metadata: { name: string } }).metadata.name : `error: ${each.message}`,
  )

describe('readManifest reads what kubectl reads', () => {
  it.each<[string, string, string]>([
    ['a byte order mark', `\ufeff${yaml('a')}`, 'a'],
    ['two byte order marks', `\ufeff\ufeff${yaml('a')}`, 'a'],
    ['a byte order mark and a separator', `\ufeff---\n${yaml('a')}`, 'a'],
    ['a byte order mark before a later document', `${yaml('a')}---\n\ufeff${yaml('b')}`, 'a b'],
    ['a byte order mark before later JSON', `${yaml('a')}---\n\ufeff${json('b')}`, 'a b'],
    ['a byte order mark before JSON', `\ufeff${json('a')}`, 'a'],
    ['separated JSON', `${json('a')}\n---\n${json('b')}`, 'a b'],
    ['separated JSON with CR LF', `${json('a')}\r\n---\r\n${json('b')}\r\n`, 'a b'],
    ['JSON and YAML', `${json('a')}\n---\n${yaml('b')}`, 'a b'],
    ['JSON and a flow mapping', `${json('a')}\n---\n${flow('b')}`, 'a b'],
    ['a flow mapping and JSON', `${flow('a')}\n---\n${json('b')}`, 'a b'],
    ['YAML and JSON', `${yaml('a')}---\n${json('b')}`, 'a b'],
    ['consecutive JSON', `${json('a')}\n${json('b')}${json('c')}`, 'a b c'],
    ['the first of two values of a later document', `${json('a')}\n---\n${json('b')}${json('c')}`, 'a b'],
    ['a separator after JSON', `${json('a')}\n---\n`, 'a'],
    ['a comment after JSON', `${json('a')}\n# c\n`, 'a'],
    ['a comment after a separator of JSON', `${json('a')}\n--- # c\n${json('b')}`, 'a b'],
    ['comments between separated JSON', `${json('a')}\n---\n---\n# c\n${json('b')}`, 'a b'],
    ['a trailing comma', `${json('a').slice(0, -1)},}`, 'a'],
    ['JSON with tabs in a later document', `${yaml('a')}---\n{\n\t"metadata":\t{"name":"b"}}`, 'a b'],
    ['escapes of surrogates in JSON', `${json('\\ud83d\\ude00')}`, '\ud83d\ude00'],
    ['blanks after a separator', `${yaml('a')}---\t \n${yaml('b')}`, 'a b'],
    ['a separator without an end of line', `${yaml('a')}---`, 'a'],
    ['a separator in the indentation of a text', `${yaml('a')}x: |\n  ---\n`, 'a'],
    ['an end of a document', `${yaml('a')}...\n---\n${yaml('b')}`, 'a b'],
    ['directives after the end of a document', `${yaml('a')}...\n%YAML 1.2\n---\n${yaml('b')}`, 'a b'],
    ['documents of null', `null\n---\n${yaml('a')}---\n# c\n`, 'a'],
  ])('%s', (_, text, names) => expect(namesIn(text)).toEqual(names.split(' ')))

  it.each<[string, string, string]>([
    ['an object on the line of a separator', `--- ${flow('a')}\n`, `invalid Yaml document separator: ${flow('a')}`],
    ['a tag on the line of a separator', `${yaml('a')}--- !!map\n${yaml('b')}`, 'invalid Yaml document separator: !!map'],
    ['a separator that goes on', `${yaml('a')}---x\n${yaml('b')}`, 'invalid Yaml document separator: x'],
    ['JSON on the line of a separator', `${json('a')}\n--- ${json('b')}`, `invalid Yaml document separator: ${json('b')}`],
    ['a directive', `%YAML 1.1\n---\n${yaml('a')}`, 'did not find expected <document start>'],
    ['a directive of YAML 1.2', `%YAML 1.2\n---\n${yaml('a')}`, 'found incompatible YAML document'],
    ['a separator that is indented', `${yaml('a')} ---\n${yaml('b')}`, 'did not find expected key'],
    ['a byte order mark within a document', `${yaml('a')}\ufeff---\n${yaml('b')}`, "could not find expected ':'"],
    ['escapes of surrogates in YAML', `# c\n${json('\\ud83d\\ude00')}`, 'found invalid Unicode character escape code'],
    ['text after consecutive JSON', `${json('a')}${json('b')}\nc: d`, "invalid character 'c' looking for beginning of value"],
    ['a separator after consecutive JSON', `${json('a')}${json('b')}\n---\n`, 'a separator follows consecutive JSON values'],
    ['text on the line of JSON', `${json('a')}---\n${json('b')}`, "invalid character '-' in numeric literal"],
  ])('rejects %s', (_, text, message) => expect(namesIn(text)).toContain(`error: ${message}`))

  it('locates an invalid separator', () => {
    const text = `${yaml('a')}---\n${yaml('b')}--- [c]\n`
    expect(readManifest(text)[2]).toMatchObject({ kind: 'error', range: { line: 6, column: 5 } })
  })

  it('locates members of later documents', () => {
    const range = (text: string) => readManifest(text).map((each) => each.kind === 'document' && each.range('kind', 'name'))
    expect(range(`${json('a')}\n---\n\ufeff${yaml('b')}---\n\n${json('c')}`)).toMatchObject([
      { line: 1, column: 2 },
      { line: 3, column: 1 },
      { line: 7, column: 2 },
    ])
    expect(range(`${json('a')}\n\n${flow('b')}`)).toMatchObject([{ line: 1 }, { line: 3, column: 2 }])
  })

  it('accepts only JSON between separators with json: true', () => {
    const text = `${json('a')}\n---\n${json('b')}${json('c')}\n---\n${flow('d')}`
    expect(readManifest(text, { json: true }).map(({ kind }) => kind)).toEqual(['document', 'document', 'document', 'error'])
  })
})

describe('rewriteManifest', () => {
  it('keeps separators and marks', () => {
    const text = `\ufeff${json('a')}\n--- # c\n\ufeff${yaml('b')}---\n${json('c')}\n`
    const renamed = rewriteManifest(text, (value) => ({ ...(value as object), kind: 'Secret' })).text
    expect(renamed).toBe(text.replaceAll('ConfigMap', 'Secret'))
  })

  it('rejects an object on the line of a separator', () => {
    expect(() => rewriteManifest(`--- ${flow('a')}\n`, (value) => value)).toThrow('invalid separator')
  })
})
