import { nameRules } from '@krmkit/meta'
import { stringFormats } from '@krmkit/meta/formats'
import {
  validateDns1035Label,
  validateDns1123Label,
  validateDns1123Subdomain,
  validateLabelValue,
  validateQualifiedNameFormat,
} from '@krmkit/meta/names'
import { declare, type FunctionDeclaration, method, overload } from '../values/declarations.ts'
import type { Meter } from '../values/meter.ts'
import { NamedFormat, namedFormatType } from '../values/named-format.ts'
import { listOf, optionalOf, stringType } from '../values/types.ts'
import { ArrayList, Optional, optionalNone, type Value } from '../values/values.ts'
import type { Library } from './library.ts'
import { parseRequestUrl } from './parse-url.ts'

/** Named formats: `format.dns1123Label().validate(text)` returns the problems of a text, if any. */

type Check = NamedFormat['check']

function byFormat(name: string, problem: string): Check {
  const fits = stringFormats.get(name)
  return (text) => (fits?.(text) === false ? [problem] : [])
}

function checkUri(text: string): readonly string[] {
  const parsed = parseRequestUrl(text)
  return 'problem' in parsed ? [parsed.problem] : []
}

const list: readonly (readonly [name: string, patternSize: number, check: Check])[] = [
  ['dns1123Label', 30, validateDns1123Label],
  ['dns1123Subdomain', 60, validateDns1123Subdomain],
  ['dns1035Label', 30, validateDns1035Label],
  ['qualifiedName', 60, validateQualifiedNameFormat],
  ['dns1123LabelPrefix', 30, (text) => nameRules.dns1123Label(text, true)],
  ['dns1123SubdomainPrefix', 60, (text) => nameRules.dns1123Subdomain(text, true)],
  ['dns1035LabelPrefix', 30, (text) => nameRules.dns1035Label(text, true)],
  ['labelValue', 40, validateLabelValue],
  ['uri', 1103, checkUri],
  ['uuid', 70, byFormat('uuid', 'does not match the UUID format')],
  ['byte', 84, byFormat('byte', 'invalid base64')],
  ['date', 71, byFormat('date', 'invalid date')],
  ['datetime', 71, byFormat('datetime', 'invalid datetime')],
]

const formats: ReadonlyMap<string, NamedFormat> = new Map(
  list.map(([name, patternSize, check]) => [name, new NamedFormat(name, check, patternSize)]),
)

const functions: readonly FunctionDeclaration[] = [
  ...[...formats].map(([name, value]) =>
    declare(
      `format.${name}`,
      overload(`format_${name}`, [], namedFormatType, () => value),
    ),
  ),
  declare(
    'format.named',
    overload('format-named', [stringType], optionalOf(namedFormatType), (_: Meter, name: string) => {
      const found = formats.get(name)
      return found === undefined ? optionalNone : new Optional(found)
    }),
  ),
  declare(
    'validate',
    method(
      'format-validate',
      [namedFormatType, stringType],
      optionalOf(listOf(stringType)),
      (meter: Meter, { check }: NamedFormat, text: string): Value => {
        meter.chargeWork(1 + (text.length >> 2))
        const problems = check(text)
        return problems.length === 0 ? optionalNone : new Optional(new ArrayList(problems))
      },
    ),
  ),
]

export const namedFormats: Library = { name: 'formats', functions }
