import { goQuoteShort } from '@krmkit/meta/go-text'
import { declare, type FunctionDeclaration, method, type Overload, overload } from '../values/declarations.ts'
import type { Meter } from '../values/meter.ts'
import { boolType, intType, opaqueOf, stringType } from '../values/types.ts'
import { ErrorValue, normalizeInt, OpaqueValue, type Value } from '../values/values.ts'
import { comparisons } from './comparisons.ts'
import type { Library } from './library.ts'

/** The semver library: `semver('1.2.3')`. */

const semverType = opaqueOf('kubernetes.Semver')

interface Version {
  readonly numbers: readonly [bigint, bigint, bigint]
  readonly pre: readonly string[]
}

class Semver extends OpaqueValue {
  readonly type = semverType
  readonly version: Version

  constructor(version: Version) {
    super()
    this.version = version
  }

  equals(other: OpaqueValue): boolean {
    return other instanceof Semver && compareVersions(this.version, other.version) === 0
  }
}

const maxNumber = 2n ** 64n - 1n
const digits = /^[0-9]*$/
const words = /^[0-9A-Za-z-]*$/

/** Parse error. */
class ParseError extends Error {}

function parse(text: string): Version {
  if (text === '') throw new ParseError('Version string empty')
  const parts = splitInThree(text)
  if (parts.length < 3) throw new ParseError('No Major.Minor.Patch elements found')
  const [major, minor, rest] = parts as [string, string, string]
  const plus = rest.indexOf('+')
  const front = plus < 0 ? rest : rest.slice(0, plus)
  const dash = front.indexOf('-')
  const numbers = [
    numberOf('Major', major),
    numberOf('Minor', minor),
    numberOf('Patch', dash < 0 ? front : front.slice(0, dash)),
  ] as const
  const pre = dash < 0 ? [] : front.slice(dash + 1).split('.')
  for (const part of pre) checkPrerelease(part)
  for (const part of plus < 0 ? [] : rest.slice(plus + 1).split('.')) {
    if (part === '') throw new ParseError('Build meta data is empty')
    if (!words.test(part)) throw new ParseError(`Invalid character(s) found in build meta data ${goQuoteShort(part)}`)
  }
  return { numbers, pre }
}

/** Splits at the first two dots only. */
function splitInThree(text: string): string[] {
  const [first, second] = [text.indexOf('.'), text.indexOf('.', text.indexOf('.') + 1)]
  if (first < 0) return [text]
  if (second <= first) return [text.slice(0, first), text.slice(first + 1)]
  return [text.slice(0, first), text.slice(first + 1, second), text.slice(second + 1)]
}

function numberOf(name: string, text: string): bigint {
  if (!digits.test(text)) throw new ParseError(`Invalid character(s) found in ${name.toLowerCase()} number ${goQuoteShort(text)}`)
  if (/^0./.test(text)) throw new ParseError(`${name} number must not contain leading zeroes ${goQuoteShort(text)}`)
  return unsigned(text)
}

function unsigned(text: string): bigint {
  if (text === '') throw new ParseError('strconv.ParseUint: parsing "": invalid syntax')
  const value = text.length > 20 ? maxNumber + 1n : BigInt(text)
  if (value > maxNumber) throw new ParseError(`strconv.ParseUint: parsing ${goQuoteShort(text)}: value out of range`)
  return value
}

function checkPrerelease(part: string): void {
  if (part === '') throw new ParseError('Prerelease is empty')
  if (!words.test(part)) throw new ParseError(`Invalid character(s) found in prerelease ${goQuoteShort(part)}`)
  if (!digits.test(part)) return
  if (/^0./.test(part)) throw new ParseError(`Numeric PreRelease version must not contain leading zeroes ${goQuoteShort(part)}`)
  unsigned(part)
}

/** Normalizes a leading `v`, missing parts and leading zeros. */
function normalized(text: string): string {
  const parts = splitInThree(text.replace(/^v/, '')).map((part) => {
    if (part.length < 2) return part
    const bare = part.replace(/^0+/, '')
    return /^[0-9]/.test(bare) ? bare : `0${bare}`
  })
  if (parts.length < 3 && /[+-]/.test(parts.at(-1) as string)) {
    throw new ParseError('short version cannot contain PreRelease/Build meta data')
  }
  while (parts.length < 3) parts.push('0')
  return parts.join('.')
}

function compareVersions(a: Version, b: Version): number {
  for (let i = 0; i < 3; i++) {
    const [x, y] = [a.numbers[i] as bigint, b.numbers[i] as bigint]
    if (x !== y) return x < y ? -1 : 1
  }
  if (a.pre.length === 0 || b.pre.length === 0) return Math.sign(b.pre.length - a.pre.length)
  for (let i = 0; i < Math.min(a.pre.length, b.pre.length); i++) {
    const order = compareParts(a.pre[i] as string, b.pre[i] as string)
    if (order !== 0) return order
  }
  return Math.sign(a.pre.length - b.pre.length)
}

/** Numeric identifiers precede alphanumeric ones. */
function compareParts(a: string, b: string): number {
  const [x, y] = [/^\d+$/.test(a), /^\d+$/.test(b)]
  if (x && y) return BigInt(a) < BigInt(b) ? -1 : BigInt(a) > BigInt(b) ? 1 : 0
  if (x !== y) return x ? -1 : 1
  return a < b ? -1 : a > b ? 1 : 0
}

function read(_: Meter, text: string, normalize = false): Value {
  try {
    return new Semver(parse(normalize ? normalized(text) : text))
  } catch (error) {
    if (error instanceof ParseError) return new ErrorValue(error.message)
    throw error
  }
}

function texts(
  id: string,
  run: (meter: Meter, text: string, normalize?: boolean) => Value,
  result: typeof semverType | typeof boolType,
): readonly Overload[] {
  return [overload(`${id}_string`, [stringType], result, run), overload(`${id}_string_bool`, [stringType, boolType], result, run)]
}

const number =
  (index: 0 | 1 | 2) =>
  (_: Meter, { version }: Semver) =>
    normalizeInt(BigInt.asIntN(64, version.numbers[index]))

const functions: readonly FunctionDeclaration[] = [
  declare('semver', ...texts('semver', read, semverType)),
  declare(
    'isSemver',
    ...texts('is_semver', (meter, text, normalize) => !(read(meter, text, normalize) instanceof ErrorValue), boolType),
  ),
  ...comparisons('semver', semverType, (a: Semver, b: Semver) => compareVersions(a.version, b.version)),
  declare('major', method('semver_major', [semverType], intType, number(0))),
  declare('minor', method('semver_minor', [semverType], intType, number(1))),
  declare('patch', method('semver_patch', [semverType], intType, number(2))),
]

/** The library for device selectors of releases that do not include it in all environments: without normalization. */
export const plainSemver: Library = {
  name: 'semver',
  functions: functions.map(({ name, overloads }) => declare(name, ...overloads.filter(({ id }) => !id.endsWith('_string_bool')))),
}

export const semver: Library = { name: 'semver', functions }
