/** Formats of strings that rules name. Releases with rules count bytes in the texts of names. */
import { type FieldError, field, type Path } from '@krmkit/meta'
import { goQuote, utf8Length } from '@krmkit/meta/go-text'
import {
  validateCIdentifier,
  validateDns1123Label,
  validateDns1123Subdomain,
  validateLabelValue,
  validatePathSegmentName,
  validateQualifiedNameFormat,
} from '@krmkit/meta/names'
import { tooLong } from './texts.ts'

type Format = (path: Path | undefined, text: string) => FieldError[]

/** Errors with the texts of a function for the whole value. */
const ofTexts =
  (validate: (text: string) => readonly string[]): Format =>
  (path, text) =>
    validate(text).map((detail) => field.invalid(path, text, inBytes(detail)))

const inBytes = (text: string) => text.replace(/^((?:\w+ part )?must be no more than \d+) characters$/, '$1 bytes')

const maxSubdomainLength = 253
const caselessLabel = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/i
const caselessText =
  "an RFC 1123 subdomain must consist of alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'Example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"

function caselessName(text: string): string[] {
  const errors = utf8Length(text) > maxSubdomainLength ? [`must be no more than ${maxSubdomainLength} bytes`] : []
  if (!text.split('.').every((label) => caselessLabel.test(label))) errors.push(caselessText)
  return errors
}

function labelKey(text: string): string[] {
  return validateQualifiedNameFormat(text).map((each) => inBytes(each).replace(/^a qualified name /, 'a valid label key '))
}

function prefixedLabelKey(text: string): string[] {
  const errors = labelKey(text)
  return errors.length > 0 || text.includes('/') ? errors : ["must include a prefix (e.g. 'example.com/key')"]
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
const uuidText = 'must be a lowercase UUID in 8-4-4-4-12 format'

/** Names of pools are names with slashes between them. */
function poolName(path: Path | undefined, text: string): FieldError[] {
  const errors = utf8Length(text) > maxSubdomainLength ? [tooLong(path, maxSubdomainLength, 'byte')] : []
  for (const [i, part] of text.split('/').entries()) {
    if (part === '') errors.push(field.invalid(path, text, `segment ${i}: must not be empty`))
    else
      for (const each of validateDns1123Subdomain(part)) errors.push(field.invalid(path, part, `segment ${i}: ${inBytes(each)}`))
  }
  return errors
}

/** A name of a resource that is not of Kubernetes: as quota, with `requests.` before it, it is a key of a label. */
function extendedResourceName(path: Path | undefined, text: string): FieldError[] {
  const errors: string[] = []
  if (!text.includes('/')) errors.push("a name must be a domain-prefixed path, such as 'example.com/my-prop'")
  else if (text.includes('kubernetes.io/')) errors.push(`must not have ${goQuote('kubernetes.io/')} domain`)
  if (text.startsWith('requests.')) errors.push(`must not have ${goQuote('requests.')} prefix`)
  return [...errors, ...labelKey(`requests.${text}`)].map((detail) => field.invalid(path, text, detail))
}

const maxNameLength = 32
const maxDomainLength = 63

/** A domain and an identifier of C with a slash between them; as on kube-apiserver, more than one slash is not looked at. */
function fullyQualifiedName(path: Path | undefined, text: string): FieldError[] {
  const parts = text.split('/')
  const [first = '', second] = parts
  const errors: FieldError[] = []
  if (parts.length === 1) errors.push(...identifier(path, first))
  else if (parts.length === 2) {
    if (first === '') errors.push(field.invalid(path, '', 'prefix must not be empty'))
    else {
      if (utf8Length(first) > maxDomainLength) errors.push(tooLong(path, maxDomainLength, 'byte'))
      for (const each of validateDns1123Subdomain(first)) errors.push(field.invalid(path, first, `prefix: ${inBytes(each)}`))
    }
    if (second === '') errors.push(field.invalid(path, '', 'name must not be empty'))
    else errors.push(...identifier(path, second ?? ''))
  }
  if (parts.length === 1) {
    errors.push(field.invalid(path, text, 'a fully qualified name must be a domain and a name separated by a slash'))
  }
  return errors
}

function identifier(path: Path | undefined, text: string): FieldError[] {
  const errors = utf8Length(text) > maxNameLength ? [tooLong(path, maxNameLength, 'byte')] : []
  return [...errors, ...validateCIdentifier(text).map((detail) => field.invalid(path, text, detail))]
}

export const formats: Readonly<Record<string, Format>> = {
  'k8s-short-name': ofTexts(validateDns1123Label),
  'k8s-long-name': ofTexts(validateDns1123Subdomain),
  'k8s-long-name-caseless': ofTexts(caselessName),
  'k8s-label-key': ofTexts(labelKey),
  'k8s-prefixed-label-key': ofTexts(prefixedLabelKey),
  'k8s-label-value': ofTexts(validateLabelValue),
  'k8s-path-segment-name': ofTexts(validatePathSegmentName),
  'k8s-uuid': ofTexts((text) => (uuid.test(text) ? [] : [uuidText])),
  'k8s-resource-pool-name': poolName,
  'k8s-extended-resource-name': extendedResourceName,
  'k8s-resource-fully-qualified-name': fullyQualifiedName,
}
