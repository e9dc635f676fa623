import { readFileSync } from 'node:fs'
import { parseYaml } from '@krmkit/schema'
import { compareSurfaces, surfaceOfCustomResources } from '@krmkit/versioning/surface'
import { expect, it } from 'vitest'
import { Widget } from './widget.ts'

/** `definition.yaml` is what the last release of the example served. `krmkit api-diff definition.yaml NEW` prints the same. */
const released = parseYaml(readFileSync(new URL('definition.yaml', import.meta.url), 'utf8')).value

it('breaks no rule of the deprecation policy since its last release [P332]', () => {
  const before = surfaceOfCustomResources([released], 'released')
  const after = surfaceOfCustomResources([Widget.toManifest()], 'own')
  expect(before.kinds).toHaveLength(1)
  expect(compareSurfaces(before, after)).toEqual([])
})

it('notices a removed field', () => {
  const manifest = structuredClone(Widget.toManifest())
  const version = manifest.spec.versions?.[0]
  delete version?.schema?.openAPIV3Schema?.properties?.['spec']?.properties?.['color']
  const changes = compareSurfaces(surfaceOfCustomResources([released], 'released'), surfaceOfCustomResources([manifest], 'own'))
  expect(changes).toMatchObject([{ sort: 'removed', path: 'spec.color', rule: '1' }])
})
