import { expect, it } from 'vitest'
import { cycles } from './cycles.ts'

const graph = (text: string) =>
  new Map(text.split(' ').map((edge) => [edge.slice(0, 1), edge.slice(2).split('').filter(Boolean)] as const))

it.each([
  ['a graph without cycles', 'a:bc b:c c:', []],
  ['a cycle of two', 'a:b b:a c:a', [['a', 'b']]],
  ['a long cycle entered from outside', 'a:b b:c c:d d:b', [['b', 'c', 'd']]],
  [
    'two cycles joined by an edge',
    'a:b b:ac c:d d:c',
    [
      ['c', 'd'],
      ['a', 'b'],
    ],
  ],
  ['two cycles that share a node as one', 'a:b b:ac c:b', [['a', 'b', 'c']]],
  ['edges to unknown nodes', 'a:xb b:y', []],
])('finds %s', (_, text, expected) => {
  expect(cycles(graph(text))).toEqual(expected)
})
