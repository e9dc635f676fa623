import { describe, expect, it } from 'vitest'
import { isTimeZone } from './time-zone.ts'

describe('isTimeZone', () => {
  it.each(
    'UTC GMT GMT0 Etc/GMT+1 Europe/Berlin US/Pacific EST EST5EDT W-SU NZ-CHAT GB-Eire Africa/Dar_es_Salaam America/Port-au-Prince Antarctica/McMurdo Europe/Isle_of_Man America/Knox_IN Factory'.split(
      ' ',
    ),
  )('knows %s', (name) => {
    expect(isTimeZone(name)).toBe(true)
  })

  it('knows every name that the platform knows', () => {
    expect(Intl.supportedValuesOf('timeZone').filter((name) => !isTimeZone(name))).toEqual([])
  })

  it.each([
    ...[
      '',
      'utc',
      'Utc',
      'europe/berlin',
      'EUROPE/BERLIN',
      'Us/Pacific',
      'est',
      'Est',
      'Z',
      'Local',
      '+01:00',
      '+01',
      ' UTC',
      'UTC+1',
    ],
    ...['JST', 'PST', 'SystemV/EST5', 'Europe/Nowhere', 'Europe', '../UTC', 'posixrules', 'Europe\\Berlin'],
  ])('does not know %j', (name) => {
    expect(isTimeZone(name)).toBe(false)
  })
})
