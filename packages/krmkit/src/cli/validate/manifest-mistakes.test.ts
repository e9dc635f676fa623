import { expect, it } from 'vitest'
import { learnDefinitions } from '../offline/definitions.ts'
import { OfflineKinds } from '../offline/kinds.ts'
import { manifestMistakes } from './testing/manifest-mistakes.ts'
import { extractMarkers } from './testing/position-markers.ts'
import { widgetDefinition } from './testing/templates.ts'
import { Validator } from './validate.ts'

const kinds = new OfflineKinds({ release: '1.33' })
learnDefinitions([{ path: 'crd.yaml', text: widgetDefinition }], kinds)

it.each(manifestMistakes.map((mistake) => [mistake.title, mistake] as const))(
  'reports %s at its position, and nothing else',
  async (_, { text: marked, expected, extension = '.yaml' }) => {
    const { text, places } = extractMarkers(marked.replaceAll('NAME', 'web'))
    const validator = new Validator(kinds, { fields: 'error', ignoreUnknownKinds: false })
    const { findings } = await validator.file({ path: `a${extension}`, text })
    const found = findings.map(({ rule, path, severity, range }) => `${range?.line}:${range?.column} ${severity} ${rule} ${path}`)
    expect(found).toEqual(
      expected.map(({ rule, path, severity = 'error' }, index) => `${places[index]} ${severity} ${rule} ${path}`),
    )
    for (const [index, { says }] of expected.entries()) if (says !== undefined) expect(findings[index]?.message).toContain(says)
  },
)
