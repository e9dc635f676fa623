import { describe, expect, it } from 'vitest'
import { OfflineKinds } from '../offline/kinds.ts'
import { plantedMistakes, widgetDefinition } from './testing/planted-mistakes.ts'
import { learnDefinitions, Validator } from './validate.ts'

/** Lines and columns of the marks, and the text without them. */
function unmarked(text: string): { text: string; places: string[] } {
  const places: string[] = []
  const parts = text.split('¦')
  let before = ''
  for (const part of parts.slice(0, -1)) {
    before += part
    const lines = before.split('\n')
    places.push(`${lines.length}:${(lines.at(-1) as string).length + 1}`)
  }
  return { text: parts.join(''), places }
}

const kinds = () => {
  const made = new OfflineKinds({ release: '1.33' })
  learnDefinitions([{ path: 'crd.yaml', text: widgetDefinition }], made)
  return made
}
const shared = kinds()

describe('every sort of mistake is found at its place, and nothing else', () => {
  it.each(plantedMistakes.map((mistake) => [mistake.sort, mistake] as const))(
    '%s',
    (_, { text: marked, expected, extension = '.yaml' }) => {
      const { text, places } = unmarked(marked.replaceAll('NAME', 'web'))
      const validator = new Validator(shared, { fields: 'error', ignoreUnknownKinds: false })
      const { findings } = validator.file({ path: `a${extension}`, text })
      expect(
        findings.map(({ rule, path, severity, range }) => `${range?.line}:${range?.column} ${severity} ${rule} ${path}`),
      ).toEqual(expected.map(({ rule, path, severity = 'error' }, index) => `${places[index]} ${severity} ${rule} ${path}`))
      for (const [index, { says }] of expected.entries()) if (says !== undefined) expect(findings[index]?.message).toContain(says)
    },
  )
})
