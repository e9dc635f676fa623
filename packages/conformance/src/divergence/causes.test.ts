import { describe, expect, it } from 'vitest'
import { type Cause, inMapOrder, nearestRefusal } from './causes.ts'
import { compareAnswers } from './compare.ts'
import type { NormalAnswer } from './normalize.ts'

describe('causes of one map', () => {
  it('are sorted, in the message too', () => {
    const sorted = refusal(['data[a]', 'data[b]', 'spec'])
    expect(inMapOrder(refusal(['data[b]', 'data[a]', 'spec']))).toEqual(sorted)
    expect(inMapOrder(refusal(['items[1]', 'items[0]']))).toEqual(refusal(['items[1]', 'items[0]']))
  })

  it('are sorted by manager when they are conflicts', () => {
    const conflict = (manager: string): Cause => ({
      reason: 'FieldManagerConflict',
      message: `conflict with ${manager}`,
      field: '.a',
    })
    const answer = (...managers: string[]) => ({
      ...refusal([]),
      body: { message: 'x', details: { causes: managers.map(conflict) } },
    })
    expect(inMapOrder(answer('m2', 'm1'))).toEqual(answer('m1', 'm2'))
  })
})

describe('the nearest refusal', () => {
  it('counts an order as equal when each of its pairs has been shown', async () => {
    const pair = await nearest(
      ['b', 'a', 'c'],
      [
        ['a', 'b', 'c'],
        ['a', 'c', 'b'],
      ],
    )
    expect(compareAnswers(pair.stock, pair.krmkit)).not.toEqual([])
    const shown = await nearest(
      ['b', 'c', 'a'],
      [
        ['a', 'b', 'c'],
        ['c', 'a', 'b'],
        ['b', 'a', 'c'],
      ],
    )
    expect(compareAnswers(shown.stock, shown.krmkit)).toEqual([])
  })

  it('is another choice of causes when kube-apiserver shows it', async () => {
    const pair = await nearest(['a'], [['b'], ['b'], ['a']])
    expect(pair.stock).toEqual(refusal(['a']))
  })
})

/** @param orders the fields that kube-apiserver names: first, and when it is asked again; the last one from then on */
function nearest(krmkit: readonly string[], orders: readonly (readonly string[])[]) {
  const answers = orders.map(refusal)
  const next = () => (answers.length > 1 ? answers.shift() : answers[0]) as NormalAnswer
  return nearestRefusal(
    { stock: next(), krmkit: refusal(krmkit) },
    { repeat: async () => next(), count: ({ stock, krmkit }) => compareAnswers(stock, krmkit).length },
  )
}

function refusal(fields: readonly string[]): NormalAnswer {
  const causes = fields.map((field) => ({ reason: 'FieldValueInvalid', message: 'wrong', field }))
  const texts = fields.map((field) => `${field}: wrong`)
  const message = `X "x" is invalid: ${texts.length === 1 ? texts[0] : `[${texts.join(', ')}]`}`
  return { status: 422, headers: {}, body: { kind: 'Status', message, details: { causes } } }
}
