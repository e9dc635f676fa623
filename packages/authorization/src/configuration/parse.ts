import { type ConfigurationValue, parseConfiguration } from '@krmkit/meta/configuration'
import { AuthorizationError } from '../authorization-error.ts'
import type { AuthorizationConfiguration, AuthorizationWebhook } from './interfaces.ts'

const webhookShape = {
  members: {
    authorizedTTL: 'duration',
    unauthorizedTTL: 'duration',
    timeout: 'duration',
    subjectAccessReviewVersion: 'string',
    matchConditionSubjectAccessReviewVersion: 'string',
    failurePolicy: 'string',
    connectionInfo: { members: { type: 'string', kubeConfigFile: 'string' } },
    matchConditions: { list: { members: { expression: 'string' } } },
  },
} as const

const shape = {
  members: { authorizers: { list: { members: { type: 'string', name: 'string', webhook: webhookShape } } } },
} as const

const defaultAuthorizedMs = 300_000
const defaultUnauthorizedMs = 30_000

/**
 * Parses an `AuthorizationConfiguration` strictly and applies defaults; `validateAuthorizationConfiguration` validates the result.
 *
 * @param value parsed JSON or YAML
 * @param options.repeated duplicate key messages of the YAML parser
 * @throws AuthorizationError `InvalidConfiguration`
 * @example
 * ```ts
 * import { parseAuthorizationConfiguration } from '@krmkit/authorization/configuration'
 *
 * const type = { apiVersion: 'apiserver.config.k8s.io/v1', kind: 'AuthorizationConfiguration' }
 * parseAuthorizationConfiguration({ ...type, authorizers: [{ type: 'RBAC', name: 'rbac' }] })
 * // { authorizers: [{ type: 'RBAC', name: 'rbac' }] }
 * ```
 */
export function parseAuthorizationConfiguration(
  value: unknown,
  options: { readonly repeated?: readonly string[]; readonly apiDomain?: string } = {},
): AuthorizationConfiguration {
  const { repeated = [], apiDomain = 'k8s.io' } = options
  const apiVersions = ['v1', 'v1beta1', 'v1alpha1'].map((version) => `apiserver.config.${apiDomain}/${version}`)
  const read = parseConfiguration(value, { kind: 'AuthorizationConfiguration', apiVersions, schema: shape }, repeated)
  if (!read.ok) {
    const message = `failed to load AuthorizationConfiguration from file: ${read.message}`
    throw new AuthorizationError({ code: 'InvalidConfiguration', message })
  }
  return {
    authorizers: (read.value.authorizers ?? []).map(({ type = '', name = '', webhook }) => ({
      type,
      name,
      ...(webhook === undefined ? {} : { webhook: webhookOf(webhook) }),
    })),
  }
}

function webhookOf(read: ConfigurationValue<typeof webhookShape>): AuthorizationWebhook {
  const { connectionInfo = {} } = read
  const { kubeConfigFile } = connectionInfo
  return {
    authorizedMs: milliseconds(read.authorizedTTL) || defaultAuthorizedMs,
    unauthorizedMs: milliseconds(read.unauthorizedTTL) || defaultUnauthorizedMs,
    timeoutMs: milliseconds(read.timeout),
    subjectAccessReviewVersion: read.subjectAccessReviewVersion ?? '',
    matchConditionSubjectAccessReviewVersion: read.matchConditionSubjectAccessReviewVersion ?? '',
    failurePolicy: read.failurePolicy ?? '',
    connection: { type: connectionInfo.type ?? '', ...(kubeConfigFile === undefined ? {} : { kubeConfigFile }) },
    matchConditions: (read.matchConditions ?? []).map(({ expression = '' }) => expression),
  }
}

/** Converts nanoseconds to milliseconds, which may be fractional. */
function milliseconds(nanos = 0n): number {
  return Number(nanos) / 1e6
}
