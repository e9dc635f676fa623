/** Pages of the API reference. */
import { escapeHtml } from './highlight.ts'
import { codeBlock, renderFragment } from './markdown.ts'
import type { SearchablePage } from './model.ts'
import type { DocumentedSymbol, ReferenceEntry } from './reference.ts'
import { relative } from './template.ts'

/** The address of a name, from the page of an entry point. */
type Link = (target: string) => string | undefined

const labels = {
  param: 'Parameters',
  returns: 'Returns',
  throws: 'Throws',
  see: 'See',
  remarks: 'Remarks',
  deprecated: 'Deprecated',
}

/** A page that lists the entry points, and one for each of them. */
export function referencePages(reference: readonly ReferenceEntry[]): SearchablePage[] {
  const urls = new Map<string, string>()
  for (const { url, symbols } of reference) {
    for (const { name } of symbols) if (!urls.has(name)) urls.set(name, `${url}#${name}`)
  }
  return [indexPage(reference), ...reference.map((entry) => entryPage(entry, urls))]
}

function indexPage(reference: readonly ReferenceEntry[]): SearchablePage {
  const rows = reference.map(
    ({ name, url, symbols, others }) =>
      `<tr><td><a href="${relative('api/index.html', url)}"><code>${name}</code></a></td><td>${symbols.length + others.length}</td></tr>`,
  )
  const html = `<h1>API reference</h1>
<p>Every export of every entry point, generated from the sources. The package <code>krmkit</code> exports the most used names of the others again.
Each built-in kind also has an entry point of its group and version, such as <code>@krmkit/kinds/apps/v1</code>.</p>
<div class="table" tabindex="0" role="region" aria-label="Table"><table><thead><tr><th scope="col">entry point</th><th scope="col">exports</th></tr></thead><tbody>
${rows.join('\n')}
</tbody></table></div>
`
  const names = reference.map(({ name }) => name).join(' ')
  return { url: 'api/index.html', title: 'API reference', html, sections: [{ id: '', title: 'API reference', text: names }] }
}

function entryPage({ name, url, symbols: own, others }: ReferenceEntry, urls: ReadonlyMap<string, string>): SearchablePage {
  const inPage = new Set(own.map((symbol) => symbol.name))
  const link: Link = (target) => {
    const elsewhere = urls.get(target)
    if (inPage.has(target)) return `#${target}`
    return elsewhere === undefined ? undefined : relative(url, elsewhere)
  }
  const again = others.map((other) => `<a href="${relative(url, other.home)}#${other.name}"><code>${other.name}</code></a>`)
  const html = `<h1><code>${name}</code></h1>
<p><a href="index.html">All entry points</a></p>
${again.length === 0 ? '' : `<p>Exported again from other entry points: ${again.join(', ')}.</p>\n`}${own.map((symbol) => symbolHtml(symbol, link)).join('')}`
  const sections = own.map((symbol) => ({ id: symbol.name, title: symbol.name, text: plain(symbol.doc).slice(0, 200) }))
  const headings = own.map((symbol) => ({ id: symbol.name, title: symbol.name }))
  return { url, title: name, headings, html, sections: [{ id: '', title: name, text: '' }, ...sections] }
}

function symbolHtml({ name, category, code, doc, tags }: DocumentedSymbol, link: Link): string {
  const rendered = (text: string) => renderFragment(linked(text, link))
  const examples = tags.filter((tag) => tag.name === 'example').map(({ text }) => text.replace(/^```(ts)?$/gm, '').trim())
  const rows = Object.entries(labels).flatMap(([tag, label]) => {
    const texts = tags.filter((found) => found.name === tag && found.text !== '').map(({ text }) => rendered(text))
    return texts.length === 0 ? [] : [`<h3>${label}</h3>\n${texts.join('')}`]
  })
  return `<h2 id="${name}"><code>${escapeHtml(name)}</code> <small>${category}</small></h2>
${rendered(doc)}${codeBlock(code, 'ts')}${rows.join('')}${examples.map((text) => `<h3>Example</h3>\n${codeBlock(text, 'ts')}`).join('')}`
}

function linked(text: string, link: Link): string {
  return text.replace(/\{@link(?:code)?\s+([^\s|}]+)\s*\|?\s*([^}]*)\}/g, (_, target: string, label: string) => {
    const url = link(target.replace(/\(\)$/, ''))
    const shown = label === '' ? `\`${target}\`` : label
    return url === undefined ? shown : `[${shown}](${url})`
  })
}

function plain(text: string): string {
  return text
    .replace(/\{@link(?:code)?\s+([^\s|}]+)[^}]*\}/g, '$1')
    .replace(/[`*]/g, '')
    .replace(/\s+/g, ' ')
}
