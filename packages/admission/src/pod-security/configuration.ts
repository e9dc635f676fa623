import { AdmissionError } from '../admission-error.ts'
import { ConfigurationReader } from '../configuration-reader.ts'
import { type LevelVersion, levels, modes, type PodPolicy, parseLevel, parseVersion } from './levels.ts'

/** The default policy of namespaces, and exemptions from it. */
export interface PodSecurityConfiguration {
  readonly defaults: PodPolicy
  readonly exemptions: Exemptions
}

export interface Exemptions {
  readonly usernames: ReadonlySet<string>
  readonly runtimeClasses: ReadonlySet<string>
  readonly namespaces: ReadonlySet<string>
}

const privileged: LevelVersion = { level: 'privileged', minor: Infinity }

export const defaultPodSecurity: PodSecurityConfiguration = {
  defaults: { enforce: privileged, audit: privileged, warn: privileged },
  exemptions: { usernames: new Set(), runtimeClasses: new Set(), namespaces: new Set() },
}

/**
 * Parses a `PodSecurityConfiguration`; the defaults of kube-apiserver apply when it is undefined.
 *
 * @throws AdmissionError `InvalidConfiguration`
 * @example
 * ```ts
 * import { parsePodSecurityConfiguration, podSecurity } from '@krmkit/admission/plugins'
 * import { stockProfile } from '@krmkit/meta'
 *
 * const type = { apiVersion: 'pod-security.admission.config.k8s.io/v1', kind: 'PodSecurityConfiguration' }
 * const configuration = parsePodSecurityConfiguration({ ...type, defaults: { enforce: 'baseline' } }, 'k8s.io')
 * const plugin = podSecurity({ profile: stockProfile, configuration })
 * ```
 */
export function parsePodSecurityConfiguration(value: unknown, apiDomain: string): PodSecurityConfiguration {
  if (value === undefined) return defaultPodSecurity
  const reader = new ConfigurationReader('PodSecurity', value)
  const group = `pod-security.admission.config.${apiDomain}`
  reader.expectKind([`${group}/v1`, `${group}/v1beta1`, `${group}/v1alpha1`], 'PodSecurityConfiguration')
  const defaults = reader.object('defaults')
  const exemptions = reader.object('exemptions')
  const policy = Object.fromEntries(
    modes.map((mode) => {
      const level = defaults.text(mode) ?? 'privileged'
      const version = defaults.text(`${mode}-version`) ?? 'latest'
      const [parsed, minor] = [parseLevel(level), parseVersion(version)]
      if (parsed === undefined) throw invalid(`defaults.${mode} ${JSON.stringify(level)} must be one of ${levels.join(', ')}`)
      if (minor === undefined) throw invalid(`defaults.${mode}-version ${JSON.stringify(version)} must be "latest" or "v1.x"`)
      return [mode, { level: parsed, minor }]
    }),
  ) as unknown as PodPolicy
  return {
    defaults: policy,
    exemptions: {
      usernames: new Set(exemptions.texts('usernames')),
      runtimeClasses: new Set(exemptions.texts('runtimeClasses')),
      namespaces: new Set(exemptions.texts('namespaces')),
    },
  }
}

function invalid(what: string): AdmissionError {
  return new AdmissionError({ code: 'InvalidConfiguration', message: `configuration of admission plugin PodSecurity: ${what}` })
}
