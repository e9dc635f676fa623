/** The links of documents. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join, posix } from 'node:path'
import { root } from '../lib/workspace.ts'
import { codeBlock } from './markdown.ts'
import type { Page } from './model.ts'
import { urlOf } from './pages.ts'

const copied = /\.(svg|png|webp)$/

/** Where the links of documents lead: to a page, to an image, or to a page with the text of a file. */
export class LinkTable {
  readonly images = new Set<string>()
  /** Files and folders of the repository that have no page. */
  readonly sources = new Set<string>()
  readonly problems: string[] = []
  readonly #files: ReadonlySet<string>

  /** @param files the documents that have a page */
  constructor(files: ReadonlySet<string>) {
    this.#files = files
  }

  /** The address of a link of a document in its page. */
  resolve(file: string, href: string): string {
    if (/^([a-z]+:|#)/i.test(href)) return href
    const [path = '', anchor] = href.split('#')
    const target = posix.join(posix.dirname(file), decodeURI(path)).replace(/\/$/, '')
    const url = this.#urlOfTarget(target)
    if (url === undefined) {
      this.problems.push(`${file}: ${href} is missing`)
      return '#content'
    }
    return `${posix.relative(posix.dirname(urlOf(file)), url)}${anchor === undefined ? '' : `#${anchor}`}`
  }

  #urlOfTarget(target: string): string | undefined {
    if (target === 'docs/reference/generated/api' || target.startsWith('docs/reference/generated/api/')) return 'api/index.html'
    for (const file of [target, `${target}/README.md`]) if (this.#files.has(file)) return urlOf(file)
    if (!existsSync(join(root, target))) return undefined
    if (copied.test(target)) {
      this.images.add(target)
      return target
    }
    this.sources.add(target)
    return `source/${target}.html`
  }

  /** The pages of the files and folders. */
  sourcePages(): Page[] {
    return [...this.sources].map(sourcePage)
  }
}

/** The page of a file, or of a folder, which lists its files. */
function sourcePage(target: string): Page {
  const isFolder = statSync(join(root, target)).isDirectory()
  const text = isFolder ? readdirSync(join(root, target)).sort().join('\n') : readFileSync(join(root, target), 'utf8')
  return { url: `source/${target}.html`, title: target, html: sourceHtml(target, text) }
}

function sourceHtml(target: string, text: string): string {
  return `<h1><code>${target}</code></h1>\n${codeBlock(text.length > 400_000 ? `${text.slice(0, 400_000)}\n...` : text, posix.extname(target).slice(1))}`
}
