import type { ApiObject } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { evictionPrinter } from './eviction-printer.ts'

const now = Date.parse('2026-07-01T12:00:00Z')
const ago = (minutes: number) => new Date(now - minutes * 60_000).toISOString()

const cellsOf = (status?: object, spec: object = { target: { pod: { name: 'web-0' } } }) =>
  evictionPrinter.cells({ metadata: { name: 'e', creationTimestamp: ago(5) }, spec, status } as unknown as ApiObject, { now })

const responder = (state: string, report: object, others: object[] = []) =>
  cellsOf({ targetResponders: [{ name: 'a', state }, ...others], responders: [{ name: 'a', ...report }] })

describe('the Table of an eviction', () => {
  it('shows an eviction without progress', () => {
    const nothing = ['Pending', '<unset> (0/0)', '<unset>', '<unknown>', '<none>', '5m', '<unset>', '<unset>']
    expect(cellsOf()).toEqual(['e', 'web-0', 'Pod', ...nothing])
    expect(cellsOf(undefined, {}).slice(1, 3)).toEqual(['<unset>', '<unset>'])
  })

  it('shows the active responder, its progress and its report', () => {
    const report = { startTime: ago(3), expectedCompletionTime: ago(-10), heartbeatTime: ago(1), message: ' draining ' }
    const cells = responder('Active', report, [
      { name: 'b', state: 'Inactive' },
      { name: 'c', state: 'Completed' },
    ])
    expect(cells.slice(4, 7)).toEqual(['a (2/3)', 'Started (3m ago)', 'in 10m'])
    expect(cells.slice(9)).toEqual(['60s ago', 'draining'])
    expect(responder('Active', { ...report, expectedCompletionTime: ago(4) })[6]).toBe('4m ago')
    expect(responder('Active', {}).slice(5, 7)).toEqual(['Active', '<unknown>'])
  })

  it.each([
    ['Canceled', 'Canceled'],
    ['Interrupted', 'Interrupted'],
    ['Completed', 'Completed (2m ago)'],
  ])('shows a responder that ended: %s', (state, text) => {
    expect(responder(state, { completionTime: ago(2) }).slice(4, 7)).toEqual(['a (1/1)', text, '-'])
  })

  it('shows the last responder that ended where none is active', () => {
    const targetResponders = [
      { name: 'a', state: 'Interrupted' },
      { name: 'b', state: 'Completed' },
    ]
    expect(cellsOf({ targetResponders }).slice(4, 7)).toEqual(['b (2/2)', '<unset>', '<unknown>'])
  })

  it('counts requesters that have not withdrawn', () => {
    const requester = (name: string, intent = 'Evict') => ({ name, intent })
    const shown = (...requesters: object[]) => cellsOf({ requesters })[7]
    expect(shown(requester('z'), requester('b'), requester('a', 'Withdrawn'))).toBe('b + 1 more...')
    expect(shown(requester('z'))).toBe('z')
    expect(shown(requester('z', 'Withdrawn'))).toBe('<withdrawn>')
  })
})
