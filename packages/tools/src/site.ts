/**
 * `npm run site` writes the documentation as static files to `site/dist`: guides, package READMEs, API reference, reports, playground. The pages
 * open from the folder or from any static server, and request nothing from elsewhere; the playground needs a server. Markdown is rendered by
 * markdown-it into a small frame; vitepress, starlight and eleventy want their layout of files, and their pages do not open from a folder.
 * `--out=<folder>` writes elsewhere.
 */
import { copyFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { root } from './lib/workspace.ts'
import { buildPlayground } from './playground.ts'
import { checkSite } from './site/check.ts'
import { LinkTable } from './site/links.ts'
import { renderMarkdown } from './site/markdown.ts'
import type { MenuSection, SearchablePage } from './site/model.ts'
import { type FileSection, menuSections, textOf, urlOf } from './site/pages.ts'
import { readReference } from './site/reference.ts'
import { referencePages } from './site/reference-pages.ts'
import { frame } from './site/template.ts'

const assets = join(root, 'packages/tools/src/site')
/** Where the playground is in the first section of the menu. */
const playgroundAt = 3

interface BuiltSite {
  readonly pages: number
  /** Number of pages with the text of a file. */
  readonly sources: number
  readonly problems: readonly string[]
}

export async function main(args: readonly string[]): Promise<void> {
  const out = args.find((argument) => argument.startsWith('--out='))
  const folder = out === undefined ? join(root, 'site/dist') : resolve(out.slice('--out='.length))
  const start = performance.now()
  const { pages, sources, problems } = await buildSite(folder)
  for (const problem of problems) console.error(problem)
  const seconds = ((performance.now() - start) / 1000).toFixed(1)
  const { user, system } = process.cpuUsage()
  const processor = `${((user + system) / 1e6).toFixed(1)} s of processor time`
  console.log(`${pages} pages and ${sources} sources in ${seconds} s, ${processor}: ${join(folder, 'index.html')}`)
  if (problems.length > 0) process.exitCode = 1
}

async function buildSite(folder: string): Promise<BuiltSite> {
  const sections = menuSections()
  const files = new Set(sections.flatMap((section) => section.files))
  const links = new LinkTable(files)
  const documents = [...files].map((file) => ({
    url: urlOf(file),
    ...renderMarkdown(textOf(file), (href) => links.resolve(file, href)),
  }))
  const pages = [...documents, ...referencePages(readReference())]
  const menu = menuOf(sections, documents)

  rmSync(folder, { recursive: true, force: true })
  for (const page of [...pages, ...links.sourcePages()]) write(folder, page.url, frame(page, menu))
  for (const file of links.images) copy(join(root, file), join(folder, file))
  for (const name of ['style.css', 'page.js']) copy(join(assets, name), join(folder, name))
  copy(
    createRequire(import.meta.url)
      .resolve('minisearch')
      .replace(/cjs\/index\.cjs$/, 'umd/index.js'),
    join(folder, 'minisearch.js'),
  )
  write(folder, 'search-data.js', searchData(pages))
  await buildPlayground(join(folder, 'playground'))
  return { pages: pages.length, sources: links.sources.size, problems: [...links.problems, ...checkSite(folder)] }
}

/** The documents by section, with the playground in the first and the API reference before the last. */
function menuOf(sections: readonly FileSection[], documents: readonly SearchablePage[]): MenuSection[] {
  const labels = new Map(documents.map(({ url, title }) => [url, title]))
  const menu = sections.map(({ title, files }, index) => {
    const entries = files.map((file) => ({ url: urlOf(file), label: labels.get(urlOf(file)) ?? file }))
    const playground = { url: 'playground/index.html', label: 'Playground' }
    return { title, entries: index === 0 ? entries.toSpliced(playgroundAt, 0, playground) : entries }
  })
  return menu.toSpliced(-1, 0, { title: 'Reference', entries: [{ url: 'api/index.html', label: 'API reference' }] })
}

/** One line for each section: address, page, title, text. A script, because pages of a folder cannot fetch. */
function searchData(pages: readonly SearchablePage[]): string {
  const rows = pages.flatMap(({ url, title, sections }) =>
    sections.map((section) => [
      section.id === '' ? url : `${url}#${section.id}`,
      title,
      section.title,
      section.text.slice(0, 2000),
    ]),
  )
  return `globalThis.searchData=[\n${rows.map((row) => JSON.stringify(row)).join(',\n')}\n]\n`
}

function write(folder: string, path: string, text: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true })
  writeFileSync(join(folder, path), text)
}

function copy(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true })
  copyFileSync(from, to)
}
