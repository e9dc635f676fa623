import { expect, it } from 'vitest'
import { manifestMistakes } from './testing/manifest-mistakes.ts'
import { extractMarkers } from './testing/position-markers.ts'
import { widgetDefinition } from './testing/templates.ts'
import { createManifestValidator } from './validate-manifests.ts'

const validator = createManifestValidator()
const definitions = [{ path: 'crd.yaml', text: widgetDefinition }]

it.each(manifestMistakes.map((mistake) => [mistake.title, mistake] as const))(
  'reports %s at its position, and nothing else',
  async (_, { text: marked, expected, extension = '.yaml' }) => {
    const { text, places } = extractMarkers(marked.replaceAll('NAME', 'web'))
    const { findings } = await validator.validate([{ path: `a${extension}`, text }], { definitions })
    const found = findings.map(({ rule, path, severity, range }) => `${range?.line}:${range?.column} ${severity} ${rule} ${path}`)
    expect(found).toEqual(
      expected.map(({ rule, path, severity = 'error' }, index) => `${places[index]} ${severity} ${rule} ${path}`),
    )
    for (const [index, { says }] of expected.entries()) if (says !== undefined) expect(findings[index]?.message).toContain(says)
  },
)
