import { tests as conformance } from '@bufbuild/cel-spec/testdata/conformance.js'
import { describe, expect, it } from 'vitest'
import { type Case, runCase } from '../../testdata/conformance.ts'
import { Environment } from '../environment.ts'
import { fromJson } from '../values/json-values.ts'
import { dynType, intType, listOf, mapOf, stringType } from '../values/types.ts'
import type { Value } from '../values/values.ts'
import { type Evaluation, PausedEvaluation, type Program } from './program.ts'

/** Evaluations with pauses have the same results and costs as evaluations without. */

type Variables = Readonly<Record<string, Value | undefined>>

interface Paused extends Evaluation {
  readonly pauses: number
}

function evaluateWithPauses(program: Program, variables: Variables, pauseAfter?: number): Paused {
  let pauses = 0
  let result = program.start(variables, pauseAfter === undefined ? {} : { pauseAfter })
  while (result instanceof PausedEvaluation) {
    pauses++
    result = result.resume()
  }
  return { ...result, pauses }
}

/** Evaluates with a pause at every possible point. */
function expectSame(program: Program, variables: Variables): number {
  const { pauses, ...paused } = evaluateWithPauses(program, variables, 0)
  expect(paused).toEqual(program.evaluate(variables))
  return pauses
}

const environment = Environment.ofRelease('1.33').with([
  ['n', listOf(intType)],
  ['l', listOf(stringType)],
  ['m', mapOf(stringType, intType)],
  ['s', stringType],
  ['x', dynType],
])

function programOf(text: string): Program {
  const compiled = environment.compile(text)
  if ('problem' in compiled) throw new Error(compiled.problem)
  return compiled.program() as Program
}

const numbers = (count: number) => Array.from({ length: count }, (_, i) => i)
const small = {
  n: fromJson([3, 1, 2]),
  l: fromJson(['a', 'bb', 'a,b']),
  m: fromJson({ a: 1, b: 2 }),
  s: 'a,b,c',
  x: fromJson({ list: [1, 'a', { b: [true] }], text: 'abc' }),
}

describe('an evaluation with pauses', () => {
  it.each([
    'n.all(i, n.exists(j, i == j) && l.exists_one(t, t.contains("b,")))',
    'n.map(i, n.map(j, i * j)).all(row, row.sum() >= 0)',
    'l.map(t, t.split(",")).filter(p, p.size() > 1).map(p, p.join("-"))',
    'm.all(k, m[k] > 0) && m.transformMap(k, v, v + 1) == {"a": 2, "b": 3}',
    'm.transformMapEntry(k, v, {k + "!": v}).size() == 2 && n.transformList(i, v, i + v) == [3, 2, 4]',
    's.matches("^[a-c,]+$") && s.find("b,c") == "b,c" && s.findAll("[a-z]").size() == 3',
    'x.list.exists(i, i == "a") || x.text.startsWith("z")',
    'x.list.all(i, i > 0)',
    'x.list.map(i, 1 / (i == 1 ? 0 : 1))',
    'x.missing.all(i, true) || l.all(t, t.size() > 0)',
    'optional.of(s.split(",")).optMap(p, p.map(t, t + t).join() + p.join()).orValue("") != ""',
    '[s.upperAscii(), s.replace(",", ";"), l.join("+")].map(t, t.size())',
    'l.all(t, t.matches(s) || n.exists(i, t.contains(string(i))))',
    'n.filter(i, s.contains("b") ? i > 1 : false).map(i, [i].map(j, {"k": j}))',
    'n.all(i, n.all(j, n.all(k, i + j + k < 10)))',
  ])('%s', (text) => {
    expect(expectSame(programOf(text), small)).toBeGreaterThan(1)
  })

  it('has the results of the public conformance suite', () => {
    interface Suite {
      readonly suites?: readonly Suite[]
      readonly tests?: readonly { readonly original: object }[]
    }
    const casesOf = ({ tests = [], suites = [] }: Suite): Case[] => [
      ...tests.map(({ original }) => original as Case),
      ...suites.flatMap(casesOf),
    ]
    const evaluate = (program: Program, variables: Variables) => {
      expectSame(program, variables)
      return program.evaluate(variables)
    }
    const results = casesOf(conformance as Suite).map((original) => runCase(original, evaluate))
    expect(results.filter((result) => result === undefined).length).toBeGreaterThan(1000)
  })

  it('does not pause when little work is done', () => {
    expect(evaluateWithPauses(programOf('n.all(i, i < 10) && s.matches("^a")'), small).pauses).toBe(0)
  })

  it.each([
    ['elements', 'n.all(i, i >= 0)', 60_000],
    ['collected elements', 'n.map(i, i + 1).size() == 60000', 60_000],
    ['exists_one', 'n.exists_one(i, i == 7)', 60_000],
    ['nested elements', 'n.all(i, n.all(j, i + j >= 0))', 300],
  ])('pauses between %s, once for about 50 000 units', (_, text, count) => {
    const { pauses, value, cost } = evaluateWithPauses(programOf(text), { n: fromJson(numbers(count)) })
    expect(value).toBe(true)
    expect(pauses).toBeGreaterThanOrEqual(Math.floor(cost / 60_000))
    expect(pauses).toBeLessThanOrEqual(Math.ceil(cost / 25_000))
  })

  it.each([
    ['matching', "s.matches('(a|b)+c$')"],
    ['matches', "s.findAll('[a-z]').size() > 0"],
    ['a match', "s.find('[b-z]+1') == ''"],
    ['splitting into characters', "s.split('').size() > 0"],
    ['replacing', "s.replace('', '-') != ''"],
    ['the query of a URL', "url('/?' + s).getQuery().size() > 0"],
    ['formatting a list', "'%s'.format([n]) != ''"],
  ])('pauses within a call: %s', (_, text) => {
    const variables = { s: 'ab&'.repeat(80_000), n: fromJson(numbers(50_000)) }
    const { pauses, ...result } = evaluateWithPauses(programOf(text), variables, 1000)
    // Pauses between calls: up to four.
    expect(pauses).toBeGreaterThan(6)
    expect(result).toEqual(programOf(text).evaluate(variables))
  })

  it('evaluates nothing twice', () => {
    // Every restart would read the long text again.
    const variables = { s: 'x'.repeat(100_000), n: fromJson(numbers(20_000)) }
    const program = programOf('s.lowerAscii().contains("x") && n.all(i, i >= 0)')
    const { pauses, ...result } = evaluateWithPauses(program, variables, 100)
    expect(pauses).toBeGreaterThan(500)
    expect(result).toEqual(program.evaluate(variables))
  })

  it('stops at the cost limit', () => {
    const variables = { n: fromJson(numbers(2000)) }
    const program = programOf('n.all(i, n.all(j, i + j >= 0))')
    const { pauses, ...result } = evaluateWithPauses(program, variables)
    expect(pauses).toBeGreaterThan(10)
    expect(result).toEqual(program.evaluate(variables))
    expect(result.exceeded).toBe(true)
  })
})
