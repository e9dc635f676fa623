/**
 * Formats of names, keys and other short text.
 *
 * Every function returns the errors in the wording of kube-apiserver; an empty list means that the text is valid. Lengths are
 * in UTF-8 bytes. All regular expressions run in linear time.
 */

import { utf8Length } from '../go-text.ts'

/** Maximum length of DNS labels, label values and the name part of qualified names. */
export const maxLabelLength = 63
/** Maximum length of DNS subdomains. */
export const maxSubdomainLength = 253

const labelFormat = '[a-z0-9]([-a-z0-9]*[a-z0-9])?'
const subdomainFormat = `${labelFormat}(\\.${labelFormat})*`
const dns1035Format = '[a-z]([-a-z0-9]*[a-z0-9])?'
const wildcardFormat = `\\*\\.${subdomainFormat}`
const nameFormat = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]'
const labelValueFormat = `(${nameFormat})?`
const identifierFormat = '[A-Za-z_][A-Za-z0-9_]*'
const headerFormat = '[-A-Za-z0-9]+'
const variableFormat = '[-._a-zA-Z][-._a-zA-Z0-9]*'
const configKeyFormat = '[-._a-zA-Z0-9]+'
const percentFormat = '[0-9]+%'

const label = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/
const dns1035 = /^[a-z](?:[-a-z0-9]*[a-z0-9])?$/
const namePart = /^(?:[A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/
const identifier = /^[A-Za-z_][A-Za-z0-9_]*$/
const header = /^[-A-Za-z0-9]+$/
const variable = /^[-._a-zA-Z][-._a-zA-Z0-9]*$/
const relaxedVariable = /^[ -<>-~]+$/
const configKey = /^[-._a-zA-Z0-9]+$/
const percent = /^[0-9]+%$/
const underscoreLabel = /^_?[a-z0-9](?:[-_a-z0-9]*[a-z0-9])?$/

const labelText =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character"
const subdomainText =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character"
const underscoreSubdomainText = subdomainText.replace("'-' or '.'", "'_', '-' or '.'")
const dns1035Text =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character"
const wildcardText =
  "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character"
const namePartText =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character"
const labelValueText =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character"

const labelError = formatRegexError(labelText, labelFormat, 'my-name', '123-abc')
const subdomainError = formatRegexError(subdomainText, subdomainFormat, 'example.com')
// kube-apiserver shows the expression without the underscore.
const underscoreSubdomainError = formatRegexError(underscoreSubdomainText, subdomainFormat, 'example.com')
const dns1035Error = formatRegexError(dns1035Text, dns1035Format, 'my-name', 'abc-123')
const wildcardError = formatRegexError(wildcardText, wildcardFormat, '*.example.com')
const namePartError = formatRegexError(namePartText, nameFormat, 'MyName', 'my.name', '123-abc')
const labelValueError = formatRegexError(labelValueText, labelValueFormat, 'MyValue', 'my_value', '12345')

/**
 * A lowercase DNS label: letters, digits and inner dashes, at most 63 bytes.
 *
 * @example
 * import { validateDns1123Label } from '@krmkit/meta/names'
 * validateDns1123Label('web-1') // []
 * validateDns1123Label('Web').length // 1
 */
export function validateDns1123Label(text: string): string[] {
  if (text.length <= maxLabelLength && label.test(text)) return []
  const errors = validateMaxLength(text, maxLabelLength)
  if (!label.test(text)) errors.push(isSubdomain(text) ? 'must not contain dots' : labelError)
  return errors
}

/**
 * DNS labels joined by dots, at most 253 bytes.
 *
 * @example
 * import { validateDns1123Subdomain } from '@krmkit/meta/names'
 * validateDns1123Subdomain('web.shop.example.com') // []
 * @see {@link validateDns1123Label}
 */
export function validateDns1123Subdomain(text: string): string[] {
  const errors = validateMaxLength(text, maxSubdomainLength)
  if (!isSubdomain(text)) errors.push(subdomainError)
  return errors
}

/** A DNS subdomain that may contain underscores. @see {@link validateDns1123Label} */
export function validateDns1123SubdomainWithUnderscore(text: string): string[] {
  const errors = validateMaxLength(text, maxSubdomainLength)
  if (!text.split('.').every((part) => underscoreLabel.test(part))) errors.push(underscoreSubdomainError)
  return errors
}

/**
 * A DNS label that starts with a letter.
 *
 * @example
 * import { validateDns1035Label } from '@krmkit/meta/names'
 * validateDns1035Label('web-1') // []
 * validateDns1035Label('1-web').length // 1
 */
export function validateDns1035Label(text: string): string[] {
  const errors = validateMaxLength(text, maxLabelLength)
  if (!dns1035.test(text)) errors.push(dns1035Error)
  return errors
}

/**
 * `*.` followed by a DNS subdomain.
 *
 * @example
 * import { validateWildcardDns1123Subdomain } from '@krmkit/meta/names'
 * validateWildcardDns1123Subdomain('*.shop.example.com') // []
 */
export function validateWildcardDns1123Subdomain(text: string): string[] {
  const errors = validateMaxLength(text, maxSubdomainLength)
  if (!text.startsWith('*.') || !isSubdomain(text.slice(2))) errors.push(wildcardError)
  return errors
}

/**
 * Key of a label or annotation: a name, optionally prefixed by a DNS subdomain and a slash.
 *
 * @example
 * import { validateQualifiedNameFormat } from '@krmkit/meta/names'
 * validateQualifiedNameFormat('app.kubernetes.io/name') // []
 * validateQualifiedNameFormat('a/b/c').length // 1
 */
export function validateQualifiedNameFormat(text: string): string[] {
  const slash = text.indexOf('/')
  if (slash < 0 && text.length <= maxLabelLength && namePart.test(text)) return []
  if (slash >= 0 && text.indexOf('/', slash + 1) >= 0) {
    return [`a qualified name ${namePartError} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`]
  }
  const errors: string[] = []
  if (slash === 0) errors.push('prefix part must be non-empty')
  else if (slash > 0) for (const error of validateDns1123Subdomain(text.slice(0, slash))) errors.push(`prefix part ${error}`)
  const name = slash < 0 ? text : text.slice(slash + 1)
  if (name === '') errors.push('name part must be non-empty')
  else for (const error of validateMaxLength(name, maxLabelLength)) errors.push(`name part ${error}`)
  if (!namePart.test(name)) errors.push(`name part ${namePartError}`)
  return errors
}

/**
 * Value of a label: empty, or a name of at most 63 bytes.
 *
 * @example
 * import { validateLabelValue } from '@krmkit/meta/names'
 * validateLabelValue('v1.2') // []
 * validateLabelValue('two words').length // 1
 */
export function validateLabelValue(text: string): string[] {
  const errors = validateMaxLength(text, maxLabelLength)
  if (text !== '' && !namePart.test(text)) errors.push(labelValueError)
  return errors
}

/**
 * Key in a ConfigMap or Secret, which becomes a file name.
 *
 * @example
 * import { validateConfigMapKey } from '@krmkit/meta/names'
 * validateConfigMapKey('app.conf') // []
 * validateConfigMapKey('..').length // 1
 */
export function validateConfigMapKey(text: string): string[] {
  const errors = validateMaxLength(text, maxSubdomainLength)
  if (!configKey.test(text)) {
    const words = "a valid config key must consist of alphanumeric characters, '-', '_' or '.'"
    errors.push(formatRegexError(words, configKeyFormat, 'key.name', 'KEY_NAME', 'key-name'))
  }
  return withDirectoryErrors(errors, text)
}

/**
 * Name of an environment variable, by the strict rules up to release 1.31.
 *
 * @example
 * import { validateEnvVarName } from '@krmkit/meta/names'
 * validateEnvVarName('LOG_LEVEL') // []
 * validateEnvVarName('2ND').length // 1
 */
export function validateEnvVarName(text: string): string[] {
  const errors: string[] = []
  if (!variable.test(text)) {
    const words =
      "a valid environment variable name must consist of alphabetic characters, digits, '_', '-', or '.', and must not start with a digit"
    errors.push(formatRegexError(words, variableFormat, 'my.env-name', 'MY_ENV.NAME', 'MyEnvName1'))
  }
  return withDirectoryErrors(errors, text)
}

/**
 * Name of an environment variable: any printable ASCII except `=`.
 *
 * @example
 * import { validateRelaxedEnvVarName } from '@krmkit/meta/names'
 * validateRelaxedEnvVarName('2ND') // []
 * validateRelaxedEnvVarName('A=B').length // 1
 */
export function validateRelaxedEnvVarName(text: string): string[] {
  const errors: string[] = []
  if (text === '') errors.push('environment variable name must be non-empty')
  else if (!relaxedVariable.test(text)) {
    errors.push("a valid environment variable name must consist only of printable ASCII characters other than '='")
  }
  return errors
}

/**
 * An identifier of the C language.
 *
 * @example
 * import { validateCIdentifier } from '@krmkit/meta/names'
 * validateCIdentifier('log_level') // []
 * validateCIdentifier('log-level').length // 1
 */
export function validateCIdentifier(text: string): string[] {
  if (identifier.test(text)) return []
  const words =
    "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric characters or '_'"
  return [formatRegexError(words, identifierFormat, 'my_name', 'MY_NAME', 'MyName')]
}

/**
 * A name that is valid as a URL path segment.
 *
 * @example
 * import { validatePathSegmentName } from '@krmkit/meta/names'
 * validatePathSegmentName('system:node') // []
 * validatePathSegmentName('a/b') // [ "may not contain '/'" ]
 */
export function validatePathSegmentName(text: string): string[] {
  if (text === '.' || text === '..') return [`may not be '${text}'`]
  return validatePathSegmentPrefix(text)
}

/** Prefix of a name that is valid as a URL path segment. */
export function validatePathSegmentPrefix(text: string): string[] {
  const errors: string[] = []
  for (const illegal of ['/', '%']) if (text.includes(illegal)) errors.push(`may not contain '${illegal}'`)
  return errors
}

/**
 * Name of a port: at most 15 lowercase letters, digits and single inner dashes, including a letter.
 *
 * @example
 * import { validatePortName } from '@krmkit/meta/names'
 * validatePortName('http-alt') // []
 * validatePortName('8080').length // 1
 */
export function validatePortName(text: string): string[] {
  const errors = validateMaxLength(text, 15)
  if (!/^[-a-z0-9]+$/.test(text)) errors.push('must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)')
  if (!/[a-z]/.test(text)) errors.push('must contain at least one letter (a-z)')
  if (text.includes('--')) errors.push('must not contain consecutive hyphens')
  if (text.startsWith('-') || text.endsWith('-')) errors.push('must not begin or end with a hyphen')
  return errors
}

/**
 * Name of an HTTP header.
 *
 * @example
 * import { validateHttpHeaderName } from '@krmkit/meta/names'
 * validateHttpHeaderName('X-Forwarded-For') // []
 * validateHttpHeaderName('X Forwarded').length // 1
 */
export function validateHttpHeaderName(text: string): string[] {
  if (header.test(text)) return []
  return [formatRegexError("a valid HTTP header must consist of alphanumeric characters or '-'", headerFormat, 'X-Header-Name')]
}

/**
 * An integer percentage such as `25%`.
 *
 * @example
 * import { validatePercent } from '@krmkit/meta/names'
 * validatePercent('25%') // []
 * validatePercent('25').length // 1
 */
export function validatePercent(text: string): string[] {
  if (percent.test(text)) return []
  return [
    formatRegexError("a valid percent string must be a numeric string followed by an ending '%'", percentFormat, '1%', '93%'),
  ]
}

/** `text (e.g. 'a',  or 'b', regex used for validation is 'format')`, joined as on kube-apiserver. */
export function formatRegexError(text: string, format: string, ...examples: string[]): string {
  if (examples.length === 0) return `${text} (regex used for validation is '${format}')`
  return `${text} (e.g. ${examples.map((example) => `'${example}', `).join(' or ')}regex used for validation is '${format}')`
}

/** `must be no more than N characters` for text of more than N bytes. */
export function validateMaxLength(text: string, max: number): string[] {
  if (text.length * 3 <= max || utf8Length(text) <= max) return []
  return [`must be no more than ${max} characters`]
}

function isSubdomain(text: string): boolean {
  let start = 0
  for (let dot = text.indexOf('.'); dot >= 0; dot = text.indexOf('.', start)) {
    if (!label.test(text.slice(start, dot))) return false
    start = dot + 1
  }
  return label.test(start === 0 ? text : text.slice(start))
}

function withDirectoryErrors(errors: string[], text: string): string[] {
  if (text === '.') errors.push("must not be '.'")
  else if (text === '..') errors.push("must not be '..'")
  else if (text.startsWith('..')) errors.push("must not start with '..'")
  return errors
}
