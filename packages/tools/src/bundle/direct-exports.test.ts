import { describe, expect, it } from 'vitest'
import { withDirectExports } from './direct-exports.ts'

const exported = (name: string) => `Object.defineProperty(exports,"t",{enumerable:!0,get:function(){return ${name}}});`

describe('exports of chunks', () => {
  it.each([
    ['functions', 'function work(){}', 'work'],
    ['generators', 'function*work(){}', 'work'],
    ['async functions', 'async function work$1(){}', 'work$1'],
    ['classes', 'const a=1;class Work extends Base{}', 'Work'],
  ])('of %s are plain members', (_, declaration, name) => {
    expect(withDirectExports(declaration + exported(name))).toBe(`${declaration}exports["t"]=${name};`)
  })

  it.each([
    ['a variable, which may change', 'let work=1;', 'work'],
    ['a function that is reassigned', 'function work(){}work=other;', 'work'],
    ['a name that only begins as that of a function', 'function workMore(){}var work;', 'work'],
  ])('of %s stay getters', (_, declaration, name) => {
    const chunk = declaration + exported(name)
    expect(withDirectExports(chunk)).toBe(chunk)
  })
})
