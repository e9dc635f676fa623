import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { conversionBetween } from './index.ts'

const core = { group: '', version: 'v1', kind: 'Event' }
const fresh = { group: 'events.k8s.io', version: 'v1', kind: 'Event' }
const toNew = conversionBetween(core, fresh)
const toCore = conversionBetween(fresh, core)

describe('events', () => {
  it('renames members and keeps the member order of the type [P342]', () => {
    const event = {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name: 'e' },
      involvedObject: { kind: 'Pod', name: 'p' },
      reason: 'R',
      message: 'm',
      source: { component: 'c' },
      firstTimestamp: '2024-05-01T10:00:00Z',
      lastTimestamp: null,
      count: 3,
      type: 'Normal',
      eventTime: null,
      reportingComponent: '',
      reportingInstance: '',
    }
    const converted = {
      apiVersion: 'events.k8s.io/v1',
      kind: 'Event',
      metadata: { name: 'e' },
      eventTime: null,
      reason: 'R',
      regarding: { kind: 'Pod', name: 'p' },
      note: 'm',
      type: 'Normal',
      deprecatedSource: { component: 'c' },
      deprecatedFirstTimestamp: '2024-05-01T10:00:00Z',
      deprecatedLastTimestamp: null,
      deprecatedCount: 3,
    }
    expect(JSON.stringify(toNew(event))).toBe(JSON.stringify(converted))
    expect(JSON.stringify(toCore(converted))).toBe(JSON.stringify(event))
  })

  it('restores every event [P331 P342]', () => {
    const text = fc.string({ minLength: 1 })
    const time = fc.constantFrom('2024-05-01T10:00:00Z', null)
    const event = fc.record(
      {
        apiVersion: fc.constant('v1'),
        kind: fc.constant('Event'),
        metadata: fc.record({ name: text }),
        involvedObject: fc.record({ kind: text, name: text }, { requiredKeys: [] }),
        reason: text,
        message: text,
        source: fc.record({ component: text, host: text }, { requiredKeys: [] }),
        firstTimestamp: time,
        lastTimestamp: time,
        count: fc.integer({ min: 1 }),
        type: text,
        eventTime: time,
        series: fc.record({ count: fc.integer({ min: 1 }), lastObservedTime: time }, { requiredKeys: ['lastObservedTime'] }),
        action: text,
        related: fc.record({ kind: text }, { requiredKeys: [] }),
        reportingComponent: fc.string(),
        reportingInstance: fc.string(),
      },
      {
        requiredKeys: [
          'apiVersion',
          'kind',
          'metadata',
          'involvedObject',
          'source',
          'firstTimestamp',
          'lastTimestamp',
          'eventTime',
          'reportingComponent',
          'reportingInstance',
        ],
      },
    )
    fc.assert(
      fc.property(event, (object) => {
        expect(toCore(toNew(object))).toEqual(object)
        expect(toNew(toCore(toNew(object)))).toEqual(toNew(object))
      }),
      { seed: 342 },
    )
  })
})
