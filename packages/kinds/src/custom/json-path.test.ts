import { describe, expect, it } from 'vitest'
import { jsonPath } from './json-path.ts'

const object = {
  spec: {
    replicas: 2,
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
    [".spec['a.b']", ['dotted']],
    ['.spec.a\\.b', ['dotted']],
    ['.spec.list[0].n', [1]],
    ['.spec.list[-1].n', [2]],
    ['.spec.list[*].n', [1, 2]],
    ['.spec.list[0:1].name', ['x']],
    ['.status.conditions[?(@.type=="Ready")].status', ['True']],
    ['.spec.list[?(@.n>1)].name', ['y']],
    ['..name', ['x', 'y']],
    ['.', [object]],
    ['.__proto__', []],
    ['.constructor', []],
  ])('%s', (text, expected) => {
    expect(jsonPath(text)?.(object)).toEqual(expected)
  })

  it.each(['.a[', '.a b', '.a[?(]', '{.a}', `.${'a'.repeat(5000)}`])('rejects %s', (text) => {
    expect(jsonPath(text)).toBeUndefined()
  })
})
