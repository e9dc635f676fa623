/** Checks of a built site: links, anchors, titles, sizes, and that no page requests anything from elsewhere. */
import { readFileSync, statSync } from 'node:fs'
import { join, posix } from 'node:path'
import { filesBelow } from '../lib/workspace.ts'

interface Tag {
  readonly name: string
  readonly attributes: ReadonlyMap<string, string>
}

interface CheckedPage {
  readonly html: string
  readonly tags: readonly Tag[]
  readonly ids: ReadonlySet<string>
  /** Anchors that stand twice. */
  readonly repeated: readonly string[]
}

interface Site {
  readonly pages: ReadonlyMap<string, CheckedPage>
  /** Bytes of each file. */
  readonly sizes: ReadonlyMap<string, number>
}

const largestPage = 600 * 1024
const largestSearchData = 2_500 * 1024
const largestSite = 40 * 1024 * 1024

/** @returns what is wrong with the site in a folder, one sentence each */
export function checkSite(folder: string): string[] {
  const files = filesBelow(folder)
  const sizes = new Map(files.map((file) => [file, statSync(join(folder, file)).size]))
  const pages = new Map<string, CheckedPage>()
  for (const file of files.filter((name) => name.endsWith('.html')))
    pages.set(file, readPage(readFileSync(join(folder, file), 'utf8')))
  const problems = [...pages].flatMap(([file, page]) => [
    ...shapeProblems(file, page),
    ...linkProblems(file, page, { pages, sizes }),
  ])
  for (const file of ['style.css', 'page.js']) {
    for (const [found] of readFileSync(join(folder, file), 'utf8').matchAll(
      /(?:@import|url\(|\bfetch\(|XMLHttpRequest|sendBeacon)[^\n]{0,40}/g,
    )) {
      problems.push(`${file}: may request ${found}`)
    }
  }
  for (const [file, size] of sizes) if (file.endsWith('.html') && size > largestPage) problems.push(`${file}: ${size} bytes`)
  const total = [...sizes.values()].reduce((sum, size) => sum + size, 0)
  if ((sizes.get('search-data.js') ?? Number.POSITIVE_INFINITY) > largestSearchData)
    problems.push(`search-data.js: ${sizes.get('search-data.js')} bytes`)
  if (total > largestSite) problems.push(`the site has ${total} bytes`)
  return problems
}

/** Code is text, so what it shows is neither a link nor a request. Attributes cannot contain an unescaped `<`. */
function readPage(html: string): CheckedPage {
  const tags = [...html.matchAll(/<([a-z]\w*)((?:\s+[\w-]+(?:="[^"]*")?)*)\s*>/g)].map(([, name = '', rest = '']) => ({
    name,
    attributes: new Map(
      [...rest.matchAll(/([\w-]+)(?:="([^"]*)")?/g)].map(([, key = '', value = '']) => [key, value.replaceAll('&amp;', '&')]),
    ),
  }))
  const ids = tags.map(({ attributes }) => attributes.get('id')).filter((id) => id !== undefined)
  return { html, tags, ids: new Set(ids), repeated: ids.filter((id, index) => ids.indexOf(id) !== index) }
}

function shapeProblems(file: string, { html, tags, repeated }: CheckedPage): string[] {
  const problems = repeated.map((id) => `${file}: id ${id} twice`)
  const headings = tags.filter(({ name }) => name === 'h1').length
  if (headings !== 1) problems.push(`${file}: ${headings} h1`)
  if (!/<title>[^<]+<\/title>/.test(html)) problems.push(`${file}: no title`)
  if (tags.some(({ name, attributes }) => name === 'img' && !attributes.get('alt'))) problems.push(`${file}: image without alt`)
  return problems
}

function linkProblems(file: string, { tags }: CheckedPage, { pages, sizes }: Site): string[] {
  return tags.flatMap(({ name, attributes }) => {
    const target = attributes.get('href') ?? attributes.get('src')
    if (target === undefined || target === 'data:,') return []
    if (/^[a-z]+:|^\/\//i.test(target)) return name === 'a' ? [] : [`${file}: requests ${target}`]
    const [path = '', anchor] = target.split('#')
    const to = path === '' ? file : posix.join(posix.dirname(file), decodeURI(path))
    if (!sizes.has(to)) return [`${file}: ${target} is missing`]
    return anchor === undefined || pages.get(to)?.ids.has(decodeURIComponent(anchor))
      ? []
      : [`${file}: ${target} has no such anchor`]
  })
}
