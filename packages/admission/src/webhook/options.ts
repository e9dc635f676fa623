import type { Clock, NamingProfile, Random } from '@krmkit/meta'
import { AdmissionError } from '../admission-error.ts'
import type { CallerOptions } from './caller.ts'
import type { CredentialsFor, MatchConditions } from './interfaces.ts'

/** What the webhook plugins are made of. One value serves both. */
export interface WebhookOptions extends CallerOptions {
  /** Absent: webhooks with conditions cannot be decided about, and requests that they might concern are refused. */
  readonly conditions?: MatchConditions | undefined
}

/** What reaches webhooks, as whoever runs a server hands it over. */
export interface WebhookReach extends Omit<WebhookOptions, 'clock' | 'random' | 'profile' | 'credentialsFor'> {
  /** Reads the kubeconfig that a configuration file names. Absent: webhooks are told no credentials. */
  readonly credentials?: ((kubeconfigPath: string) => CredentialsFor) | undefined
}

/**
 * The options of a plugin, with the credentials that its part of the configuration file names.
 *
 * @param configuration a `WebhookAdmissionConfiguration`, or undefined.
 * @throws AdmissionError `InvalidConfiguration`
 */
export function webhookOptions(
  environment: { readonly clock: Clock; readonly random: Random; readonly profile: NamingProfile },
  { credentials, ...reach }: WebhookReach,
  configuration: unknown,
): WebhookOptions {
  const { clock, random, profile } = environment
  const path = kubeconfigOf(configuration, profile)
  const options = { clock, random, profile, ...reach }
  if (path === undefined) return options
  if (credentials === undefined) throw invalid('this server reads no kubeconfig of webhooks')
  return { ...options, credentialsFor: credentials(path) }
}

function kubeconfigOf(configuration: unknown, { apiDomain }: NamingProfile): string | undefined {
  if (configuration === undefined || configuration === null) return undefined
  const { apiVersion, kind, kubeConfigFile } = configuration as Record<string, unknown>
  const known =
    (apiVersion === `apiserver.config.${apiDomain}/v1` && kind === 'WebhookAdmissionConfiguration') ||
    (apiVersion === `apiserver.config.${apiDomain}/v1alpha1` && kind === 'WebhookAdmission')
  if (!known)
    throw invalid(`the configuration of webhooks must be a WebhookAdmissionConfiguration of apiserver.config.${apiDomain}/v1`)
  if (kubeConfigFile === undefined || kubeConfigFile === '') return undefined
  if (typeof kubeConfigFile === 'string') return kubeConfigFile
  throw invalid('kubeConfigFile must be a path')
}

function invalid(message: string): AdmissionError {
  return new AdmissionError({ code: 'InvalidConfiguration', message })
}
