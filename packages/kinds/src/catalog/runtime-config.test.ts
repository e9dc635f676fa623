import { describe, expect, it } from 'vitest'
import { createCatalog } from './catalog.ts'
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
    ['api/all=false,batch/v1', 'apps', 'v1', true, false],
    ['api/all=false,apps/v1', 'apps', 'v1', true, true],
    ['api/beta=true', 'apps', 'v1beta1', false, true],
    ['api/beta', 'apps', 'v1beta1', false, true],
    ['api/beta=true', 'apps', 'v1alpha1', false, false],
    ['api/alpha=true', 'apps', 'v1alpha1', false, true],
    ['api/ga=false', 'apps', 'v1', true, false],
    ['api/all=true,api/alpha=false', 'apps', 'v1alpha1', false, false],
    ['v1=false', '', 'v1', true, false],
    ['api/v1=false', '', 'v1', true, false],
    ['api/v1/widgets=false', '', 'v1', true, false],
    ['v1/widgets=false', '', 'v1', true, false],
    ['api/legacy=false', '', 'v1', true, true],
    ['api/legacy', 'apps', 'v1beta1', false, false],
  ] as const)('%s: %s/%s [P330]', (text, group, version, byDefault, expected) => {
    expect(parseRuntimeConfig(text).enabled(group, version, 'widgets', byDefault)).toBe(expected)
  })

  it.each([
    ['apps', 'runtime-config invalid key apps'],
    ['apps/v1/a/b', 'runtime-config invalid key apps/v1/a/b'],
    ['batch/v1,=true', 'runtime-config invalid key '],
    ['apps/v1=maybe', 'invalid value of apps/v1: maybe, err: strconv.ParseBool: parsing "maybe": invalid syntax'],
    ['api/beta=T', 'invalid value api/beta=T'],
    ['api/all=false', 'invalid key with only api/all=false'],
    [
      'batch/v1/CronJobs',
      'invalid key batch/v1/CronJobs: group/version/resource and resource is always lowercase plural, not "CronJobs"',
    ],
  ])('rejects %s with the text of kube-apiserver [P330]', (text, message) => {
    expect(() => parseRuntimeConfig(text)).toThrow(expect.objectContaining({ code: 'InvalidRuntimeConfig', message }))
  })

  it.each([
    ['v2/foo=true', 'unknown api groups v2'],
    ['foo.example/v1,bar.example/v2,batch/v7', 'unknown api groups bar.example,foo.example'],
    ['api/v2', 'unknown api groups api'],
    ['batch/v7=true', 'group version batch/v7 that has not been registered'],
    ['batch/', 'group version batch/ that has not been registered'],
    ['batch//x', 'group version batch/ that has not been registered'],
  ])('refuses the unknown name in %s with the text of kube-apiserver [P330]', (runtimeConfig, message) => {
    expect(() => createCatalog({ runtimeConfig })).toThrow(expect.objectContaining({ code: 'InvalidRuntimeConfig', message }))
  })
})
