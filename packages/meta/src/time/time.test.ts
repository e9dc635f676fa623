import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import spans from '../../testdata/durations.json' with { type: 'json' }
import vectors from '../../testdata/times.json' with { type: 'json' }
import { MetaError } from '../meta-error.ts'
import { formatDuration, formatDurationMs, parseDuration, parseDurationMs } from './duration.ts'
import {
  formatGoTime,
  formatMicroTime,
  formatTime,
  instantToMs,
  normalizeMicroTime,
  normalizeTime,
  parseInstant,
  parseTime,
} from './time.ts'

describe('times', () => {
  it('parses and formats the vectors in UTC', () => {
    for (const { text, printed, ms } of vectors.times) {
      expect({ text, printed: normalizeTime(text), ms: parseTime(text) }).toEqual({ text, printed, ms })
      expect(formatTime(ms)).toBe(printed)
    }
    for (const { text, printed } of vectors.microTimes)
      expect({ text, printed: normalizeMicroTime(text) }).toEqual({ text, printed })
  })

  it('rejects with the message of kube-apiserver', () => {
    const refusal = (text: string, message: string) =>
      new MetaError({ code: 'InvalidTime', message: `parsing time ${JSON.stringify(text)}${message}`, text })
    for (const { text, message } of vectors.notTimes) expect(() => parseTime(text), text).toThrow(refusal(text, message))
    for (const { text, message } of vectors.notMicroTimes)
      expect(() => normalizeMicroTime(text), text).toThrow(refusal(text, message))
    expect(() => parseTime('\u00e9"\n')).toThrow(
      'parsing time "\\xc3\\xa9\\"\\x0a" as "2006-01-02T15:04:05Z07:00": cannot parse "\\xc3\\xa9\\"\\x0a" as "2006"',
    )
  })

  it('formats times with milliseconds and microseconds', () => {
    expect(formatTime(1714557600999)).toBe('2024-05-01T10:00:00Z')
    expect(formatTime(-1)).toBe('1969-12-31T23:59:59Z')
    expect(formatMicroTime(1714557600123)).toBe('2024-05-01T10:00:00.123000Z')
    expect(formatMicroTime({ seconds: 0, nanos: 1999 })).toBe('1970-01-01T00:00:00.000001Z')
    expect(formatGoTime('2001-01-01T01:00:00.50+01:00')).toBe('2001-01-01 00:00:00.5 +0000 UTC')
    expect(formatGoTime('x')).toBeUndefined()
    expect(() => formatTime(Number.NaN)).toThrow(RangeError)
  })

  it('preserves every millisecond and microsecond of four-digit years', () => {
    const moment = fc.integer({ min: Date.parse('0001-01-01T00:00:00Z'), max: Date.parse('9999-12-31T23:59:59Z') })
    fc.assert(
      fc.property(moment, (ms) => {
        const text = new Date(ms).toISOString()
        expect(parseTime(text)).toBe(ms)
        expect(instantToMs(parseInstant(formatMicroTime(ms)))).toBe(ms)
        expect(normalizeTime(normalizeTime(text))).toBe(normalizeTime(text))
      }),
    )
  })
})

describe('durations', () => {
  it('parses and formats the vectors', () => {
    for (const { text, nanos, printed } of spans.valid) {
      expect({ text, nanos: String(parseDuration(text)), printed: formatDuration(parseDuration(text)) }).toEqual({
        text,
        nanos,
        printed,
      })
    }
  })

  it('rejects with the message of kube-apiserver', () => {
    for (const { text, message } of spans.invalid)
      expect(() => parseDuration(text), text).toThrow(new MetaError({ code: 'InvalidDuration', message, text }))
  })

  it('preserves every duration through formatting', () => {
    fc.assert(
      fc.property(fc.bigInt(-(2n ** 53n), 2n ** 53n), (nanos) => {
        expect(parseDuration(formatDuration(nanos))).toBe(nanos)
      }),
    )
    fc.assert(
      fc.property(fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n), (nanos) => {
        const text = formatDuration(nanos)
        expect(formatDuration(parseDuration(text))).toBe(text)
      }),
    )
  })

  it('converts milliseconds', () => {
    expect(parseDurationMs('1m30.5s')).toBe(90_500)
    expect(formatDurationMs(90_500)).toBe('1m30.5s')
    expect(parseDurationMs('999us')).toBe(0)
  })
})
