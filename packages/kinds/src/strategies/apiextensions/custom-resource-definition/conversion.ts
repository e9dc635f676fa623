import { type DeepReadonly, type FieldError, field, type Path } from '@krmkit/meta'
import { goStrings, goText, joinFormatted } from '@krmkit/meta/go-text'
import { validateDns1035Label } from '@krmkit/meta/names'
import { collectErrors } from '@krmkit/meta/validation'
import { base64ToBytes } from '@krmkit/schema/decode'
import type { StrategyContext } from '../../../interfaces.ts'
import type { CustomResourceConversion, CustomResourceDefinition } from '../../../types/apiextensions-v1.generated.ts'
import { validateWith } from '../../shared/strategy.direct.ts'
import { validateWebhookService, validateWebhookUrl } from '../../shared/webhook-client.ts'

/** Conversion between the versions of a definition. */

const strategies = ['None', 'Webhook']
const knownReviews = ['v1', 'v1beta1']

export interface ConversionOptions {
  readonly context: StrategyContext
  /** The stored definition, on update. */
  readonly old: DeepReadonly<CustomResourceDefinition> | undefined
}

export function validateConversion(
  conversion: DeepReadonly<CustomResourceConversion> | undefined,
  path: Path,
  { context, old }: ConversionOptions,
): FieldError[] {
  if (conversion === undefined || conversion === null) return []
  const errors: FieldError[] = []
  const { strategy, webhook } = conversion
  if (strategy === '') errors.push(field.required(path.child('strategy')))
  else if (!strategies.includes(strategy)) errors.push(field.notSupported(path.child('strategy'), strategy, strategies))
  const config = path.child('webhookClientConfig')
  const reviews = webhook?.conversionReviewVersions ?? []
  if (strategy !== 'Webhook') {
    const detail = 'should not be set when strategy is not set to Webhook'
    if (webhook?.clientConfig !== undefined) errors.push(field.forbidden(config, detail))
    if (reviews.length > 0) errors.push(field.forbidden(path.child('conversionReviewVersions'), detail))
    return errors
  }
  const client = webhook?.clientConfig
  if (client === undefined || client === null) errors.push(field.required(config, 'required when strategy is set to Webhook'))
  else if ((client.url === undefined) === (client.service === undefined))
    errors.push(field.required(config, 'exactly one of url or service is required'))
  else {
    errors.push(
      ...validateWith(context, (errors) => {
        const at = errors.child('spec').child('conversion').child('webhookClientConfig')
        if (client.url !== undefined) validateWebhookUrl(client.url, at.child('url'))
        else if (client.service !== undefined) validateWebhookService(client.service, at.child('service'))
      }),
    )
  }
  const bundle = client?.caBundle ?? ''
  if (bundle !== '' && !acceptsBundles(old)) errors.push(...validateBundle(bundle, config.child('caBundle')))
  return [...errors, ...validateReviews(reviews, path.child('conversionReviewVersions'), !acceptsUnknown(old))]
}

/**
 * Whether the CA bundle of the conversion webhook is unreadable; such a definition is not served.
 *
 * @example
 * import type { CustomResourceDefinition } from '@krmkit/kinds/apiextensions/v1'
 * import { hasInvalidCaBundle } from '@krmkit/kinds/custom-resources'
 * declare const definition: CustomResourceDefinition
 * if (hasInvalidCaBundle(definition)) console.warn(`${definition.metadata.name} is not served`)
 */
export function hasInvalidCaBundle({ spec }: DeepReadonly<CustomResourceDefinition>): boolean {
  const bundle = spec.conversion?.webhook?.clientConfig?.caBundle ?? ''
  return bundle !== '' && bundleProblem(bundle) !== undefined
}

/** Any bundle is accepted until the definition is served, and a bad one may replace a bad one. */
function acceptsBundles(old: DeepReadonly<CustomResourceDefinition> | undefined): boolean {
  const served = (old?.status?.conditions ?? []).some(({ type, status }) => type === 'Established' && status === 'True')
  if (old === undefined || !served) return true
  return hasInvalidCaBundle(old)
}

function validateBundle(bundle: string, path: Path): FieldError[] {
  const problem = bundleProblem(bundle)
  if (problem === undefined) return []
  const bytes = joinFormatted(base64ToBytes(bundle), (byte) => `0x${byte.toString(16)}`)
  return [field.invalid(path, goText(`[]byte{${bytes}}`), `unable to load root certificates: ${problem}`)]
}

/** Whether the bundle contains a certificate, judged by its outer form. */
function bundleProblem(bundle: string): string | undefined {
  const text = new TextDecoder('latin1').decode(base64ToBytes(bundle))
  let problem: string | undefined
  let end = 0
  for (const match of text.matchAll(pemBlock)) {
    const [whole, label, headers, content] = match
    end = match.index + whole.length
    if (label !== 'CERTIFICATE' || headers !== undefined) continue
    const malformed = certificateProblem(content ?? '')
    if (malformed === undefined) return undefined
    problem ??= `failed to parse certificate: ${malformed}`
  }
  return problem ?? (text.slice(end) === '' ? 'no valid certificate authority data seen' : 'unable to parse bytes as PEM block')
}

const pemBlock =
  /^-----BEGIN ([^\n-]+)-----[ \t]*\r?\n((?:[^\n:-]+:[^\n]*\n)+)?([A-Za-z0-9+/=\s]*)-----END \1-----[ \t]*(?:\r?\n|$)/gm

/** What Go finds first: the sequence of a certificate begins with the sequence of its content. */
function certificateProblem(content: string): string | undefined {
  let bytes: Uint8Array
  try {
    bytes = base64ToBytes(content.replace(/\s/g, ''))
  } catch {
    return 'x509: malformed certificate'
  }
  const outer = sequenceAt(bytes, 0)
  if (outer === undefined || outer.end !== bytes.length) return 'x509: malformed certificate'
  return sequenceAt(bytes, outer.start) === undefined ? 'x509: malformed tbs certificate' : undefined
}

/** Where the content of a DER sequence begins and ends. */
function sequenceAt(bytes: Uint8Array, at: number): { readonly start: number; readonly end: number } | undefined {
  const first = bytes[at + 1] ?? 0
  const more = first < 0x80 ? 0 : first - 0x80
  if (bytes[at] !== 0x30 || more > 4) return undefined
  const start = at + 2 + more
  const length = more === 0 ? first : bytes.subarray(at + 2, start).reduce((sum, byte) => sum * 256 + byte, 0)
  return start + length > bytes.length ? undefined : { start, end: start + length }
}

/** An update may keep a list without a known version. */
function acceptsUnknown(old: DeepReadonly<CustomResourceDefinition> | undefined): boolean {
  const versions = old?.spec.conversion?.webhook?.conversionReviewVersions ?? []
  return versions.length > 0 && !knownReviews.some((version) => versions.includes(version))
}

function validateReviews(versions: readonly string[], path: Path, known: boolean): FieldError[] {
  if (versions.length === 0) return [field.required(path)]
  return collectErrors((errors) => {
    const seen = new Set<string>()
    for (const [index, version] of versions.entries()) {
      if (seen.has(version)) {
        errors.push(field.invalid(path.index(index), version, 'duplicate version'))
        continue
      }
      seen.add(version)
      for (const problem of validateDns1035Label(version)) errors.push(field.invalid(path.index(index), version, problem))
    }
    if (known && !knownReviews.some((version) => seen.has(version))) {
      errors.push(field.invalid(path, goText(goStrings(versions)), `must include at least one of ${knownReviews.join(', ')}`))
    }
  })
}
