import { isDns1035Label, isDns1123Label, isDns1123Subdomain, isQualifiedName, isValidLabelValue, nameRules } from '@krmkit/meta'
import { stringFormats } from '../../structural/formats.ts'
import { declare, type FunctionDeclaration, method, overload } from '../declarations.ts'
import type { Meter } from '../meter.ts'
import { listOf, opaqueOf, optionalOf, stringType } from '../types.ts'
import { ArrayList, noValue, OpaqueValue, Optional, type Value } from '../values.ts'
import type { Library } from './library.ts'
import { parseRequestUrl } from './parse-url.ts'

/** `format.dns1123Label().validate(text)`: what is wrong with a text, where something is. */

const formatType = opaqueOf('kubernetes.NamedFormat')

type Check = (text: string) => readonly string[]

class Format extends OpaqueValue {
  readonly type = formatType
  readonly name: string
  readonly check: Check

  constructor(name: string, check: Check) {
    super()
    this.name = name
    this.check = check
  }

  equals(other: OpaqueValue): boolean {
    return other instanceof Format && other.name === this.name
  }
}

function byFormat(name: string, problem: string): Check {
  const fits = stringFormats.get(name)
  return (text) => (fits?.(text) === false ? [problem] : [])
}

const checks: Readonly<Record<string, Check>> = {
  dns1123Label: isDns1123Label,
  dns1123Subdomain: isDns1123Subdomain,
  dns1035Label: isDns1035Label,
  qualifiedName: isQualifiedName,
  dns1123LabelPrefix: (text) => nameRules.dns1123Label(text, true),
  dns1123SubdomainPrefix: (text) => nameRules.dns1123Subdomain(text, true),
  dns1035LabelPrefix: (text) => nameRules.dns1035Label(text, true),
  labelValue: isValidLabelValue,
  uri: (text) => {
    const parsed = parseRequestUrl(text)
    return 'problem' in parsed ? [parsed.problem] : []
  },
  uuid: byFormat('uuid', 'does not match the UUID format'),
  byte: byFormat('byte', 'invalid base64'),
  date: byFormat('date', 'invalid date'),
  datetime: byFormat('datetime', 'invalid datetime'),
}

const formats: ReadonlyMap<string, Format> = new Map(
  Object.entries(checks).map(([name, check]) => [name, new Format(name, check)]),
)

const functions: readonly FunctionDeclaration[] = [
  ...[...formats].map(([name, value]) =>
    declare(
      `format.${name}`,
      overload(`format_${name}`, [], formatType, () => value),
    ),
  ),
  declare(
    'format.named',
    overload('format-named', [stringType], optionalOf(formatType), (_: Meter, name: string) => {
      const found = formats.get(name)
      return found === undefined ? noValue : new Optional(found)
    }),
  ),
  declare(
    'validate',
    method(
      'format-validate',
      [formatType, stringType],
      optionalOf(listOf(stringType)),
      (meter: Meter, { check }: Format, text: string): Value => {
        meter.labor(1 + (text.length >> 2))
        const problems = check(text)
        return problems.length === 0 ? noValue : new Optional(new ArrayList(problems))
      },
    ),
  ),
]

export const namedFormats: Library = { name: 'formats', functions, types: [['kubernetes.NamedFormat', formatType]] }
