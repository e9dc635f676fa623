import { describe, expect, it } from 'vitest'
import { testTypes } from '../../testdata/types.ts'
import documents from '../../testdata/yaml-documents.json' with { type: 'json' }
import vectors from '../../testdata/yaml-scalars.json' with { type: 'json' }
import { decode } from '../decode/decode.direct.ts'
import { strictMessage } from '../decode/decode.ts'
import { NumberLiteral } from '../json/syntax.ts'
import { DecodeError } from '../schema-error.ts'
import { parseYaml } from './parse-yaml.ts'

function failure(text: string | Uint8Array): string {
  try {
    parseYaml(text)
  } catch (error) {
    if (error instanceof DecodeError) return error.message.replace('error converting YAML to JSON: ', '')
    throw error
  }
  return 'no error'
}

const value = (text: string) => parseYaml(text).value

describe('scalars', () => {
  it.each(vectors)('reads $yaml as $json', ({ yaml, json }) => {
    expect(value(`a: ${yaml}\n`)).toEqual({ a: JSON.parse(json) })
  })

  it('keeps 64-bit integers', () => {
    expect(value('[9007199254740993, -9223372036854775808, 0x7fffffffffffffff]')).toEqual([
      9007199254740993n,
      -(2n ** 63n),
      2n ** 63n - 1n,
    ])
    const { value: literal } = parseYaml('- 18446744073709551615\n', { literals: true })
    expect(literal).toEqual([new NumberLiteral('18446744073709551615')])
    expect(value('[9223372036854775808, 18446744073709551615]')).toEqual([2 ** 63, 2 ** 64])
    expect(value('- 18446744073709551616\n')).toEqual([2 ** 64])
  })

  it('reads whole floats as integers, as Go writes them to JSON', () => {
    expect(value('[1.0, -0.0, 1e3, 1e18, -1e18, 9007199254740993.0, 1152921504606846976.0]')).toEqual([
      ...[1, 0, 1000, 10n ** 18n, -(10n ** 18n), 9007199254740992n, 1152921504606847000n],
    ])
    expect(value('{"a":1e18,"b":9007199254740993.0,"c":9223372036854775808}')).toEqual({
      a: 10n ** 18n,
      b: 2n ** 53n,
      c: 2 ** 63,
    })
    expect(value('[9.223372036854775807e18, -9223372036854775809, 1e19, 0.1]')).toEqual([2 ** 63, -(2 ** 63), 1e19, 0.1])
    expect(parseYaml('{"a":9223372036854775808}', { literals: true }).value).toEqual({
      a: new NumberLiteral('9223372036854775808'),
    })
  })

  it('reads zeros of both signs as one key', () => {
    expect(value('-0.0: a\n1e-400: b\n')).toEqual({ 0: 'b' })
    expect(value('1e-400: a\n-0.0: b\n')).toEqual({ '-0': 'b' })
    expect(value('0: a\n1: b\n')).toEqual({ 0: 'a', 1: 'b' })
  })

  it('reads octal modes [S16]', () => {
    const text =
      'spec:\n  volumes:\n  - name: v\n    configMap: {name: m, defaultMode: 0640, items: [{key: k, path: p, mode: 0o400}]}\n'
    expect(decode(testTypes().struct('core/v1.Pod'), value(text)).object).toMatchObject({
      spec: { volumes: [{ configMap: { defaultMode: 416, items: [{ mode: 256 }] } }] },
    })
  })

  it('rejects values without a JSON form', () => {
    expect(failure('~: a\n~: b\n')).toContain('unsupported map key of type: %!s(<nil>), key: <nil>, value: "b"')
    expect(failure('a: .inf')).toBe('json: unsupported value: +Inf')
    expect(failure('a: .nan')).toBe('json: unsupported value: NaN')
    expect(failure('a: !!int x')).toBe('yaml: cannot decode !!str `x` as a !!int')
    expect(failure('a: !!int 1.5')).toBe('yaml: cannot decode !!float `1.5` as a !!int')
    expect(failure('a: !!bool 1')).toBe('yaml: cannot decode !!int `1` as a !!bool')
    expect(failure('a: !!timestamp soon')).toBe('yaml: cannot decode !!str `soon` as a !!timestamp')
    expect(failure('a: !!binary "*"')).toBe('yaml: !!binary value contains invalid base64 data')
  })
})

describe('documents', () => {
  it('reads an empty text as null and only the first document', () => {
    for (const text of ['', '# only this\n', '\n\n', '---\n', '---\n---\na: 1\n', '%YAML 1.1\n---\n'])
      expect(value(text)).toBeNull()
    for (const text of [
      'a: 1\n---\na: 2\n',
      '---\na: 1\n...\n',
      '--- {a: 1}\n---\n[',
      '# c\n---\na: 1\n---\n@',
      '\ufeffa: 1',
      '%YAML 1.1\n---\na: 1\n...\n@',
    ]) {
      expect(value(text)).toEqual({ a: 1 })
    }
    expect(value('a: |\n  x\n  ---\n  y\n')).toEqual({ a: 'x\n---\ny\n' })
    expect(value('{"a":1} x')).toEqual({ a: 1 })
    expect(value('{"a":{"b":[1]}}\n{"c":')).toEqual({ a: { b: [1] } })
    expect(value('hello')).toBe('hello')
  })

  it('accepts unindented lines in brackets and quotes', () => {
    expect(value('a: {\n  b: 1\n}\nc:\n  - - d: [\n1,\n{e: \n"x\ny"}\n]\n  - f\n')).toEqual({
      a: { b: 1 },
      c: [[{ d: [1, { e: 'x y' }] }], 'f'],
    })
    expect(value("a: {\n\tb: [1]\n\t}\nc: 'x\n\ny'\n")).toEqual({ a: { b: [1] }, c: 'x\ny' })
    expect(parseYaml('a: {\nb: 1,\nb: 2\n}\n').problems).toEqual(['line 3: key "b" already set in map'])
  })

  it('reads JSON', () => {
    expect(value('  {"a":{"b":[1,1.0,"\\u00e9",null,true]},"__proto__":1}')).toEqual(
      JSON.parse('{"a":{"b":[1,1,"é",null,true]},"__proto__":1}'),
    )
    expect(value('{"a": yes, b: "x"}')).toEqual({ a: true, b: 'x' })
  })

  it('converts keys to strings', () => {
    expect(value('1: a\ntrue: b\n2.5: c\n0x10: d\n~x: e\n.inf: f\n1e3: g\n0.1: h\n2001-01-01: i\n')).toEqual({
      1: 'a',
      true: 'b',
      2.5: 'c',
      16: 'd',
      '~x': 'e',
      '.inf': 'f',
      1000: 'g',
      0.1: 'h',
      '2001-01-01': 'i',
    })
    expect(failure('~: 1')).toBe('unsupported map key of type: %!s(<nil>), key: <nil>, value: 1')
    expect(failure('? [1]\n: 2')).toBe('yaml: invalid map key: []interface {}{1}')
  })

  it('treats __proto__ as an ordinary key', () => {
    const object = value('a: 1\n__proto__:\n  b: 1\n') as Record<string, unknown>
    expect(Object.keys(object)).toEqual(['a', '__proto__'])
    expect(Object.getPrototypeOf(object)).toBe(Object.prototype)
  })
})

describe('duplicate keys', () => {
  it('keeps the last value and reports each duplicate with its line [P203]', () => {
    const parsed = parseYaml('apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  k: "1"\n  k: "2"\n')
    expect(parsed.value).toMatchObject({ data: { k: '2' } })
    expect(parsed.problems).toEqual(['line 7: key "k" already set in map'])
  })

  it('lists YAML problems first in the Strict message [P208]', () => {
    const parsed = parseYaml('metadata: {name: a}\nextra: 1\ndata:\n  k: "1"\n  k: |\n    x\n')
    const { problems } = decode(testTypes().struct('core/v1.ConfigMap'), parsed.value, { problems: parsed.problems })
    expect(problems).toEqual(['line 5: key "k" already set in map', 'unknown field "extra"'])
    expect(strictMessage(problems)).toBe(
      'strict decoding error: yaml: unmarshal errors:\n  line 5: key "k" already set in map, unknown field "extra"',
    )
  })

  it('distinguishes keys by type', () => {
    expect(parseYaml('data: {on: "1", n: "2", No: "3"}\n')).toEqual({
      value: { data: { true: '1', false: '3' } },
      problems: ['line 1: key false already set in map'],
    })
    expect(parseYaml('1: a\n"1": b\n').problems).toEqual([])
    expect(parseYaml('{a: {~: 1, ~: 2}, a: 3}').problems).toEqual([
      'line 1: key <nil> already set in map',
      'line 1: key "a" already set in map',
    ])
    expect(parseYaml('1: a\n0x1: b\n').problems).toEqual(['line 2: key 1 already set in map'])
    expect(parseYaml('{"a":1,"a":2}')).toEqual({ value: { a: 2 }, problems: ['line 1: key "a" already set in map'] })
  })
})

describe('anchors', () => {
  it('are expanded, also under merge keys', () => {
    expect(value('labels: &l\n  app: x\nannotations: *l\n')).toEqual({ labels: { app: 'x' }, annotations: { app: 'x' } })
    const merged = parseYaml('labels: &l\n  app: x\n  tier: why\nannotations:\n  <<: *l\n  tier: z\n')
    expect(merged.value).toMatchObject({ annotations: { app: 'x', tier: 'z' } })
    expect(merged.problems).toEqual(['line 6: key "tier" already set in map'])
    expect(value('a: &a {x: 1, z: 1}\nb: &b {x: 2}\nc: {<<: [*a, *b]}\n')).toMatchObject({ c: { x: 1, z: 1 } })
    expect(value('"<<": 1\n')).toEqual({ '<<': 1 })
  })

  it('share no objects', () => {
    const { a, b } = value('a: &x {k: []}\nb: *x\n') as { a: { k: number[] }; b: { k: number[] } }
    a.k.push(1)
    expect(b).toEqual({ k: [] })
  })

  it('must be defined, finite and within the budget', () => {
    expect(failure('data: *nothing\n')).toBe("yaml: unknown anchor 'nothing' referenced")
    expect(failure('a: &a [*a]\n')).toBe("yaml: anchor 'a' value contains itself")
    expect(failure('a: {<<: 1}\n')).toBe('yaml: map merge requires map or sequence of maps as the value')
    let bomb = 'a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n'
    for (let i = 1; i < 10; i++)
      bomb += `a${i}: &a${i} [${Array(10)
        .fill(`*a${i - 1}`)
        .join(',')}]\n`
    expect(failure(bomb)).toBe('yaml: document contains excessive aliasing')
    expect(failure(`a: &a "${'x'.repeat(1_000_000)}"\nb: [${Array(90).fill('*a').join(',')}]\n`)).toBe(
      'yaml: document contains excessive aliasing',
    )
    let merges = 'a0: &a0 {x: 1}\n'
    for (let i = 1; i < 30; i++) merges += `a${i}: &a${i} {<<: [*a${i - 1}, *a${i - 1}]}\n`
    expect(failure(merges)).toBe('yaml: document contains excessive aliasing')
  })
})

describe('errors', () => {
  it.each([
    ['apiVersion: v1\nkind: ConfigMap\nmetadata:\n\tname: a\n', 'yaml: line 4: found character that cannot start any token'],
    ['apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a\n', "yaml: line 3: did not find expected ',' or '}'"],
    ['a: [1, 2\n', "yaml: line 1: did not find expected ',' or ']'"],
    ['a: [1,,2]', 'yaml: did not find expected node content'],
    ['a: b: c', 'yaml: mapping values are not allowed in this context'],
    ['x: 1\na: @x', 'yaml: line 2: found character that cannot start any token'],
    ['x: 1\n- a\n', 'yaml: line 1: did not find expected key'],
    ['- a\nb: c\n', "yaml: line 1: did not find expected '-' indicator"],
    ['a: "b\n', 'yaml: line 2: found unexpected end of stream'],
    ['a: !x!y z', 'yaml: found undefined tag handle'],
    ['a: "\u0001"', 'yaml: control characters are not allowed'],
    ['a: \u0000', 'yaml: control characters are not allowed'],
    ['{', 'yaml: line 1: did not find expected node content'],
    ['{a: b', "yaml: line 1: did not find expected ',' or '}'"],
    ['{a: b\n\n', "yaml: line 2: did not find expected ',' or '}'"],
    ['a: [b,', 'yaml: line 1: did not find expected node content'],
    ['\ta: b', 'yaml: found character that cannot start any token'],
    ['a: b\n\tc: d', 'yaml: line 2: found a tab character that violates indentation'],
    ['a: |\n\tb', 'yaml: line 2: found a tab character where an indentation space is expected'],
    ['x\ny: z', 'yaml: line 2: mapping values are not allowed in this context'],
    ['@a', 'yaml: found character that cannot start any token'],
    ['%a', 'yaml: found unknown directive name'],
    ['"\\x"', 'yaml: did not find expected hexdecimal number'],
    ['}', 'yaml: did not find expected node content'],
    ['a: ,', 'yaml: did not find expected node content'],
    ['a: |x', 'yaml: did not find expected comment or line break'],
  ])('reports the stock message for %j [P210]', (text, message) => {
    expect(failure(text)).toBe(message)
  })

  it.each([
    [[0x61, 0x3a, 0x20, 0xff], 'invalid leading UTF-8 octet'],
    [[0x61, 0x3a, 0xc3], 'incomplete UTF-8 octet sequence'],
    [[0x61, 0x3a, 0xc3, 0x28], 'invalid trailing UTF-8 octet'],
    [[0xed, 0xa0, 0x80], 'invalid Unicode character'],
    [[0xf4, 0x90, 0x80, 0x80], 'invalid Unicode character'],
    [[0x00, 0xff], 'control characters are not allowed'],
    [[0xc0, 0x80], 'invalid length of a UTF-8 sequence'],
    [[0xe2, 0x82, 0xac, 0xe0, 0x80, 0x80], 'invalid length of a UTF-8 sequence'],
  ])('rejects the invalid UTF-8 of %j, which JSON replaces: %s [S4]', (bytes, message) => {
    expect(failure(Uint8Array.from(bytes))).toBe(`yaml: ${message}`)
  })

  it('limits nesting', () => {
    const nested = (depth: number) => Array.from({ length: depth }, (_, i) => `${' '.repeat(i)}a:\n`).join('')
    expect(failure('['.repeat(100_000))).toBe('yaml: exceeded max depth of 10000')
    expect(failure('- '.repeat(10_001))).toBe('yaml: exceeded max depth of 10000')
    expect(failure(nested(900))).toBe('no error')
  })
})

describe('documents with results recorded from the library of kube-apiserver', () => {
  it.each(documents)('reads $yaml', (document: { yaml: string; json?: string; error?: string; strict?: string }) => {
    const { yaml, json, error, strict } = document
    expect(failure(yaml)).toBe(error ?? 'no error')
    if (json === undefined) return
    const parsed = parseYaml(yaml)
    expect(parsed.value).toEqual(JSON.parse(json))
    expect(parsed.problems).toEqual(strict?.split('\n  ').slice(1) ?? [])
  })
})

describe('quoted scalars', () => {
  it('may continue on any number of lines at the indentation of their key', () => {
    const lines = Array.from({ length: 100_000 }, (_, i) => `line ${i}`)
    for (const quote of ['"', "'"]) {
      expect(value(`a:\n  b: ${quote}${lines.join('\n  ')}${quote}\n`)).toEqual({ a: { b: lines.join(' ') } })
    }
  })
})

describe('a UTF-8 sequence truncated by the end of the text', () => {
  const cut = (text: string) => Uint8Array.of(...new TextEncoder().encode(text), 0xe9)

  it('is an error only if its character is read', () => {
    expect(failure(cut('a: x'))).toBe('yaml: incomplete UTF-8 octet sequence')
    expect(parseYaml(cut('a: x\n---\nb: xxxxx')).value).toEqual({ a: 'x' })
    expect(failure(cut('%# c\n---\nc: '))).toBe('yaml: could not find expected directive name')
  })
})

describe('JSON', () => {
  it.each([
    ['{"a":"\\/"}', 'yaml: found unknown escape character'],
    ['{"a":"\\ud83d\\ude00"}', 'yaml: found invalid Unicode character escape code'],
    ['{"a":"\u007f"}', 'yaml: control characters are not allowed'],
    ['\t{"a":1}', 'yaml: found character that cannot start any token'],
    ['{"a"\n:1}', "yaml: line 1: did not find expected ',' or '}'"],
  ])('that YAML 1.1 does not allow is rejected: %j', (text, message) => expect(failure(text)).toBe(message))

  it('is read as YAML when the two differ', () => {
    expect(value('{"a":"x \u2028 y","b":-0,"c":1e400}')).toEqual({ a: 'x\u2028y', b: 0, c: '1e400' })
  })

  it('may be UTF-16 with a byte order mark', () => {
    expect(parseYaml(new Uint8Array(Buffer.from('\ufeffa: é', 'utf16le'))).value).toEqual({ a: 'é' })
    expect(parseYaml(new Uint8Array(Buffer.from('\ufeffa: é', 'utf16le').swap16())).value).toEqual({ a: 'é' })
  })
})
