import { readFileSync } from 'node:fs'
import { parseAuthenticationConfiguration, validateAuthenticationConfiguration } from '@krmkit/authentication/configuration'
import { parseAuthorizationConfiguration, validateAuthorizationConfiguration } from '@krmkit/authorization/configuration'
import { parseYaml } from '@krmkit/schema'
import { describe, expect, it } from 'vitest'
import { createClaimExpressionCompiler } from './claim-expression-compiler.ts'
import { createConditionCompiler } from './condition-compiler.ts'

/** Returns the YAML block of a guide with the given kind. */
const inGuide = (name: string, kind: string): unknown => {
  const text = readFileSync(new URL(`../../../../docs/operate/${name}.md`, import.meta.url), 'utf8')
  const block = [...text.matchAll(/```yaml\n([^`]+)```/g)].map(([, yaml = '']) => yaml).find((yaml) => yaml.includes(kind))
  return parseYaml(block ?? '').value
}

describe('configurations of the guides', () => {
  it('are valid', async () => {
    const authentication = parseAuthenticationConfiguration(inGuide('authentication', 'AuthenticationConfiguration'))
    expect(validateAuthenticationConfiguration(authentication, { expressions: await createClaimExpressionCompiler() })).toEqual(
      [],
    )
    const authorization = parseAuthorizationConfiguration(inGuide('authorization', 'AuthorizationConfiguration'))
    const rules = { types: ['Node', 'RBAC', 'Webhook'], conditions: await createConditionCompiler() }
    expect(validateAuthorizationConfiguration(authorization, rules)).toEqual([])
    expect(authorization.authorizers).toHaveLength(3)
  })
})
