import type { JsonValue } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { Environment } from './environment.ts'
import { type Evaluation, Program } from './plan/program.ts'
import { createCompileBudget } from './syntax/compile-budget.ts'
import { fromJson } from './values/json-values.ts'
import { createWorkBudget } from './values/meter.ts'
import { dynType, listOf, stringType } from './values/types.ts'
import { ErrorValue } from './values/values.ts'

/** Expressions that would stall the server are rejected when compiled or stopped by a limit. */

const environment = Environment.ofRelease('1.33').with([
  ['x', dynType],
  ['s', stringType],
  ['l', listOf(stringType)],
])

function problemOf(text: string): string | undefined {
  const compiled = environment.compile(text)
  return 'problem' in compiled ? compiled.problem : undefined
}

function evaluate(text: string, variables: Readonly<Record<string, JsonValue>> = {}, work = createWorkBudget()): Evaluation {
  const compiled = environment.compile(text)
  if ('problem' in compiled) throw new Error(compiled.problem)
  const program = compiled.program()
  if (!(program instanceof Program)) throw program
  const values = Object.entries(variables).map(([name, value]) => [name, fromJson(value)])
  return program.evaluate(Object.fromEntries(values), { work })
}

const cancelled = { message: 'operation cancelled: actual cost limit exceeded' }

describe('expressions', () => {
  it('are limited in length', () => {
    expect(problemOf(`"${'a'.repeat(100_000)}"`)).toContain(
      'expression code point size exceeds limit: size: 100002, limit 100000',
    )
  })

  it.each([
    ['brackets', `${'('.repeat(300)}1${')'.repeat(300)}`],
    ['lists', '['.repeat(300) + ']'.repeat(300)],
    ['members', `x${'.a'.repeat(300)}`],
    ['calls', `${'size('.repeat(300)}x${')'.repeat(300)}`],
    ['conditions', `${'true ? 1 : '.repeat(300)}1`],
    ['sums', `1${' + 1'.repeat(300)}`],
    ['indexes', `x${'[0]'.repeat(20_000)}`],
  ])('are limited in depth: %s', (_, text) => {
    expect(problemOf(text)).toContain('expression recursion limit exceeded: 250')
  })

  it('may have many terms on one level', () => {
    expect(problemOf(Array.from({ length: 2_000 }, (_, i) => `x == ${i}`).join(' || '))).toBeUndefined()
    expect(problemOf(`[${'1,'.repeat(20_000)}]`)).toBeUndefined()
  })

  it('are limited in size when macros duplicate their target', () => {
    const text = `optional.of(1)${'.optMap(y, y)'.repeat(200)}.hasValue()`
    expect(problemOf(text)).toContain('expression size exceeds limit')
  })

  it('of one object share a size limit', () => {
    const budget = { ...createCompileBudget(), nodes: 10_000 }
    const text = `optional.of(1)${'.optMap(y, y)'.repeat(8)}.hasValue()`
    const results = Array.from({ length: 10 }, () => environment.compile(text, budget))
    expect(results[0]).not.toHaveProperty('problem')
    expect(results.at(-1)).toMatchObject({ problem: expect.stringContaining('expression size exceeds limit: 0 nodes') })
  })

  it('report errors of long lines in bounded size', () => {
    expect((problemOf(Array.from({ length: 10_000 }, (_, i) => `n${i}`).join('&&')) as string).length).toBeLessThan(300_000)
  })

  it('report at most 100 errors', () => {
    const problem = problemOf(Array.from({ length: 1_000 }, (_, i) => `n${i}`).join(' &&\n')) as string
    expect(problem.split('\n').filter((line) => line.startsWith('ERROR'))).toHaveLength(100)
    expect(problem).toContain('900 more errors were truncated')
  })

  it.each<[string, JsonValue]>([
    ['null', null],
    ['text', 'a'],
    ['a number', 1],
  ])('has() finds no member of %s', (_, inner) => {
    expect(evaluate('has(x.a.b)', { x: { a: inner } }).value).toBe(false)
    expect(evaluate('x.a.b', { x: { a: inner } }).value).toMatchObject({ message: 'no such key: b' })
    expect(evaluate('has(x.c.b)', { x: { a: inner } }).value).toMatchObject({ message: 'no such key: c' })
  })

  it.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty'])('do not expose the inherited member %s', (name) => {
    expect(evaluate(`has(x.${name})`, { x: { a: 1 } }).value).toBe(false)
    expect(evaluate(`'${name}' in x`, { x: {} }).value).toBe(false)
    expect(evaluate(`x.${name} == 1`, { x: {} }).value).toMatchObject({ message: `no such key: ${name}` })
    expect(evaluate(`{'${name}': 1}.${name}`).value).toBe(1)
    expect(problemOf(`${name}(1)`)).toContain('undeclared reference')
  })
})

describe('evaluation', () => {
  const many = Array.from({ length: 2_000 }, (_, i) => `item ${i}`)

  it.each([
    ['nested loops', 'l.all(a, l.all(b, l.all(c, a != b + c)))', { l: many }],
    ['loops over generated lists', 'l.map(a, l.map(b, a + b)).size() == 0', { l: many }],
    ['growing strings', `${'l.map(a, '.repeat(3)}s + s + s + s${')'.repeat(3)} == []`, { l: many, s: 'x'.repeat(1000) }],
    ['string replacement', "l.all(a, s.replace('', s).size() > 0)", { l: many, s: 'x'.repeat(10_000) }],
    ['repeated reading of strings', 'l.all(a, s.lowerAscii() != a)', { l: many, s: 'x'.repeat(1_000_000) }],
    ['string splitting', "l.all(a, s.split('').size() > 1)", { l: many, s: 'x'.repeat(100_000) }],
    ['string joining', 'l.map(a, l.join(s)).join(s).size() > 0', { l: many, s: 'x'.repeat(10_000) }],
    ['string formatting', "l.all(a, '%s%s%s'.format([l, l, l]).size() > 1)", { l: many }],
    ['deep equality', 'l.all(a, x == x.map(y, y))', { l: many, x: many }],
    ['membership', "l.all(a, !((a + '!') in l))", { l: many }],
    ['sets', 'l.all(a, sets.equivalent(l, l))', { l: many }],
    ['regular expressions', "l.all(a, !s.matches('(x+x+)+y'))", { l: many, s: 'x'.repeat(100_000) }],
    ['all matches', "l.all(a, s.findAll('x').size() > 0)", { l: many, s: 'x'.repeat(100_000) }],
    ['matches with long lookahead', "s.findAll('x*y|x').size() > 0", { s: 'x'.repeat(100_000) }],
  ])('stops: %s', (_, text, variables) => {
    expect(evaluate(text, variables).value).toMatchObject(cancelled)
  })

  it.each([
    ['replacement of characters', "s.replace('', s).size() > 0"],
    ['replacement of texts', "s.replace('x', s).size() > 0"],
    ['joining', "s.split('').join(s).size() > 0"],
  ])('does not build a string of 100 million characters: %s', (_, text) => {
    expect(evaluate(text, { s: 'x'.repeat(10_000) }).value).toMatchObject(cancelled)
  })

  it('allows long replacements of few occurrences in a long string', () => {
    const s = `${'x'.repeat(500_000)}ab${'x'.repeat(500_000)}ab`
    expect(evaluate("s.replace('ab', l[0]).size()", { s, l: ['y'.repeat(1000)] }).value).toBe(1_002_000)
    expect(evaluate("s.replace('x', l[0], 3).size()", { s, l: ['y'.repeat(1000)] }).value).toBe(1_003_001)
  })

  it('limits and reports the size of regular expressions', () => {
    const { value } = evaluate('s.matches(s)', { s: 'a{1000}{1000}{1000}' })
    expect(value).toBeInstanceOf(ErrorValue)
    expect(evaluate('s.matches(l[0])', { s: 'x', l: ['((a{100}){100}){100}'] }).value).toBeInstanceOf(ErrorValue)
  })

  it('limits work that the CEL cost omits', () => {
    // The cost of a comparison depends only on the smaller side.
    const deep = () => Array.from({ length: 300 }, () => Array.from({ length: 300 }, (_, i) => i))
    const x = [deep(), deep()]
    const work = { remaining: 50_000 }
    expect(evaluate('x[0] == x[1]', { x }, work).value).toMatchObject(cancelled)
    expect(evaluate('x[0] == x[1]', { x }).value).toBe(true)
  })

  it('shares a work budget between the evaluations of a request', () => {
    const work = createWorkBudget()
    const before = work.remaining
    evaluate("s.findAll('x').size() > 0", { s: 'x'.repeat(10_000) }, work)
    expect(work.remaining).toBeLessThan(before)
  })

  it('reads numbers of any length in bounded time', () => {
    expect(evaluate('int(s)', { s: '9'.repeat(100_000) }).value).toBeInstanceOf(ErrorValue)
    expect(evaluate('double(s) > 1.0', { s: `${'9'.repeat(100_000)}e-99999` }).value).toBeDefined()
    expect(evaluate('duration(s)', { s: `${'9'.repeat(100_000)}h` }).value).toBeInstanceOf(ErrorValue)
    expect(evaluate('isQuantity(s) || isSemver(s, true) || isIP(s) || isURL(s)', { s: '9'.repeat(100_000) }).value).toBeDefined()
    expect(evaluate("quantity('1e2000000000').isGreaterThan(quantity('1'))").value).toBeDefined()
  })
})
