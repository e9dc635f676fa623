import { describe, expect, it } from 'vitest'
import { parseSchedule } from './schedule.ts'

/** Returns the next times of a schedule. */
function times(text: string, after: string, { zone, count = 3 }: { zone?: string; count?: number } = {}): string[] {
  const schedule = parseSchedule(text, zone)!
  const found: string[] = []
  let ms = Date.parse(after)
  for (let i = 0; i < count; i++) {
    ms = schedule.next(ms) ?? Number.NaN
    found.push(new Date(ms).toISOString().replace(':00.000Z', 'Z'))
  }
  return found
}

describe('parseSchedule', () => {
  it.each([
    ['*/15 * * * *', ['2024-01-31T23:45Z', '2024-02-01T00:00Z', '2024-02-01T00:15Z']],
    ['0 6-20/7 * * *', ['2024-02-01T06:00Z', '2024-02-01T13:00Z', '2024-02-01T20:00Z']],
    ['30 4 1,15 * *', ['2024-02-01T04:30Z', '2024-02-15T04:30Z', '2024-03-01T04:30Z']],
    ['0 0 * * MON-tue', ['2024-02-05T00:00Z', '2024-02-06T00:00Z', '2024-02-12T00:00Z']],
    ['0 0 29 feb *', ['2024-02-29T00:00Z', '2028-02-29T00:00Z', '2032-02-29T00:00Z']],
    ['0 0 13 * 5', ['2024-02-02T00:00Z', '2024-02-09T00:00Z', '2024-02-13T00:00Z']],
    ['@monthly', ['2024-02-01T00:00Z', '2024-03-01T00:00Z', '2024-04-01T00:00Z']],
    ['5/20 1 * * *', ['2024-02-01T01:05Z', '2024-02-01T01:25Z', '2024-02-01T01:45Z']],
  ])('%s', (text, expected) => {
    expect(times(text, '2024-01-31T23:35:30Z')).toEqual(expected)
  })

  it('counts @every intervals from the last time', () => {
    expect(times('@every 90m', '2024-01-01T00:00:00.500Z', { count: 2 })).toEqual(['2024-01-01T01:30Z', '2024-01-01T03:00Z'])
  })

  it('uses the wall clock of the time zone', () => {
    const zone = 'Europe/Berlin'
    expect(times('0 9 * * *', '2024-03-29T12:00:00Z', { zone })).toEqual([
      '2024-03-30T08:00Z',
      '2024-03-31T07:00Z',
      '2024-04-01T07:00Z',
    ])
    expect(times('TZ=Asia/Kolkata 0 0 * * *', '2024-01-01T00:00:00Z', { zone, count: 1 })).toEqual(['2024-01-01T18:30Z'])
  })

  it('skips hours that a clock change skips and repeats hours that it repeats', () => {
    const zone = 'America/New_York'
    expect(times('30 2 * * *', '2024-03-10T00:00:00Z', { zone, count: 2 })).toEqual(['2024-03-11T06:30Z', '2024-03-12T06:30Z'])
    expect(times('30 1 * * *', '2024-11-03T04:00:00Z', { zone, count: 2 })).toEqual(['2024-11-03T05:30Z', '2024-11-03T06:30Z'])
  })

  it('finds times next to a clock change in the middle of an hour', () => {
    // At 02:00, clocks go back by 30 minutes.
    expect(times('45 * * * *', '2024-04-06T14:00:00Z', { zone: 'Australia/Lord_Howe' })).toEqual([
      '2024-04-06T14:45Z',
      '2024-04-06T15:15Z',
      '2024-04-06T16:15Z',
    ])
    // At 00:01, clocks went back to 23:01.
    expect(times('0 * * * *', '2010-11-07T02:00:00Z', { zone: 'America/St_Johns', count: 2 })).toEqual([
      '2010-11-07T02:30Z',
      '2010-11-07T03:30Z',
    ])
  })

  it('starts a day without midnight at its first existing hour', () => {
    expect(times('@daily', '2018-11-03T12:00:00Z', { zone: 'America/Sao_Paulo', count: 2 })).toEqual([
      '2018-11-05T02:00Z',
      '2018-11-06T02:00Z',
    ])
  })

  it.each([
    '',
    '* * * *',
    '60 * * * *',
    '* * 0 * *',
    '* * * * 7',
    '5-1 * * * *',
    '*/0 * * * *',
    '@often',
    '@every x',
    'TZ=Mars 0 0 * * *',
  ])('refuses %j', (text) => {
    expect(parseSchedule(text)).toBeUndefined()
  })

  it('parses many spaces after a zone in linear time', () => {
    expect(parseSchedule(`TZ=UTC x${' '.repeat(300_000)}x\nx`)).toBeUndefined()
    expect(parseSchedule(`TZ=UTC${' '.repeat(300_000)}x\nx`)).toBeUndefined()
  })

  it('finds no time for a day that does not exist', () => {
    expect(parseSchedule('59 23 31 2 *')?.next(Date.UTC(2024, 0, 1))).toBeUndefined()
  })
})
