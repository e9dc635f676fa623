import { ConfigurationReader } from '../configuration-reader.ts'

/** How the plugin reaches the service that judges images, and for how long its word counts. */
export interface ImagePolicyConfiguration {
  readonly kubeConfigFile: string
  readonly allowMs: number
  readonly denyMs: number
  readonly retryBackoffMs: number
  /** Whether pods pass when the service does not answer. */
  readonly defaultAllow: boolean
}

const minute = 60_000

/** Reads the member `imagePolicy`. @throws AdmissionError `InvalidConfiguration` */
export function parseImagePolicyConfiguration(value: unknown): ImagePolicyConfiguration {
  const whole = new ConfigurationReader('ImagePolicyWebhook', value ?? {})
  if (!whole.has('imagePolicy')) throw whole.error('imagePolicy', 'must be set')
  const reader = whole.object('imagePolicy')
  const kubeConfigFile = reader.text('kubeConfigFile') ?? ''
  if (kubeConfigFile === '') throw reader.error('kubeConfigFile', 'must name a file')
  const span = (name: string, { scale, min, max, otherwise }: Span): number => {
    const given = reader.number(name) ?? 0
    if (given === -1) return 0
    if (given === 0) return otherwise
    const ms = given * scale
    if (ms < min || ms > max) throw reader.error(name, `must be between ${min / scale} and ${max / scale}, or -1 for never`)
    return ms
  }
  return {
    kubeConfigFile,
    allowMs: span('allowTTL', { scale: 1000, min: 1000, max: 30 * minute, otherwise: 5 * minute }),
    denyMs: span('denyTTL', { scale: 1000, min: 1000, max: 30 * minute, otherwise: 30_000 }),
    retryBackoffMs: span('retryBackoff', { scale: 1, min: 1, max: 5 * minute, otherwise: 500 }),
    defaultAllow: reader.flag('defaultAllow') ?? false,
  }
}

interface Span {
  /** Milliseconds of one. */
  readonly scale: number
  readonly min: number
  readonly max: number
  readonly otherwise: number
}
