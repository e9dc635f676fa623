#!/usr/bin/env node
// `npm run site` writes the documentation as static files to `site/dist`: guides, package READMEs, API reference, reports, playground. The
// pages open from the folder or from any static server, and request nothing from elsewhere; the playground needs a server. Markdown is rendered by markdown-it into a
// small frame; vitepress, starlight and eleventy want their layout of files, and their pages do not open from a folder.
// `--out=<folder>` writes elsewhere.
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, posix, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { root, setup } from './setup.mjs'

const assets = fileURLToPath(new URL('./site/', import.meta.url))
/** Where the playground is in the first section of the menu. */
const playgroundAt = 3
const copied = /\.(svg|png|webp)$/

/** Writes the site to a folder. @returns what `checkSite` finds, and figures */
export async function buildSite(folder) {
  const { menuSections, textOf, urlOf } = await import('./site/pages.mjs')
  const { codeBlock, renderMarkdown } = await import('./site/markdown.mjs')
  const { frame } = await import('./site/template.mjs')
  const { checkSite } = await import('./site/check.mjs')
  const { readReference } = await import('./site/reference.mjs')
  const { referencePages } = await import('./site/reference-pages.mjs')
  const { buildPlayground } = await import('./playground.mjs')
  const menu = menuSections()
  const files = new Set(menu.flatMap((section) => section.files))
  const links = new LinkTable(files, urlOf)
  const pages = [...files].map((file) => ({
    url: urlOf(file),
    ...renderMarkdown(textOf(file), (href) => links.resolve(file, href)),
  }))
  const labels = new Map(pages.map(({ url, title }) => [url, title]))
  pages.push(...referencePages(readReference()))
  const entries = menu.map(({ title, files: listed }) => ({
    title,
    entries: listed.map((file) => ({ url: urlOf(file), label: labels.get(urlOf(file)) })),
  }))
  entries[0].entries.splice(playgroundAt, 0, { url: 'playground/index.html', label: 'Playground' })
  entries.splice(-1, 0, { title: 'Reference', entries: [{ url: 'api/index.html', label: 'API reference' }] })

  rmSync(folder, { recursive: true, force: true })
  for (const page of pages) write(folder, page.url, frame(page, entries))
  for (const page of links.sourcePages(codeBlock)) write(folder, page.url, frame(page, entries))
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

/** Where the links of documents lead: to a page, to an image, or to a page with the text of a file. */
class LinkTable {
  images = new Set()
  /** Files and folders of the repository that have no page. */
  sources = new Set()
  problems = []

  constructor(files, urlOf) {
    this.files = files
    this.urlOf = urlOf
  }

  resolve(file, href) {
    if (/^([a-z]+:|#)/i.test(href)) return href
    const [path, anchor] = href.split('#')
    const target = posix.join(posix.dirname(file), decodeURI(path)).replace(/\/$/, '')
    const url = this.#urlOfTarget(target)
    if (url === undefined) {
      this.problems.push(`${file}: ${href} is missing`)
      return '#content'
    }
    return `${posix.relative(posix.dirname(this.urlOf(file)), url)}${anchor === undefined ? '' : `#${anchor}`}`
  }

  #urlOfTarget(target) {
    if (target === 'docs/reference/generated/api' || target.startsWith('docs/reference/generated/api/')) return 'api/index.html'
    for (const file of [target, `${target}/README.md`]) if (this.files.has(file)) return this.urlOf(file)
    if (!existsSync(join(root, target))) return undefined
    if (copied.test(target)) {
      this.images.add(target)
      return target
    }
    this.sources.add(target)
    return `source/${target}.html`
  }

  *sourcePages(codeBlock) {
    for (const target of this.sources) yield sourcePage(target, codeBlock)
  }
}

/** The page of a file, or of a folder, which lists its files. */
function sourcePage(target, codeBlock) {
  const isFolder = statSync(join(root, target)).isDirectory()
  const text = isFolder ? readdirSync(join(root, target)).sort().join('\n') : readFileSync(join(root, target), 'utf8')
  return { url: `source/${target}.html`, title: target, html: sourceHtml(target, text, codeBlock) }
}

function sourceHtml(target, text, codeBlock) {
  return `<h1><code>${target}</code></h1>\n${codeBlock(text.length > 400_000 ? `${text.slice(0, 400_000)}\n...` : text, posix.extname(target).slice(1))}`
}

/** One line for each section: address, page, title, text. A script, because pages of a folder cannot fetch. */
function searchData(pages) {
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

function write(folder, path, text) {
  mkdirSync(dirname(join(folder, path)), { recursive: true })
  writeFileSync(join(folder, path), text)
}

function copy(from, to) {
  mkdirSync(dirname(to), { recursive: true })
  copyFileSync(from, to)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  setup()
  const out = process.argv.find((argument) => argument.startsWith('--out='))
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
