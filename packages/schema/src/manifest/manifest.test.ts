import { describe, expect, it } from 'vitest'
import { type ManifestDocument, readManifest } from './manifest.ts'

const documents = (text: string): ManifestDocument[] =>
  readManifest(text).map((each) => {
    if (each.kind === 'error') throw new Error(each.message)
    return each
  })
const only = (text: string): ManifestDocument => documents(text)[0] as ManifestDocument
const at = (text: string, path: string, what?: 'name' | 'value') => {
  const { line, column, endLine, endColumn } = only(text).range(path, what)
  return line === endLine ? `${line}:${column}-${endColumn}` : `${line}:${column}-${endLine}:${endColumn}`
}

const pod = `# a pod
apiVersion: v1
kind: Pod
metadata:
  name: "web"
  labels:
    app.kubernetes.io/name: web
spec:
  containers:
  - name: app
    image: 'nginx'
    args: [one, "two"]
    command:
    - |
      echo
  - name: side
`

describe('ranges in YAML', () => {
  it.each([
    ['kind', '3:7-10'],
    ['metadata.name', '5:9-14'],
    ['metadata.labels', '6:3-9'],
    ['metadata.labels.app.kubernetes.io/name', '7:29-32'],
    ['metadata.labels[app.kubernetes.io/name]', '7:29-32'],
    ['metadata.annotations[a]', '4:1-9'],
    ['spec.containers[0].image', '11:12-19'],
    ['spec.containers[0].args[1]', '12:17-22'],
    ['spec.containers[0].command[0]', '14:7-8'],
    ['spec.containers[1]', '16:5-6'],
    ['spec.containers[1].image', '16:5-6'],
    ['spec.containers[2].image', '9:3-13'],
    ['', '2:1-2'],
    ['nothing', '2:1-2'],
  ])('locates %s', (path, place) => expect(at(pod, path)).toBe(place))

  it('locates member names on request', () => {
    expect(at(pod, 'metadata.name', 'name')).toBe('5:3-7')
    expect(at(pod, 'spec.containers[1].name', 'name')).toBe('16:5-9')
  })

  it('follows aliases and merge keys', () => {
    const text = 'base: &base\n  size: 1\none:\n  <<: *base\ntwo: *base\n'
    expect(at(text, 'one.size')).toBe('2:9-10')
    expect(at(text, 'two.size')).toBe('2:9-10')
  })

  it('matches non-string keys by the name they resolve to', () => {
    expect(at('a:\n  n: 1\n  8080: x\n  "n": 2\n', 'a.false')).toBe('2:6-7')
    expect(at('a:\n  n: 1\n  8080: x\n  "n": 2\n', 'a.8080')).toBe('3:9-10')
    expect(at('a:\n  n: 1\n  8080: x\n  "n": 2\n', 'a.n')).toBe('4:8-9')
  })

  it('counts lines across documents', () => {
    const text = '# nothing\n---\na: 1\n---\n# nothing here\n---\nb: 2\n...\n---\n- c\n---\n{d: 3}\n'
    expect(documents(text).map(({ value }) => value)).toEqual([{ a: 1 }, { b: 2 }, ['c'], { d: 3 }])
    expect(documents(text).map((each) => each.range(Object.keys(each.value as object)[0] as string).line)).toEqual([3, 7, 10, 12])
  })

  it('finds duplicate members', () => {
    const text = 'a: 1\nb:\n  - c: 1\n    c: 2\na: 3\n'
    expect(only(text).repeated()).toMatchObject([
      { path: 'b[0].c', range: { line: 4, column: 5 } },
      { path: 'a', range: { line: 5, column: 1 } },
    ])
    expect(only(text).range('a')).toMatchObject({ line: 5, column: 4 })
  })

  it('returns the steps of a path as far as it can be followed', () => {
    expect(only(pod).steps('metadata.labels.app.kubernetes.io/name')).toEqual(['metadata', 'labels', 'app.kubernetes.io/name'])
    expect(only(pod).steps('spec.containers[1].image.x')).toEqual(['spec', 'containers', 1])
  })
})

describe('places', () => {
  const place = (text: string, line: number, column: number) => {
    const found = only(text).at(line, column)
    return found === undefined ? undefined : `${found.part} ${found.steps.join('/')}`
  }

  it.each([
    [2, 1, 'name apiVersion'],
    [2, 13, 'value apiVersion'],
    [5, 9, 'value metadata/name'],
    [5, 14, 'value metadata/name'],
    [7, 10, 'name metadata/labels/app.kubernetes.io/name'],
    [11, 6, 'name spec/containers/0/image'],
    [12, 18, 'value spec/containers/0/args/1'],
    [16, 6, 'name spec/containers/1/name'],
    [1, 3, undefined],
    [2, 90, undefined],
    [9, 1, undefined],
    [40, 1, undefined],
  ])('finds the place at %i:%i', (line, column, expected) => expect(place(pod, line, column)).toBe(expected))

  it('are found in JSON, in flow collections and in later documents', () => {
    const json = '{\n "a": {"b.c": [1, "x"]}\n}\n'
    expect(place(json, 2, 3)).toBe('name a')
    expect(place(json, 2, 20)).toBe('value a/b.c/1')
    expect(place('a: {b: [c, {d: e}]}\n', 1, 13)).toBe('name a/b/1/d')
    expect(documents('a: 1\n---\nb: 2\n')[1]?.at(3, 4)).toMatchObject({ steps: ['b'], part: 'value' })
  })
})

describe('ranges in JSON', () => {
  const text = '{\n\t"a": {"b.c": [1, "x\\"y", {"d": null}]},\n\t"e": "f"\n}\n'
  it.each([
    ['a', '2:2-5'],
    ['a.b.c[1]', '2:19-25'],
    ['a.b.c[2].d', '2:33-37'],
    ['e', '3:7-10'],
  ])('locates %s', (path, place) => expect(at(text, path)).toBe(place))

  it('reads consecutive values', () => {
    const both = documents('{"a":1}\n{"a":2}{"a":3}\n')
    expect(both.map(({ value }) => value)).toEqual([{ a: 1 }, { a: 2 }, { a: 3 }])
    expect(both.map((each) => each.range('a'))).toMatchObject([{ column: 6 }, { line: 2, column: 6 }, { line: 2, column: 13 }])
  })

  it('finds duplicate members', () => {
    expect(only('{"a": 1,\n "a": 2}').repeated()).toMatchObject([{ path: 'a', range: { line: 2, column: 2 } }])
  })

  it('reads a flow mapping that is not JSON', () => {
    expect(documents('{a: 1}\n').map(({ value }) => value)).toEqual([{ a: 1 }])
  })
})

describe('unreadable documents', () => {
  const errorOf = (text: string) => {
    const found = readManifest(text).find(({ kind }) => kind === 'error')
    return found?.kind === 'error' ? `${found.range.line}:${found.range.column} ${found.message}` : undefined
  }

  it.each([
    ['a: 1\nb: c: 2\n', '2:5 mapping values are not allowed in this context'],
    ['a: 1\n---\nb: [1, 2\nc: 3\n', "4:2 did not find expected ',' or ']'"],
    ['a:\n\t- 1\n', '2:1 found character that cannot start any token'],
    ['a: *nope\n', "1:1 unknown anchor 'nope' referenced"],
    ['a: "open\n', '1:9 found unexpected end of stream'],
    ['{"a": 1}\n{"b" 1}', "2:6 invalid character '1' after object key"],
  ])('locates the error in %j', (text, message) => expect(errorOf(text)).toBe(message))

  it('accepts only JSON with json: true', () => {
    expect(readManifest('{"a": 1,}', { json: true })).toEqual([
      {
        kind: 'error',
        message: "invalid character '}' looking for beginning of object key string",
        range: { line: 1, column: 9, endLine: 1, endColumn: 9 },
      },
    ])
    expect(readManifest('{"a": 1,}')).toMatchObject([{ value: { a: 1 } }])
  })

  it('continues with the next document', () => {
    expect(readManifest('a: b: c\n---\nd: 1\n').map(({ kind }) => kind)).toEqual(['error', 'document'])
  })

  it('rejects unlimited nesting', () => {
    expect(errorOf('['.repeat(100_000))).toMatch(/max depth|nesting|expected/)
    expect(errorOf('{"a":'.repeat(100_000))).toBeDefined()
  })
})

describe('members of a large mapping', () => {
  it('are found in time linear in their number', () => {
    const timeOf = (count: number): number => {
      const document = only(Array.from({ length: count }, (_, i) => `k${i}: v\n`).join(''))
      document.range('k0')
      const from = performance.now()
      for (let i = 0; i < count; i++) document.range(`[k${i}]`, 'name')
      return performance.now() - from
    }
    const shortest = (count: number) => Math.min(...Array.from({ length: 5 }, () => timeOf(count)))
    // A linear search for each member would take 256 times as long.
    expect(shortest(8000)).toBeLessThan(100 * (shortest(500) + 0.2))
  })

  it('are found as the last duplicate, and by the longest matching name', () => {
    const text = 'a.b: 1\na:\n  b: 2\n  b: 3\n"c]": 4\n'
    const document = only(text)
    expect(['a.b', 'a[b]', '[a][b]', '[c]]', '.c]'].map((path) => document.range(path).line)).toEqual([1, 4, 4, 5, 5])
  })
})
