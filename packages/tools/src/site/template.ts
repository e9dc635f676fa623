/** The frame of every page. */
import { posix } from 'node:path'
import { escapeHtml } from './highlight.ts'
import type { Heading, MenuSection, Page } from './model.ts'

/** The relative path from one page to another. */
export function relative(from: string, to: string): string {
  return posix.relative(posix.dirname(from), to) || posix.basename(to)
}

/** The complete text of a page. */
export function frame({ url, title, html, headings = [] }: Page, menu: readonly MenuSection[]): string {
  const base = '../'.repeat(url.split('/').length - 1)
  const full = title === 'krmkit' ? 'krmkit: API machinery for Kubernetes-style APIs' : `${title} · krmkit`
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(full)}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${base}style.css">
</head>
<body>
<a class="skip" href="#content">Skip to content</a>
<header>
<a href="${base}index.html">krmkit</a>
<form role="search"><input id="query" type="search" aria-label="Search" placeholder="Search (/)" autocomplete="off"><ul id="results" aria-label="Results" hidden></ul></form>
<button id="theme" type="button" hidden></button>
</header>
<div class="columns">
<nav aria-label="Pages"><details id="menu" open><summary>Contents</summary>${menu.map((section) => menuSection(section, url)).join('')}</details></nav>
<main id="content" tabindex="-1">
${html}</main>
${outline(headings)}</div>
<footer>krmkit, Apache-2.0. Kubernetes 1.33.</footer>
<script src="${base}page.js" data-base="${base}"></script>
</body>
</html>
`
}

const fewHeadings = 3

/** The headings of a page beside it, where the window is wide enough. */
function outline(headings: readonly Heading[]): string {
  if (headings.length < fewHeadings) return ''
  const items = headings.map(({ id, title }) => `<li><a href="#${escapeHtml(id)}">${escapeHtml(title)}</a></li>`)
  return `<nav class="outline" aria-label="On this page"><p>On this page</p><ul>${items.join('')}</ul></nav>\n`
}

function menuSection({ title, entries }: MenuSection, url: string): string {
  const items = entries.map((entry) => {
    const current = entry.url === url ? ' aria-current="page"' : ''
    return `<li><a href="${relative(url, entry.url)}"${current}>${escapeHtml(entry.label)}</a></li>`
  })
  const open = entries.some((entry) => entry.url === url) ? ' open' : ''
  return `<details${open}><summary>${escapeHtml(title)}</summary><ul>${items.join('')}</ul></details>`
}
