import { describe, expect, it } from 'vitest'
import { KindsError } from '../errors.ts'
import { parseRuntimeConfig } from './runtime-config.ts'

describe('runtime config', () => {
  it.each([
    ['', 'apps', 'v1', true, true],
    ['', 'apps', 'v1beta1', false, false],
    ['apps/v1=false', 'apps', 'v1', true, false],
    ['apps/v1beta1', 'apps', 'v1beta1', false, true],
    ['apps/v1beta1=T', 'apps', 'v1beta1', false, true],
    ['apps/v1/widgets=0', 'apps', 'v1', true, false],
    ['apps/v1=false,apps/v1/widgets', 'apps', 'v1', true, true],
    ['apps/v1/others=false', 'apps', 'v1', true, true],
    ['api/all=false', 'apps', 'v1', true, false],
    ['api/all=false,apps/v1', 'apps', 'v1', true, true],
    ['api/beta=true', 'apps', 'v1beta1', false, true],
    ['api/beta=true', 'apps', 'v1alpha1', false, false],
    ['api/alpha=true', 'apps', 'v1alpha1', false, true],
    ['api/ga=false', 'apps', 'v1', true, false],
    ['api/all=true,api/alpha=false', 'apps', 'v1alpha1', false, false],
    ['v1=false', '', 'v1', true, false],
    ['api/v1=false', '', 'v1', true, false],
  ] as const)('%s: %s/%s [P330]', (text, group, version, byDefault, expected) => {
    expect(parseRuntimeConfig(text).enabled(group, version, 'widgets', byDefault)).toBe(expected)
  })

  it.each(['apps', 'apps/', 'apps/v1/a/b', 'api/v2', 'apps/v1=maybe', 'a/v1/'])('rejects %s', (text) => {
    expect(() => parseRuntimeConfig(text)).toThrow(KindsError)
  })
})
