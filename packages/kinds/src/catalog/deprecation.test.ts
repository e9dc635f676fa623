import { describe, expect, it } from 'vitest'
import { createCatalog } from './catalog.ts'
import { deprecationWarning } from './deprecation.ts'

describe('deprecation warnings', () => {
  const catalog = createCatalog()
  const text = (group: string, version: string, kind: string) => deprecationWarning(catalog.kind({ group, version, kind })!)

  it.each([
    ['', 'v1', 'ComponentStatus', 'v1 ComponentStatus is deprecated in v1.19+'],
    ['', 'v1', 'Endpoints', 'v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice'],
    ['batch', 'v1beta1', 'CronJob', 'batch/v1beta1 CronJob is deprecated in v1.21+, unavailable in v1.25+; use batch/v1 CronJob'],
    ['', 'v1', 'Pod', undefined],
  ])('%s/%s %s [P303 P333]', (group, version, kind, expected) => {
    expect(text(group, version, kind)).toBe(expected)
  })

  it('does not warn before the release that deprecates the kind', () => {
    const features = { release: { version: '1.32', atLeast: (other: string) => other !== '1.33' }, enabled: () => false }
    expect(deprecationWarning(catalog.kind({ group: '', version: 'v1', kind: 'Endpoints' })!, features)).toBeUndefined()
    expect(deprecationWarning(catalog.kind({ group: '', version: 'v1', kind: 'ComponentStatus' })!, features)).toBeDefined()
  })
})
