import { createFeatureGates, type FeatureGates, VersioningError } from '@krmkit/versioning'
import { CliError } from './cli-error.ts'

/**
 * The features that `--feature-gates` chooses.
 *
 * @throws CliError `InvalidFlag` with the text of kube-apiserver.
 */
export function featuresOf(set: Readonly<Record<string, boolean>>, release?: string): FeatureGates {
  try {
    return createFeatureGates({ set, ...(release === undefined ? {} : { release }) })
  } catch (cause) {
    if (!(cause instanceof VersioningError)) throw cause
    throw new CliError({ code: 'InvalidFlag', message: `--feature-gates: ${cause.message}`, cause })
  }
}

/** The gates that may change, one per line, as kube-apiserver lists them. */
export function featureGateHelp(): string {
  return createFeatureGates()
    .gates.filter(({ stage }) => stage === 'alpha' || stage === 'beta')
    .map(({ name, stage, default: byDefault }) => `kube:${name}=true|false (${stage.toUpperCase()} - default=${byDefault})`)
    .join('\n')
}
