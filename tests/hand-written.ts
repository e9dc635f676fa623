import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { manifestOf, packageFolders, root } from './source-files.ts'

/** The hand-written files of the workspace and their parts, for the tests of prose and of module size. */

const areas = ['packages', 'scripts', 'examples', 'bench', 'tests', 'docs', '.changeset'] as const
const skippedFolders = new Set(['node_modules', 'dist', 'testdata', 'target', '.git'])
const sourceFile = /\.(?:ts|mts|mjs|cjs)$/
const generatedFile = /\.generated\./

/** Source files and Markdown files, as sorted paths from the root. */
export function handWrittenFiles(): { readonly sources: string[]; readonly documents: string[] } {
  const files = [...readdirSync(root), ...areas.flatMap(filesBelow)].filter((path) => !generatedFile.test(path)).sort()
  return {
    sources: files.filter((path) => sourceFile.test(path)),
    documents: files.filter((path) => path.endsWith('.md')),
  }
}

function filesBelow(folder: string): string[] {
  if (!existsSync(join(root, folder))) return []
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`
    if (entry.isDirectory()) return skippedFolders.has(entry.name) ? [] : filesBelow(path)
    return entry.isFile() ? [path] : []
  })
}

export function textOf(file: string): string {
  return readFileSync(join(root, file), 'utf8')
}

export function parse(file: string, text = textOf(file)): ts.SourceFile {
  return ts.createSourceFile(file, text, ts.ScriptTarget.ES2023, true)
}

export function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length
}

/** The source files that the `exports` of a package name. */
export function packageEntries(): Set<string> {
  const entries = new Set<string>()
  for (const name of packageFolders()) {
    const folder = `packages/${name}`
    for (const target of Object.values(manifestOf(folder).exports ?? {})) {
      if (typeof target === 'string') continue
      for (const source of [target.source, target.browser?.source])
        if (source !== undefined) entries.add(join(folder, source).replaceAll('\\', '/'))
    }
  }
  return entries
}

export interface Prose {
  readonly text: string
  /** Offset in the file. */
  readonly start: number
}

/**
 * The prose of a source file: each comment (consecutive line comments as one) and each string or template part with more than
 * one word in it. Line breaks and comment marks are folded into single spaces.
 */
export function proseOf(source: ts.SourceFile): Prose[] {
  const text = source.text
  const prose: Prose[] = []
  const literals: (readonly [start: number, end: number])[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node)) {
      const start = node.getStart(source)
      literals.push([start, node.end])
      if (/\S\s+\S/.test(node.text)) prose.push({ text: node.text, start })
    } else if (ts.isRegularExpressionLiteral(node)) literals.push([node.getStart(source), node.end])
    ts.forEachChild(node, visit)
  }
  visit(source)
  return [...prose, ...commentsOf(text, literals)].map(({ text, start }) => ({ text: text.replace(/\s+/g, ' ').trim(), start }))
}

function commentsOf(text: string, literals: readonly (readonly [number, number])[]): Prose[] {
  const code = text.split('')
  for (const [start, end] of literals) code.fill('_', start, end)
  const comments: Prose[] = []
  for (const match of code.join('').matchAll(/\/\*[\s\S]*?\*\/|\/\/[^\n]*(?:\n[ \t]*\/\/[^\n]*)*/g)) {
    const original = text.slice(match.index, match.index + match[0].length)
    comments.push({ text: original.replace(/^\s*(?:\/\*+|\*+\/?|\/\/)/gm, ' ').replace(/\*\/$/, ''), start: match.index })
  }
  return comments
}
