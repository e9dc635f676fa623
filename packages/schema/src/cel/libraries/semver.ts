import { declare, type FunctionDeclaration, method, type Overload, overload } from '../declarations.ts'
import type { Meter } from '../meter.ts'
import { boolType, intType, opaqueOf, stringType } from '../types.ts'
import { Fault, normalizeInt, OpaqueValue, type Value } from '../values.ts'
import type { Library } from './library.ts'

/** `semver('1.2.3')`: versions and their order. */

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

const form = /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-([0-9A-Za-z.-]*))?(?:\+([0-9A-Za-z.-]*))?$/
const maxNumber = 2n ** 64n - 1n
const maxLength = 4096

function parse(text: string): Version | string {
  if (text === '') return 'Version string empty'
  if (text.split('.', 3).length < 3) return 'No Major.Minor.Patch elements found'
  const found = text.length > maxLength ? null : form.exec(text)
  if (found === null) return `Invalid character(s) found in version ${JSON.stringify(text.slice(0, 256))}`
  const numbers = found.slice(1, 4).map((part) => BigInt(part as string)) as unknown as readonly [bigint, bigint, bigint]
  if (numbers.some((number) => number > maxNumber)) return `Number too large in version ${JSON.stringify(text.slice(0, 256))}`
  const pre = found[4] === undefined ? [] : found[4].split('.')
  const build = found[5] === undefined ? [] : found[5].split('.')
  if (pre.includes('')) return 'Prerelease is empty'
  if (pre.some((part) => /^0\d+$/.test(part))) return 'Numeric PreRelease version must not contain leading zeroes'
  return build.includes('') ? 'Build meta data is empty' : { numbers, pre }
}

/** As people write them: a `v` in front, missing parts, leading zeros. */
function normalized(text: string): string {
  const trimmed = text.trim().replace(/^v/, '')
  const end = trimmed.search(/[+-]/)
  const main = end < 0 ? trimmed : trimmed.slice(0, end)
  const parts = main.split('.').map((part) => (/^\d+$/.test(part) ? part.replace(/^0+(?=\d)/, '') : part))
  while (parts.length < 3) parts.push('0')
  return parts.join('.') + (end < 0 ? '' : trimmed.slice(end))
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

/** Numbers come before words. */
function compareParts(a: string, b: string): number {
  const [x, y] = [/^\d+$/.test(a), /^\d+$/.test(b)]
  if (x && y) return BigInt(a) < BigInt(b) ? -1 : BigInt(a) > BigInt(b) ? 1 : 0
  if (x !== y) return x ? -1 : 1
  return a < b ? -1 : a > b ? 1 : 0
}

function read(_: Meter, text: string, normalize = false): Value {
  const version = parse(normalize ? normalized(text) : text)
  return typeof version === 'string' ? new Fault(version) : new Semver(version)
}

function texts(
  id: string,
  run: (meter: Meter, text: string, normalize?: boolean) => Value,
  result: typeof semverType | typeof boolType,
): readonly Overload[] {
  return [overload(`${id}_string`, [stringType], result, run), overload(`${id}_string_bool`, [stringType, boolType], result, run)]
}

const two = [semverType, semverType]
const order = (test: (order: number) => boolean) => (_: Meter, a: Semver, b: Semver) =>
  test(compareVersions(a.version, b.version))
const number =
  (index: 0 | 1 | 2) =>
  (_: Meter, { version }: Semver) =>
    normalizeInt(version.numbers[index])

const functions: readonly FunctionDeclaration[] = [
  declare('semver', ...texts('semver', read, semverType)),
  declare(
    'isSemver',
    ...texts('is_semver', (meter, text, normalize) => !(read(meter, text, normalize) instanceof Fault), boolType),
  ),
  declare(
    'isGreaterThan',
    method(
      'semver_is_greater_than',
      two,
      boolType,
      order((each) => each > 0),
    ),
  ),
  declare(
    'isLessThan',
    method(
      'semver_is_less_than',
      two,
      boolType,
      order((each) => each < 0),
    ),
  ),
  declare(
    'compareTo',
    method('semver_compare_to', two, intType, (_: Meter, a: Semver, b: Semver) => compareVersions(a.version, b.version)),
  ),
  declare('major', method('semver_major', [semverType], intType, number(0))),
  declare('minor', method('semver_minor', [semverType], intType, number(1))),
  declare('patch', method('semver_patch', [semverType], intType, number(2))),
]

export const semver: Library = { name: 'semver', functions, types: [['kubernetes.Semver', semverType]] }
