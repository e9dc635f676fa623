import { describe, expect, it } from 'vitest'
import { divergenceReport } from './report.ts'
import { Totals } from './totals.ts'

const result = (steps: number, ...known: string[]) => ({ steps, known: new Set(known), wording: { all: 3, equal: 2 } })

/** A run of two scenarios, the second one with a divergence. */
function run(totals: Totals, seed: number): Totals {
  totals.add({ seed, index: totals.start(seed), area: 'bodies' }, result(4, 'D1', 'D2'))
  totals.add({ seed, index: totals.start(seed), area: 'reads' }, result(6, 'D1'), 'GET body')
  return totals
}

describe('totals of a differential test', () => {
  it('count steps, known and open divergences', () => {
    const totals = run(new Totals('a'), 7)
    expect(totals.steps).toBe(10)
    expect(Object.fromEntries(totals.areas)).toEqual({ bodies: 4, reads: 6 })
    expect(Object.fromEntries(totals.known)).toEqual({ D1: 2, D2: 1 })
    expect(totals.wording).toEqual({ all: 6, equal: 4 })
    expect(totals.openDivergences()).toEqual([{ area: 'reads', cause: 'GET body', count: 1, seed: 7, index: 1 }])
  })

  it('are the same after they were stored', () => {
    const totals = run(new Totals('a'), 7)
    expect(Totals.ofState(totals.state(), 'a')).toEqual(totals)
  })

  it('add up over runs with different seeds', () => {
    const second = run(Totals.ofState(run(new Totals('a'), 7).state(), 'a'), 8)
    expect(second.steps).toBe(20)
    expect(second.openDivergences()).toEqual([{ area: 'reads', cause: 'GET body', count: 2, seed: 7, index: 1 }])
    expect([...second.seeds]).toEqual([
      [7, { steps: 10, next: 2 }],
      [8, { steps: 10, next: 2 }],
    ])
  })

  it('move a divergence that was not seen again, which opens again when it is', () => {
    const totals = run(new Totals('a'), 7)
    totals.settle('GET body')
    const stored = Totals.ofState(totals.state(), 'a')
    expect([stored.openDivergences(), [...stored.settled.keys()]]).toEqual([[], ['GET body']])
    expect(divergenceReport([], stored)).toContain('reads, 1 scenario, first 1 of seed 7: `GET body`')
    expect(run(stored, 8).openDivergences()).toEqual([{ area: 'reads', cause: 'GET body', count: 1, seed: 8, index: 1 }])
  })

  it('keep divergences that were gone at once', () => {
    const totals = run(new Totals('a'), 7)
    totals.addSettled({ seed: 7, index: 2, area: 'lives' }, 'PUT body')
    totals.addSettled({ seed: 7, index: 3, area: 'lives' }, 'PUT body')
    expect(Totals.ofState(totals.state(), 'a').settled.get('PUT body')).toMatchObject({ count: 2, index: 2 })
    expect(divergenceReport([], totals)).toContain('- lives, 2 scenarios, first 2 of seed 7: `PUT body`')
    expect(totals.openDivergences()).toHaveLength(1)
  })

  it('go on with a seed where it was left', () => {
    const totals = Totals.ofState(run(new Totals('a'), 7).state(), 'a')
    expect([totals.start(7), totals.start(7), totals.start(9)]).toEqual([2, 3, 0])
  })

  it('skip scenarios that had started when a run was stopped', () => {
    const totals = new Totals('a')
    totals.start(7)
    expect(Totals.ofState(totals.state(), 'a').start(7)).toBe(1)
  })

  it('are not added to those of another build', () => {
    expect(() => Totals.ofState(new Totals('a').state(), 'b')).toThrow('another build')
  })

  it('name their seeds in the report', () => {
    const totals = run(run(new Totals('a'), 7), 8)
    const report = divergenceReport([{ area: 'bodies', compares: 'x', generate: () => ({ area: 'bodies', steps: [] }) }], totals)
    expect(report).toContain('20 steps, with the seeds 7 (10 steps), 8 (10 steps); 1 open divergence.')
    expect(report).toContain('| bodies | x | 8 |')
    expect(report).toContain('- reads, 2 scenarios, first 1 of seed 7: `GET body`')
    expect(report).toMatch(/### D1: .*\n\n[^\n]+\n\nSeen in 4 scenarios\./)
  })
})
