import { type FieldError, field, Path } from '@krmkit/meta'
import {
  compareLevels,
  formatLevelVersion,
  type LevelVersion,
  levels,
  modes,
  type PodPolicy,
  parseLevel,
  parseVersion,
} from './levels.ts'

/** The policy of a namespace: its labels over the configured defaults. */

export interface NamespacePolicy {
  readonly policy: PodPolicy
  /** Labels with invalid values. */
  readonly errors: readonly FieldError[]
}

type Labels = Readonly<Record<string, string>> | undefined

/** Prefix of the labels; `domain` is `kubernetes.io` in the stock profile. */
export function labelPrefix(domain: string): string {
  return `pod-security.${domain}/`
}

export function policyOf(
  labels: Labels,
  { defaults, prefix }: { readonly defaults: PodPolicy; readonly prefix: string },
): NamespacePolicy {
  const errors: FieldError[] = []
  const read = (name: string): string | undefined =>
    labels !== undefined && Object.hasOwn(labels, prefix + name) ? labels[prefix + name] : undefined
  const reject = (name: string, value: string, detail: string): void => {
    errors.push(
      field.invalid(
        Path.of('metadata')
          .child('labels')
          .key(prefix + name),
        value,
        detail,
      ),
    )
  }
  const levelVersionOf = (mode: (typeof modes)[number]): LevelVersion => {
    let { level, minor } = defaults[mode]
    const givenLevel = read(mode)
    if (givenLevel !== undefined) {
      const parsed = parseLevel(givenLevel)
      if (parsed === undefined) reject(mode, givenLevel, `must be one of ${levels.join(', ')}`)
      // An invalid level enforces the strictest standard, and neither audits nor warns.
      level = parsed ?? (mode === 'enforce' ? 'restricted' : 'privileged')
    }
    const givenVersion = read(`${mode}-version`)
    if (givenVersion !== undefined) {
      const parsed = parseVersion(givenVersion)
      if (parsed === undefined) reject(`${mode}-version`, givenVersion, 'must be "latest" or "v1.x"')
      minor = parsed ?? Infinity
    }
    return { level, minor }
  }
  const enforce = levelVersionOf('enforce')
  const isEnforceValid = parseLevel(read('enforce') ?? '') !== undefined
  const audit = levelVersionOf('audit')
  let warn = levelVersionOf('warn')
  // Without a warn label, warnings follow the enforce label.
  if (read('warn') === undefined && isEnforceValid && compareLevels(enforce.level, warn.level) > 0) {
    warn = { level: enforce.level, minor: read('warn-version') === undefined ? enforce.minor : warn.minor }
  }
  return { policy: { enforce, audit, warn }, errors }
}

/** Formats a policy on one line, without privileged modes. */
export function formatPolicy(policy: PodPolicy): string {
  return modes
    .filter((mode) => policy[mode].level !== 'privileged')
    .map((mode) => `${mode}=${formatLevelVersion(policy[mode])}`)
    .join(', ')
}
