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

/** What the labels of a namespace say, on top of what holds everywhere. */

export interface NamespacePolicy {
  readonly policy: PodPolicy
  /** Labels that cannot be read. */
  readonly errors: readonly FieldError[]
}

type Labels = Readonly<Record<string, string>> | undefined

/** Prefix of the labels, for a domain such as `kubernetes.io`. */
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
  const refuse = (name: string, value: string, detail: string): void => {
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
  const settle = (mode: (typeof modes)[number]): LevelVersion => {
    let { level, minor } = defaults[mode]
    const givenLevel = read(mode)
    if (givenLevel !== undefined) {
      const parsed = parseLevel(givenLevel)
      if (parsed === undefined) refuse(mode, givenLevel, `must be one of ${levels.join(', ')}`)
      // What cannot be read refuses in doubt, and only there.
      level = parsed ?? (mode === 'enforce' ? 'restricted' : 'privileged')
    }
    const givenVersion = read(`${mode}-version`)
    if (givenVersion !== undefined) {
      const parsed = parseVersion(givenVersion)
      if (parsed === undefined) refuse(`${mode}-version`, givenVersion, 'must be "latest" or "v1.x"')
      minor = parsed ?? Infinity
    }
    return { level, minor }
  }
  const enforce = settle('enforce')
  const isEnforceRead = parseLevel(read('enforce') ?? '') !== undefined
  const audit = settle('audit')
  let warn = settle('warn')
  // A namespace that asks for a level and says nothing of warnings is warned by what it enforces.
  if (read('warn') === undefined && isEnforceRead && compareLevels(enforce.level, warn.level) > 0) {
    warn = { level: enforce.level, minor: read('warn-version') === undefined ? enforce.minor : warn.minor }
  }
  return { policy: { enforce, audit, warn }, errors }
}

/** A policy in one line, without what is privileged. */
export function compactPolicy(policy: PodPolicy): string {
  return modes
    .filter((mode) => policy[mode].level !== 'privileged')
    .map((mode) => `${mode}=${formatLevelVersion(policy[mode])}`)
    .join(', ')
}
