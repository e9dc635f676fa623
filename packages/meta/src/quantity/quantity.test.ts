import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import vectors from '../../testdata/quantities.json' with { type: 'json' }
import { MetaError } from '../meta-error.ts'
import { normalizeQuantity, Quantity } from './quantity.ts'
import { readQuantityFields } from './quantity-fields.ts'
import { quantityFormatError } from './quantity-text.ts'

interface Valid {
  readonly text: string
  readonly canonical: string
  readonly printed?: string
  readonly format: string
  readonly value: string
}

const suffixes = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'e0', 'e3', 'e-4', 'E7']
const amountText = fc
  .tuple(fc.constantFrom('', '-'), fc.bigInt(0n, 10n ** 20n), fc.option(fc.bigInt(0n, 10n ** 12n)), fc.constantFrom(...suffixes))
  .map(([sign, whole, fraction, suffix]) => `${sign}${whole}${fraction === null ? '' : `.${fraction}`}${suffix}`)
const amount = amountText.map((text) => Quantity.parse(text))
const decimal = fc
  .tuple(fc.bigInt(-(10n ** 20n), 10n ** 20n), fc.integer({ min: -9, max: 20 }))
  .map(([value, exponent]) => Quantity.of(value, exponent))

describe('Quantity', () => {
  it('parses and formats the vectors', () => {
    for (const { text, canonical, printed = canonical, format, value } of vectors.valid as readonly Valid[]) {
      const quantity = Quantity.parse(text)
      const actual = {
        canonical: quantity.canonical(),
        printed: String(quantity),
        format: quantity.format,
        value: String(quantity.value()),
      }
      expect({ text, ...actual }).toEqual({ text, canonical, printed, format, value })
      expect(JSON.stringify({ quantity })).toBe(JSON.stringify({ quantity: printed }))
    }
  })

  it('rejects with the message of kube-apiserver', () => {
    const message = (text: string) => {
      expect(Quantity.isValid(text)).toBe(false)
      try {
        return String(Quantity.parse(text))
      } catch (error) {
        expect(error).toBeInstanceOf(MetaError)
        expect((error as MetaError).code).toBe('InvalidQuantity')
        return (error as Error).message
      }
    }
    for (const text of vectors.format) expect({ text, message: message(text) }).toEqual({ text, message: quantityFormatError })
    for (const text of vectors.suffix)
      expect({ text, message: message(text) }).toEqual({ text, message: "unable to parse quantity's suffix" })
    for (const text of vectors.numeric)
      expect({ text, message: message(text) }).toEqual({ text, message: 'unable to parse numeric part of quantity' })
    expect(message('1'.repeat(1001))).toBe('unable to parse numeric part of quantity')
    expect(message(`${'1'.repeat(500_000)}x`)).toBe(quantityFormatError)
    expect(message(`1.${'1'.repeat(500_000)}x`)).toBe(quantityFormatError)
  })

  it('prints sums with zero canonically', () => {
    const zero = Quantity.parse('0')
    for (const [text, printed] of [
      ['1.', '1'],
      ['+1m', '1m'],
      ['1e0', '1'],
      ['005', '5'],
    ] as const) {
      const quantity = Quantity.parse(text)
      expect([quantity.add(zero), zero.add(quantity), quantity.sub(zero)].map(String)).toEqual([printed, printed, printed])
      expect(String(quantity)).toBe(text)
    }
  })

  it('accepts JSON numbers and text with surrounding spaces', () => {
    expect(normalizeQuantity(1.5)).toBe('1500m')
    expect(normalizeQuantity(2000n)).toBe('2k')
    expect(normalizeQuantity(' 1Gi ')).toBe('1Gi')
    expect(normalizeQuantity(1e21)).toBe('1e+21')
    expect(() => normalizeQuantity(Number.NaN)).toThrow(quantityFormatError)
  })

  it('compares across suffixes', () => {
    const ascending = [
      '-1E',
      '-1',
      '-1n',
      '0',
      '1n',
      '999u',
      '1m',
      '999m',
      '1',
      '1k',
      '1Ki',
      '1025',
      '1M',
      '1Mi',
      '1E',
      '7Ei',
      '1e30',
      '1e1000',
    ]
    ascending.forEach((a, i) => {
      ascending.forEach((b, j) => {
        expect([a, b, Math.sign(Quantity.parse(a).compare(Quantity.parse(b)))]).toEqual([a, b, Math.sign(i - j)])
      })
    })
    expect(Quantity.parse('1024').equals(Quantity.parse('1Ki'))).toBe(true)
  })

  it('adds in the format of the first operand, or of the second when the first is zero', () => {
    const sum = (a: string, b: string) => String(Quantity.parse(a).add(Quantity.parse(b)))
    expect(sum('1Gi', '1G')).toBe('2073741824')
    expect(sum('1Gi', '1024Mi')).toBe('2Gi')
    expect(sum('0', '1Ki')).toBe('1Ki')
    expect(sum('1k', '1Ki')).toBe('2024')
    expect(sum('2', '500m')).toBe('2500m')
    expect(sum('1E', '1n')).toBe('1000000000000000000000000001n')
    expect(String(Quantity.parse('0').sub(Quantity.parse('1Ki')))).toBe('-1Ki')
    expect(String(Quantity.parse('3').mul(-2))).toBe('-6')
  })

  it('rounds integers away from zero', () => {
    expect(Quantity.parse('1001m').milliValue()).toBe(1001n)
    expect(Quantity.parse('1.0001').milliValue()).toBe(1001n)
    expect(Quantity.parse('-1.0001').milliValue()).toBe(-1001n)
    expect(Quantity.parse('1.5Gi').scaledValue(6)).toBe(1611n)
    expect(Quantity.parse('2Ki').asInt64()).toBe(2048n)
    expect(Quantity.parse('1500m').asInt64()).toBeUndefined()
    expect(Quantity.parse('1e19').asInt64()).toBeUndefined()
    expect(Quantity.parse('-9223372036854775808').asInt64()).toBeUndefined()
    expect(Quantity.of(-(2n ** 63n)).asInt64()).toBe(-9223372036854775808n)
    expect(
      Quantity.of(2n ** 63n - 1n)
        .add(Quantity.of(1))
        .asInt64(),
    ).toBeUndefined()
    for (const text of ['1.0', '1000m', '0m']) expect(Quantity.parse(text).asInt64()).toBeUndefined()
    expect(Quantity.parse('0.5').add(Quantity.parse('0.5')).asInt64()).toBeUndefined()
    expect(Quantity.parse('0.5').sub(Quantity.parse('0.5')).asInt64()).toBeUndefined()
    expect(Quantity.parse('0').add(Quantity.parse('3k')).asInt64()).toBe(3000n)
    expect(String(Quantity.parse('1234n').roundUp(-6))).toBe('2u')
    expect(String(Quantity.parse('1.500').roundUp(-3))).toBe('1.500')
    expect(String(Quantity.of(15, -10))).toBe('2n')
    expect(Quantity.parse('-1500m').approximate()).toBe(-1.5)
    expect([Quantity.parse('-1m').sign(), Quantity.parse('0').sign(), Quantity.parse('1n').sign()]).toEqual([-1, 0, 1])
    expect(String(Quantity.parse('2Ki').withFormat('DecimalSI'))).toBe('2048')
  })

  // Results of the Go library for these texts.
  it.each([
    ['0.3', 0.30000000000000004],
    ['0.7', 0.7000000000000001],
    ['1.1', 1.1],
    ['7n', 7.000000000000001e-9],
    ['100m', 0.1],
    ['1.5Gi', 1.610612736e9],
    ['914.0Ti', 1.0049536277872641e15],
    ['6.5771322Mi', 6.8966229737472e6],
    ['8427027118Mi', 8.836378387283969e15],
    ['8421Ki', 8.623104e6],
    ['12345678901234567890', 1.234567890123457e19],
    ['1e300', 1e300],
    ['123e-7', 1.2299999999999999e-5],
    ['-0.3', -0.30000000000000004],
    ['99999999999999999999E', 1.0000000000000002e38],
    ['1e308', 1e308],
    ['1e309', Number.POSITIVE_INFINITY],
    ['0', 0],
    ['0.6u', 6e-7],
    ['9007199254740993', 9.007199254740992e15],
  ])('approximates %s like the Go library: %d', (text, number) => {
    expect(Quantity.parse(text).approximate()).toBe(number)
  })

  it('approximates sums, differences and products like the Go library', () => {
    const of = (text: string) => Quantity.parse(text)
    expect(of('0.1').add(of('0.2')).approximate()).toBe(0.30000000000000004)
    expect(of('5k').add(of('0')).approximate()).toBe(5000)
    expect(of('0').sub(of('0.3')).approximate()).toBe(-0.30000000000000004)
    expect(of('914.0Ti').add(of('1')).sub(of('1')).approximate()).toBe(1004953627787264.1)
  })

  it('preserves amount and canonical text when parsed again', () => {
    fc.assert(
      fc.property(amount, (quantity) => {
        const again = Quantity.parse(quantity.canonical())
        expect(again.equals(quantity)).toBe(true)
        expect(again.canonical()).toBe(quantity.canonical())
        expect(Quantity.parse(String(quantity)).equals(quantity)).toBe(true)
      }),
    )
  })

  it('obeys the laws of arithmetic', () => {
    fc.assert(
      fc.property(decimal, decimal, decimal, (a, b, c) => {
        expect(a.add(b).equals(b.add(a))).toBe(true)
        expect(
          a
            .add(b)
            .add(c)
            .equals(a.add(b.add(c))),
        ).toBe(true)
        expect(a.add(b).sub(b).equals(a)).toBe(true)
        expect(a.sub(a).isZero()).toBe(true)
        expect(a.neg().neg().equals(a)).toBe(true)
        expect(Math.sign(a.compare(b))).toBe(a.sub(b).sign())
        expect(Math.sign(a.compare(b))).toBe(-Math.sign(b.compare(a)) || 0)
        expect(a.mul(3).equals(a.add(a).add(a))).toBe(true)
      }),
    )
  })

  it('throws only MetaError for any text', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[+-]?[0-9.]{0,8}[eEinumkKMGTP]{0,3}[-+]?[0-9]{0,6}$/)), (text) => {
        try {
          Quantity.parse(text).canonical()
        } catch (error) {
          expect(error).toBeInstanceOf(MetaError)
        }
      }),
    )
  })
})

describe('the fields of a parsed quantity', () => {
  it.each([
    ['0', { value: 0n, scale: 0, decimal: undefined, text: '0', format: 'DecimalSI' }],
    ['500m', { value: 500n, scale: -3, decimal: undefined, text: '500m', format: 'DecimalSI' }],
    ['0.6', { value: 6n, scale: -1, decimal: undefined, text: '', format: 'DecimalSI' }],
    ['1Gi', { value: 2n ** 30n, scale: 0, decimal: undefined, text: '1Gi', format: 'BinarySI' }],
    ['128Mi', { value: 2n ** 27n, scale: 0, decimal: undefined, text: '', format: 'BinarySI' }],
    ['-1', { value: -1n, scale: 0, decimal: undefined, text: '-1', format: 'DecimalSI' }],
    ['0.5Gi', { value: 0n, scale: 0, decimal: '536870912.000000000', text: '', format: 'BinarySI' }],
  ] as const)('are those of the stock library: %s', (text, fields) => {
    expect(readQuantityFields(text)).toEqual(fields)
  })
})
