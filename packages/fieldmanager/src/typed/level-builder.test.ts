import { describe, expect, it } from 'vitest'
import { FieldSet, leaf } from '../fieldpath/field-set.ts'
import { LevelBuilder } from './level-builder.ts'

const like = FieldSet.of(['f:a'], ['f:b'], ['f:c', 'f:d'])
const built = (...elements: string[]) => {
  const level = new LevelBuilder(like)
  for (const element of elements) {
    expect(level.has(element)).toBe(false)
    level.add(element, like.nodes.get(element) ?? leaf)
  }
  return level.build()
}

describe('LevelBuilder', () => {
  it('returns the similar set for equal nodes in any order', () => {
    expect(built('f:a', 'f:b', 'f:c')).toBe(like)
    expect(built('f:c', 'f:a', 'f:b')).toBe(like)
  })

  it('builds another set for other nodes', () => {
    expect(built('f:a', 'f:b')?.toString()).toBe('.a\n.b')
    expect(built('f:a', 'f:b', 'f:c', 'f:e')?.toString()).toBe('.a\n.b\n.e\n.c.d')
    expect(built('f:a', 'f:e', 'f:c')?.toString()).toBe('.a\n.e\n.c.d')
    expect(built()).toBeUndefined()
  })

  it('does not take a node for another one with the same element', () => {
    const level = new LevelBuilder(like)
    level.add('f:a', { member: true, children: FieldSet.of(['f:x']) })
    expect(level.build()?.toString()).toBe('.a\n.a.x')
  })

  it('does not count an element twice', () => {
    const level = new LevelBuilder(FieldSet.of(['f:a'], ['f:b']))
    level.add('f:a', leaf)
    if (level.has('f:a')) level.add('f:a', leaf)
    expect(level.build()?.toString()).toBe('.a')
  })

  it('returns the similar set for many elements', () => {
    const elements = Array.from({ length: 100 }, (_, i) => `f:${i}`)
    const many = FieldSet.of(...elements.map((element) => [element]))
    const level = new LevelBuilder(many)
    for (const element of elements) {
      expect(level.has(element)).toBe(false)
      level.add(element, leaf)
    }
    expect(level.build()).toBe(many)
  })

  it('knows the elements that were added', () => {
    const level = new LevelBuilder(like)
    level.add('f:a', leaf)
    expect([level.has('f:a'), level.has('f:b'), level.has('f:z')]).toEqual([true, false, false])
  })

  it('returns the part of the similar set below an element', () => {
    const level = new LevelBuilder(like)
    expect(level.below('f:c')?.toString()).toBe('.d')
    level.add('f:z', leaf)
    expect(level.below('f:c')?.toString()).toBe('.d')
    expect(new LevelBuilder(undefined).below('f:c')).toBeUndefined()
  })
})
