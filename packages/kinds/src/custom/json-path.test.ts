import { describe, expect, it } from 'vitest'
import { jsonPath } from './json-path.ts'

const object = {
  spec: {
    replicas: 2,
    a: { b: 'nested' },
    'a.b': 'dotted',
    list: [
      { n: 1, name: 'x' },
      { n: 2, name: 'y' },
    ],
  },
  status: {
    conditions: [
      { type: 'Ready', status: 'True' },
      { type: 'Live', status: 'False' },
    ],
  },
}

describe('jsonPath', () => {
  it.each<[string, unknown[]]>([
    ['.spec.replicas', [2]],
    ['.spec.missing', []],
    [".spec['a.b']", ['nested']],
    [".spec['a\\.b']", ['dotted']],
    [".spec['a\\.b','replicas']", ['dotted', 2]],
    ['.spec.a\\.b', ['dotted']],
    ['.spec.replicas}', [2]],
    ['.spec.list[0].n', [1]],
    ['.spec.list[-1].n', [2]],
    ['.spec.list[*].n', [1, 2]],
    ['.spec.list[0:1].name', ['x']],
    ['.status.conditions[?(@.type=="Ready")].status', ['True']],
    ['.spec.list[?(@.n>1)].name', ['y']],
    ['..name', ['x', 'y']],
    ['..name}{.spec', ['x', 'y']],
    ['.spec.list[?(@.n==1.5)].name', []],
    ['.spec.list[?(@.n)].name', ['x', 'y']],
    ['.spec.list[?(@.name!="\\x78")].n', [2]],
    ['.spec.list[2].n', []],
    ['.spec.list[2:].n', []],
    ['.spec.list[::2].n', [1]],
    ['.spec[*]', []],
    ['.spec.replicas[0]', []],
    ['.', []],
    ['.spec.', []],
    ['.spec word', []],
    [
      '..',
      [
        object,
        object.spec,
        object.spec.a,
        object.spec.list,
        ...object.spec.list,
        object.status,
        object.status.conditions,
        ...object.status.conditions,
      ],
    ],
    ['.__proto__', []],
    ['.constructor', []],
  ])('%s', (text, expected) => {
    expect(jsonPath(text)?.(object)).toEqual(expected)
  })

  it.each(['.a[', '.a["b"]', '.a[b]', ".a[ 'b' ]", '.a[?(]', '{.a}', `.${'a'.repeat(5000)}`])('rejects %s', (text) => {
    expect(jsonPath(text)).toBeUndefined()
  })

  it('ends at its bound of visits', () => {
    let deep: object = {}
    for (let i = 0; i < 300; i++) deep = { a: deep }
    expect(jsonPath('..a..a..a..a..a')?.(deep)).toEqual([])
    const list = Array.from({ length: 1000 }, () => 1)
    expect(jsonPath('.list[*,*,*]')?.({ list })).toHaveLength(3000)
    expect(jsonPath(`.*[${'*,'.repeat(60)}*]`)?.({ list })).toEqual([])
  })
})
