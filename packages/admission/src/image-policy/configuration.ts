import { ConfigurationReader } from '../configuration-reader.ts'

/** The kubeconfig of the image policy service, and how long its decisions are cached. */
export interface ImagePolicyConfiguration {
  readonly kubeConfigFile: string
  readonly allowMs: number
  readonly denyMs: number
  readonly retryBackoffMs: number
  /** Whether pods are admitted when the service is unavailable. */
  readonly defaultAllow: boolean
}

const minute = 60_000

/**
 * Parses the member `imagePolicy` of the configuration of the plugin ImagePolicyWebhook.
 *
 * @throws AdmissionError `InvalidConfiguration`
 * @see {@link imagePolicyWebhook} for an example.
 */
export function parseImagePolicyConfiguration(value: unknown): ImagePolicyConfiguration {
  const whole = new ConfigurationReader('ImagePolicyWebhook', value ?? {})
  if (!whole.has('imagePolicy')) throw whole.error('imagePolicy', 'must be set')
  const reader = whole.object('imagePolicy')
  const kubeConfigFile = reader.text('kubeConfigFile') ?? ''
  if (kubeConfigFile === '') throw reader.error('kubeConfigFile', 'must name a file')
  const duration = (name: string, { scale, min, max, defaultMs }: DurationRange): number => {
    const given = reader.number(name) ?? 0
    if (given === -1) return 0
    if (given === 0) return defaultMs
    const ms = given * scale
    if (ms < min || ms > max) throw reader.error(name, `must be between ${min / scale} and ${max / scale}, or -1 to disable`)
    return ms
  }
  return {
    kubeConfigFile,
    allowMs: duration('allowTTL', { scale: 1000, min: 1000, max: 30 * minute, defaultMs: 5 * minute }),
    denyMs: duration('denyTTL', { scale: 1000, min: 1000, max: 30 * minute, defaultMs: 30_000 }),
    retryBackoffMs: duration('retryBackoff', { scale: 1, min: 1, max: 5 * minute, defaultMs: 500 }),
    defaultAllow: reader.flag('defaultAllow') ?? false,
  }
}

interface DurationRange {
  /** Milliseconds per unit. */
  readonly scale: number
  readonly min: number
  readonly max: number
  readonly defaultMs: number
}
