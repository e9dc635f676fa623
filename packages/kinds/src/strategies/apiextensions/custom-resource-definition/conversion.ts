import { type DeepReadonly, type FieldError, field, type Path } from '@krmkit/meta'
import { goStrings, goText, joinFormatted } from '@krmkit/meta/go-text'
import { validateDns1035Label } from '@krmkit/meta/names'
import { collectErrors } from '@krmkit/meta/validation'
import { base64ToBytes } from '@krmkit/schema/decode'
import type { StrategyContext } from '../../../interfaces.ts'
import type { CustomResourceConversion, CustomResourceDefinition } from '../../../types/apiextensions-v1.generated.ts'
import { validateWith } from '../../shared/strategy.ts'
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
  const blocks = [...text.matchAll(/-----BEGIN CERTIFICATE-----([A-Za-z0-9+/=\s]*)-----END CERTIFICATE-----/g)]
  if (blocks.length === 0) return 'unable to parse bytes as PEM block'
  return blocks.some(([, content]) => isSequence(content as string))
    ? undefined
    : 'failed to parse certificate: x509: malformed certificate'
}

/** A DER sequence that fills the bytes. */
function isSequence(content: string): boolean {
  let bytes: Uint8Array
  try {
    bytes = base64ToBytes(content.replace(/\s/g, ''))
  } catch {
    return false
  }
  const [tag, first = 0] = bytes
  const more = first < 0x80 ? 0 : first - 0x80
  if (tag !== 0x30 || more > 4) return false
  const length = more === 0 ? first : bytes.subarray(2, 2 + more).reduce((sum, byte) => sum * 256 + byte, 0)
  return bytes.length === 2 + more + length
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
