import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type DatedLine, fold, type Line, line, linesAt, parseTree, printTree, unfold } from './line-tree.ts'

const releases: readonly (readonly Line[])[] = [
  [line('type A', [line('one'), line('two')]), line('type B')],
  [line('type A', [line('one'), line('two changed'), line('three')]), line('type B')],
  [line('type A', [line('one'), line('three')]), line('type C', [line('x')]), line('type B')],
]

const folded = (trees: readonly (readonly Line[])[]) =>
  trees.reduce<DatedLine[]>((lines, tree, i) => fold(lines, tree, i === 0 ? undefined : 21 + i), [])

describe('dated lines', () => {
  it('states since when and until when a line holds', () => {
    expect(printTree(folded(releases))).toBe(
      ['type A', ' one', ' -21 two', ' 22-22 two changed', ' 22- three', '23- type C', ' x', 'type B', ''].join('\n'),
    )
  })

  it('are read as they are written', () => {
    const text = printTree(folded(releases))
    expect(printTree(parseTree(text))).toBe(text)
  })

  it('give back each release, and the tree without the newest one', () => {
    const tree = fc.uniqueArray(
      fc.record({
        name: fc.integer({ min: 0, max: 9 }),
        below: fc.uniqueArray(fc.integer({ min: 0, max: 5 }), { maxLength: 4 }),
      }),
      { selector: ({ name }) => name, maxLength: 8 },
    )
    const history = fc.array(tree, { minLength: 1, maxLength: 5 })
    fc.assert(
      fc.property(history, (drawn) => {
        const trees = drawn.map((each) =>
          each.map(({ name, below }) =>
            line(
              `n${name}`,
              below.map((b) => line(`b${b}`)),
            ),
          ),
        )
        const lines = parseTree(printTree(folded(trees)))
        for (const [i, each] of trees.entries()) expect(linesAt(lines, 21 + i)).toEqual(each)
        if (trees.length > 1) expect(unfold(lines, 20 + trees.length)).toEqual(folded(trees.slice(0, -1)))
      }),
    )
  })

  it.each(['', ' a', 'a\nb', '21- a', '-30 a', '21-30 a'])('refuses the line %j, which would be read as another', (text) => {
    expect(() => printTree([{ text, lines: [] }])).toThrow('cannot be a line')
  })

  it('refuses a line that is indented too far', () => {
    expect(() => parseTree('a\n   b')).toThrow('indented too far')
  })
})
