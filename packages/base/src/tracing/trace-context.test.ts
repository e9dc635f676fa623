import { describe, expect, it } from 'vitest'
import { RequestSpan } from './request-span.ts'
import { readTraceContext } from './trace-context.ts'

const traceId = '0af7651916cd43dd8448eb211c80319c'
const spanId = 'b7ad6b7169203331'

describe('readTraceContext', () => {
  it('reads the ids, the sampling decision, the state and the baggage', () => {
    const remote = readTraceContext({
      traceparent: `00-${traceId}-${spanId}-01`,
      tracestate: ['a=1', 'b@x=2, c = 3'],
      baggage: 'tenant=blue',
    })
    expect(remote).toMatchObject({ identity: { traceId, spanId, traceFlags: 1, isRemote: true }, baggage: 'tenant=blue' })
    expect(remote?.identity.traceState?.serialize()).toBe('a=1,b@x=2')
    expect(remote?.identity.traceState?.set('a', '9').unset('b@x').serialize()).toBe('a=9')
  })

  it.each([
    ['no header', undefined],
    ['several headers', [`00-${traceId}-${spanId}-01`, `00-${traceId}-${spanId}-01`]],
    ['upper case', `00-${traceId.toUpperCase()}-${spanId}-01`],
    ['version ff', `ff-${traceId}-${spanId}-01`],
    ['more parts than version 00 has', `00-${traceId}-${spanId}-01-more`],
    ['a trace id of zeros', `00-${'0'.repeat(32)}-${spanId}-01`],
    ['a span id of zeros', `00-${traceId}-${'0'.repeat(16)}-01`],
    ['a short id', `00-${traceId}-${spanId.slice(1)}-01`],
  ])('finds no trace with %s', (_, traceparent) => {
    expect(readTraceContext(traceparent === undefined ? {} : { traceparent })).toBeUndefined()
  })

  it('accepts later versions with unknown parts', () => {
    expect(readTraceContext({ traceparent: `01-${traceId}-${spanId}-03-more` })?.identity.traceFlags).toBe(1)
  })

  it('drops states and baggage that are too large', () => {
    const traceparent = `00-${traceId}-${spanId}-00`
    const remote = readTraceContext({ traceparent, tracestate: `a=${'1'.repeat(511)}`, baggage: 'b'.repeat(8193) })
    expect(remote).toEqual({ identity: { traceId, spanId, traceFlags: 0, isRemote: true }, baggage: '' })
  })
})

describe('RequestSpan.passedOn', () => {
  it('propagates the headers of the client and records nothing', () => {
    const headers = { traceparent: `00-${traceId}-${spanId}-00`, tracestate: 'a=1', baggage: 'b=2' }
    const span = RequestSpan.passedOn(readTraceContext(headers)!, 'audit-1')
    expect(span.headers).toEqual(headers)
    expect(
      span.child('Get', () => {
        throw new Error('computed')
      }),
    ).toBe(span)
  })
})
