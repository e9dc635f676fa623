import { describe, expect, it } from 'vitest'
import { classified } from './testing/sample-requests.ts'
import { affectsWatches, estimateWork } from './work-estimate.ts'

const sources = (objects: number | undefined) => ({ objectCount: () => objects, watchCount: () => 0 })

describe('estimated seats', () => {
  it.each([
    ['/api/v1/pods', 50, 1],
    ['/api/v1/pods', 101, 2],
    ['/api/v1/pods', 950, 10],
    ['/api/v1/pods', 100_000, 10],
    ['/api/v1/pods', undefined, 1],
    ['/api/v1/pods?limit=100', 5000, 2],
    ['/api/v1/pods?limit=100&resourceVersion=0', 5000, 10],
    ['/api/v1/pods?limit=100&labelSelector=a', 500, 6],
    ['/api/v1/pods?continue=x', 300, 6],
    ['/api/v1/pods?resourceVersion=7&resourceVersionMatch=Exact', 300, 6],
    ['/api/v1/pods?resourceVersion=7&resourceVersionMatch=NotOlderThan', 300, 3],
    ['/api/v1/pods?fieldSelector=metadata.name%3Da', 5000, 1],
    ['/api/v1/pods?watch=1', 5000, 1],
    ['/api/v1/pods?watch=1&sendInitialEvents=true', 5000, 10],
    ['/api/v1/namespaces/a/pods/x', 5000, 1],
  ])('for %s with %s objects: %i', (target, objects, seats) => {
    const work = estimateWork(classified(target), sources(objects), 10, 0)
    expect(work).toEqual({ initialSeats: seats, finalSeats: 0, lingerMs: 0 })
  })

  it('do not exceed the maximum of the level', () => {
    const request = classified('/api/v1/pods')
    expect(estimateWork(request, sources(5000), 3, 0).initialSeats).toBe(3)
  })

  it.each([
    [9, 10, { initialSeats: 1, finalSeats: 0, lingerMs: 0 }],
    [10, 10, { initialSeats: 1, finalSeats: 1, lingerMs: 5 }],
    [95, 10, { initialSeats: 1, finalSeats: 10, lingerMs: 5 }],
    [400, 10, { initialSeats: 1, finalSeats: 10, lingerMs: 20 }],
    [40, 2, { initialSeats: 1, finalSeats: 2, lingerMs: 10 }],
  ])('for a write that affects %i watches, with a maximum of %i', (watches, maxSeats, expected) => {
    const request = classified('/api/v1/namespaces/a/pods', { method: 'POST' })
    expect(estimateWork(request, sources(0), maxSeats, watches)).toEqual(expected)
  })

  it('count watches for writes of stored objects only', () => {
    expect(affectsWatches(classified('/api/v1/namespaces/a/pods', { method: 'POST' }).info)).toBe(true)
    expect(affectsWatches(classified('/api/v1/namespaces/a/pods/x').info)).toBe(false)
    expect(affectsWatches(classified('/version', { method: 'POST' }).info)).toBe(false)
    expect(affectsWatches(classified('/api/v1/namespaces/a/serviceaccounts/x/token', { method: 'POST' }).info)).toBe(false)
  })
})
