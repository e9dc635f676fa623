import { type ConfigurationValue, parseConfiguration } from '@krmkit/meta/configuration'
import { AuthenticationError } from '../authentication-error.ts'
import type { AuthenticationConfiguration, JwtConfiguration } from './interfaces.ts'

const source = { claim: 'string', expression: 'string' } as const
const prefixed = { members: { ...source, prefix: 'string' } } as const

const jwtShape = {
  members: {
    issuer: {
      members: {
        url: 'string',
        discoveryURL: 'string',
        certificateAuthority: 'string',
        audiences: { list: 'string' },
        audienceMatchPolicy: 'string',
      },
    },
    claimValidationRules: {
      list: { members: { claim: 'string', requiredValue: 'string', expression: 'string', message: 'string' } },
    },
    claimMappings: {
      members: {
        username: prefixed,
        groups: prefixed,
        uid: { members: source },
        extra: { list: { members: { key: 'string', valueExpression: 'string' } } },
      },
    },
    userValidationRules: { list: { members: { expression: 'string', message: 'string' } } },
  },
} as const

const shape = {
  members: {
    jwt: { list: jwtShape },
    anonymous: { members: { enabled: 'boolean', conditions: { list: { members: { path: 'string' } } } } },
  },
} as const

/**
 * Parses an `AuthenticationConfiguration` strictly; `validateAuthenticationConfiguration` validates the result.
 *
 * @param value parsed JSON or YAML
 * @param options.repeated duplicate key messages of the YAML parser
 * @throws AuthenticationError `InvalidConfiguration`
 * @example
 * ```ts
 * import { parseAuthenticationConfiguration } from '@krmkit/authentication/configuration'
 *
 * const type = { apiVersion: 'apiserver.config.k8s.io/v1beta1', kind: 'AuthenticationConfiguration' }
 * parseAuthenticationConfiguration({ ...type, anonymous: { enabled: true, conditions: [{ path: '/healthz' }] } })
 * // { jwt: [], anonymous: { enabled: true, paths: ['/healthz'] } }
 * ```
 */
export function parseAuthenticationConfiguration(
  value: unknown,
  options: { readonly repeated?: readonly string[]; readonly apiDomain?: string } = {},
): AuthenticationConfiguration {
  const { repeated = [], apiDomain = 'k8s.io' } = options
  const apiVersions = ['v1', 'v1beta1', 'v1alpha1'].map((version) => `apiserver.config.${apiDomain}/${version}`)
  const read = parseConfiguration(value, { kind: 'AuthenticationConfiguration', apiVersions, schema: shape }, repeated)
  if (!read.ok) throw new AuthenticationError({ code: 'InvalidConfiguration', message: read.message })
  const { jwt = [], anonymous } = read.value
  return {
    jwt: jwt.map(jwtOf),
    ...(anonymous === undefined
      ? {}
      : {
          anonymous: {
            enabled: anonymous.enabled ?? false,
            paths: (anonymous.conditions ?? []).map(({ path = '' }) => path),
          },
        }),
  }
}

function jwtOf(read: ConfigurationValue<typeof jwtShape>): JwtConfiguration {
  const { issuer = {}, claimMappings: { username = {}, groups = {}, uid = {}, extra = [] } = {} } = read
  return {
    issuer: {
      url: issuer.url ?? '',
      discoveryURL: issuer.discoveryURL ?? '',
      certificateAuthority: issuer.certificateAuthority ?? '',
      audiences: issuer.audiences ?? [],
      audienceMatchPolicy: issuer.audienceMatchPolicy ?? '',
    },
    claimValidationRules: (read.claimValidationRules ?? []).map((rule) => ({
      claim: '',
      requiredValue: '',
      expression: '',
      message: '',
      ...rule,
    })),
    claimMappings: {
      username: { ...emptySource, ...username },
      groups: { ...emptySource, ...groups },
      uid: { ...emptySource, ...uid },
      extra: extra.map(({ key = '', valueExpression = '' }) => ({ key, valueExpression })),
    },
    userValidationRules: (read.userValidationRules ?? []).map(({ expression = '', message = '' }) => ({ expression, message })),
  }
}

const emptySource = { claim: '', expression: '' }
