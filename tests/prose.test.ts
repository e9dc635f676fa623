import { describe, expect, it } from 'vitest'
import { handWrittenFiles, lineAt, parse, proseOf, textOf } from './hand-written.ts'

/** The prose of the workspace (comments, titles, help, errors, documents) avoids the words that make it hard to read. */

/** Paths that are not rewritten yet. The list only shrinks: an entry without findings fails the last test. */
const pending: readonly string[] = []

/** Quotes the words. */
const self = 'tests/prose.test.ts'

/** Texts that keep such a word, exactly as they stand. */
const allowed: readonly { readonly text: string; readonly reason: string }[] = []

const phrases = [
  'nobody',
  'somebody',
  'whoever',
  'who is calling',
  'who asks',
  'told of',
  'hears? of',
  '(?:is|are|was|were|be|been|being) told',
  'in (?:its|their) own words',
  'of its own',
  'what is there',
  'as (?:it|they) came',
]
const notUsed = new RegExp(`\\b(?:${phrases.map((phrase) => phrase.replaceAll(' ', '[\\s*/>]+')).join('|')})\\b`, 'gi')

interface Finding {
  readonly file: string
  readonly line: number
  readonly phrase: string
}

const allowedTexts = new Set(allowed.map(({ text }) => text))
const seenAllowedTexts = new Set<string>()
const isPending = (file: string): boolean => pending.some((path) => file === path || file.startsWith(`${path}/`))
const show = ({ file, line, phrase }: Finding): string => `${file}:${line} ${phrase}`

function findingsIn(
  file: string,
  text: string,
  pieces: () => readonly { readonly text: string; readonly start: number }[],
): Finding[] {
  if (text.search(notUsed) < 0) return []
  const findings: Finding[] = []
  for (const piece of pieces()) {
    if (allowedTexts.has(piece.text)) seenAllowedTexts.add(piece.text)
    else for (const [phrase] of piece.text.matchAll(notUsed)) findings.push({ file, line: lineAt(text, piece.start), phrase })
  }
  return findings
}

function findingsOfSource(file: string, text = textOf(file)): Finding[] {
  return findingsIn(file, text, () => proseOf(parse(file, text)))
}

function findingsOfDocument(file: string, text = textOf(file)): Finding[] {
  let start = 0
  return findingsIn(file, text, () =>
    text.split(/(?<=\n\s*\n)/).map((paragraph) => {
      const piece = { text: paragraph.replace(/\s+/g, ' ').trim(), start }
      start += paragraph.length
      return piece
    }),
  )
}

describe('the words that are not used', () => {
  it.each([
    ['a comment', '// Nobody reads it.\n', 'Nobody'],
    ['a comment over two lines', '/**\n * Names what is\n * there.\n */\n', 'what is there'],
    ['line comments over two lines', 'a() // the last one is\n  // told\n', 'is told'],
    ['a string', "fail('whoever asks')\n", 'whoever'],
    ['a part of a template', `fail(\`\${name}: known to nobody\`)\n`, 'nobody'],
  ])('are found in %s', (_, text, phrase) => {
    expect(findingsOfSource('example.ts', text)).toEqual([{ file: 'example.ts', line: 1, phrase }])
  })

  it('are data where a string is one word', () => {
    expect(findingsOfSource('example.ts', "login('nobody', /whoever/)\n")).toEqual([])
  })

  it('are found in a paragraph of a document', () => {
    expect(findingsOfDocument('example.md', 'One.\n\nThe name of\nwhoever made it.\n')).toEqual([
      { file: 'example.md', line: 3, phrase: 'whoever' },
    ])
  })
})

describe('prose', () => {
  const { documents, ...files } = handWrittenFiles()
  const sources = files.sources.filter((file) => file !== self)
  const findings = [
    ...sources.flatMap((file) => findingsOfSource(file)),
    ...documents.flatMap((file) => findingsOfDocument(file)),
  ]

  it('avoids the words that are not used', () => {
    expect(
      findings
        .filter(({ file }) => !isPending(file))
        .map(show)
        .join('\n'),
    ).toBe('')
  })

  it('has no pending path without findings', () => {
    expect(pending.filter((path) => !findings.some(({ file }) => file === path || file.startsWith(`${path}/`)))).toEqual([])
  })

  it('has no allowed text that is gone', () => {
    expect(allowed.map(({ text }) => text).filter((text) => !seenAllowedTexts.has(text))).toEqual([])
  })
})
