/** Markdown to HTML: headings with the anchors of GitHub, links to pages of the site, code in colours, sections for the search. */
import MarkdownIt from 'markdown-it'
import { escapeHtml, highlight } from './highlight.ts'
import type { Heading, SearchablePage } from './model.ts'

type Token = ReturnType<MarkdownIt['parse']>[number]

const rule = /^[PS]\d+[a-z]?$/

/** @param linkTo maps the target of a link or an image to its address in the page */
export function renderMarkdown(text: string, linkTo: (target: string) => string): Omit<SearchablePage, 'url'> {
  const markdown = new MarkdownIt({ html: false, highlight })
  const tokens = markdown.parse(text, {})
  const slugs = new Map<string, number>()
  const page: { title: string; headings: Heading[]; sections: (Heading & { words: string[] })[] } = {
    ...{ title: '', headings: [], sections: [] },
  }
  for (const [index, token] of tokens.entries()) {
    const inline = tokens[index + 1]
    if (token.type === 'heading_open') {
      const title = inline === undefined ? '' : plainText(inline)
      const id = uniqueSlug(title, slugs)
      token.attrSet('id', id)
      if (token.tag === 'h1' && page.title === '') page.title = title
      if (token.tag === 'h2') page.headings.push({ id, title })
      page.sections.push({ id: token.tag === 'h1' ? '' : id, title, words: [] })
    } else if (token.type === 'tr_open' && rule.test(tokens[index + 2]?.content ?? '')) {
      const id = tokens[index + 2]?.content ?? ''
      token.attrSet('id', id)
      page.sections.push({ id, title: id, words: [] })
    } else if (token.type === 'inline') {
      if (tokens[index - 1]?.type !== 'heading_open') page.sections.at(-1)?.words.push(plainText(token))
      rewriteLinks(token, linkTo)
    } else if (token.type === 'fence' || token.type === 'code_block') {
      page.sections.at(-1)?.words.push(token.content)
    }
  }
  setRules(markdown)
  const sections = page.sections.map(({ words, ...section }) => ({
    ...section,
    text: words.join(' ').replace(/\s+/g, ' ').trim(),
  }))
  return { title: page.title, headings: page.headings, html: markdown.renderer.render(tokens, markdown.options, {}), sections }
}

/** Wide tables scroll alone, and a code block that scrolls can be focused by keyboard. */
function setRules(markdown: MarkdownIt): void {
  const { rules } = markdown.renderer
  let tables = 0
  rules.table_open = () => `<div class="table" tabindex="0" role="region" aria-label="Table ${++tables}"><table>\n`
  rules.table_close = () => '</table></div>\n'
  const isEmpty = (tokens: readonly Token[], index: number) => tokens[index]?.content === ''
  rules.th_open = (tokens, index) => (isEmpty(tokens, index + 1) ? '<td>' : '<th scope="col">')
  rules.th_close = (tokens, index) => (isEmpty(tokens, index - 1) ? '</td>' : '</th>')
  rules.td_open = () => '<td>'
  rules.code_block = (tokens, index) => codeBlock(tokens[index]?.content ?? '', '')
  rules.fence = (tokens, index) => fence(tokens[index]?.content ?? '', tokens[index]?.info.trim() ?? '')
}

/** A fenced block; what follows its language is the name of a file. */
function fence(code: string, info: string): string {
  const [language = '', ...rest] = info.split(' ')
  const name = rest.join(' ')
  return `${name === '' ? '' : `<p class="file">${escapeHtml(name)}</p>\n`}${codeBlock(code, language)}`
}

export function codeBlock(code: string, language: string): string {
  const name = language === '' ? '' : ` data-language="${escapeHtml(language)}"`
  return `<pre tabindex="0"${name}><code>${highlight(code, language)}</code></pre>\n`
}

/** The HTML of a docstring. Blocks without a language are often texts, so these have no colours. */
export function renderFragment(text: string): string {
  const markdown = new MarkdownIt({ html: false })
  setRules(markdown)
  return markdown.render(text)
}

function rewriteLinks(inline: Token, linkTo: (target: string) => string): void {
  for (const token of inline.children ?? []) {
    const name = token.type === 'link_open' ? 'href' : token.type === 'image' ? 'src' : undefined
    if (name !== undefined) token.attrSet(name, linkTo(token.attrGet(name) ?? ''))
  }
}

function plainText(inline: Token): string {
  return (inline.children ?? []).map((token) => (token.type === 'softbreak' ? ' ' : token.content)).join('')
}

/** The anchor that GitHub gives a heading. */
function uniqueSlug(title: string, slugs: Map<string, number>): string {
  const slug = title
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replace(/\s/g, '-')
  const count = slugs.get(slug) ?? 0
  slugs.set(slug, count + 1)
  return count === 0 ? slug : `${slug}-${count}`
}
