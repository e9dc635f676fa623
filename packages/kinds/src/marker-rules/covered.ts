/**
 * Which hand-written errors the rules of a release replace. On kube-apiserver both kinds of errors carry the rule that they are of, and an error
 * that a rule reports as well is left out; here the type, the field and the words of an error show it.
 */
import type { FieldError } from '@krmkit/meta'
import type { Problem } from './checks.ts'

/** The hand-written errors that no problem covers, followed by the problems. */
export function withProblems(errors: readonly FieldError[], problems: readonly Problem[]): FieldError[] {
  const covering = new Set(problems.map(({ error, origin }) => keyOf(error, familyOf(origin))))
  const others = errors.filter((error) => !covering.has(keyOf(error, familyOfText(error.message))))
  return [...others, ...problems.map(({ error }) => error)]
}

/** Only values that are invalid may break several rules of a field. */
function keyOf({ field, reason }: FieldError, family: string): string {
  return `${normalized(field)}\n${reason}\n${reason === 'FieldValueInvalid' ? family : ''}`
}

const families: Readonly<Record<string, string>> = {
  immutable: 'change',
  update: 'change',
  minimum: 'minimum',
  maximum: 'maximum',
  union: 'union',
  zeroOrOneOf: 'union',
  neq: 'neq',
  monotonic: 'monotonic',
}

const familyOf = (origin: string) => families[origin] ?? 'format'

const texts: readonly (readonly [text: RegExp, family: string])[] = [
  [/field is immutable/, 'change'],
  [/must be greater than (?:or equal to )?(?:-?\d|zero)/, 'minimum'],
  [/must be less than (?:or equal to )?-?\d/, 'maximum'],
  [/must be between -?\d/, 'range'],
  [/must be greater than or equal to `/, 'other'],
  [/must not be equal to/, 'neq'],
  [/may not be decreased/, 'monotonic'],
  [/must specify|exactly one|may not both be|mutually exclusive/, 'union'],
]

function familyOfText(message: string): string {
  return texts.find(([text]) => text.test(message))?.[1] ?? 'format'
}

/** Rules name fields of the version of the request, hand-written validation those of one version. */
function normalized(field: string): string {
  if (field.startsWith('spec.')) {
    return field
      .replace(
        /^(spec\.(?:spec\.)?devices\.requests\[\d+\])\.(deviceClassName|selectors|allocationMode|count|adminAccess|tolerations|derivedAttributes)/,
        '$1.exactly.$2',
      )
      .replace(/^(spec\.devices\[\d+\])\.basic\./, '$1.')
      .replace(/^spec\.runtimeHandler/, 'handler')
  }
  return field
}
