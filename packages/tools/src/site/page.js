// Runs in every page of the site: the colour scheme, buttons that copy code, and the search. Pages also open from a folder (file://), where fetch is not
// permitted, so the search loads its data as a script.
const root = document.documentElement
const base = document.currentScript.dataset.base
const theme = document.getElementById('theme')
const stored = localStorage.getItem('krmkit-theme')
if (stored === 'dark' || stored === 'light') root.dataset.theme = stored

const isDark = () =>
  root.dataset.theme === undefined ? matchMedia('(prefers-color-scheme: dark)').matches : root.dataset.theme === 'dark'
const showTheme = () => {
  theme.textContent = isDark() ? 'Light' : 'Dark'
}
theme.addEventListener('click', () => {
  root.dataset.theme = isDark() ? 'light' : 'dark'
  localStorage.setItem('krmkit-theme', root.dataset.theme)
  showTheme()
})
theme.hidden = false
showTheme()

const menu = document.getElementById('menu')
if (matchMedia('(max-width: 50rem)').matches) menu.open = false

for (const block of navigator.clipboard === undefined ? [] : document.querySelectorAll('main pre')) {
  const button = document.createElement('button')
  button.type = 'button'
  button.textContent = 'Copy'
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(copiedText(block))
    button.textContent = 'Copied'
    setTimeout(() => {
      button.textContent = 'Copy'
    }, 2000)
  })
  const frame = document.createElement('div')
  frame.className = 'code'
  block.replaceWith(frame)
  frame.append(block, button)
}

/** Of a console only the commands, without what they print. */
function copiedText(block) {
  const text = block.textContent
  if (block.dataset.language !== 'console') return text
  const commands = text.split('\n').filter((line) => line.startsWith('$ '))
  return `${commands.map((line) => line.slice(2)).join('\n')}\n`
}

const query = document.getElementById('query')
const results = document.getElementById('results')
let index

function addScript(name) {
  return new Promise((resolve, reject) => {
    const script = document.createElement('script')
    script.src = `${base}${name}`
    script.onload = resolve
    script.onerror = () => reject(new Error(`cannot load ${name}`))
    document.head.append(script)
  })
}

async function loadIndex() {
  await Promise.all([addScript('minisearch.js'), addScript('search-data.js')])
  const search = new MiniSearch({
    fields: ['title', 'page', 'text'],
    storeFields: ['title', 'page', 'url', 'text'],
    searchOptions: {
      boost: { title: 4, page: 2 },
      prefix: true,
      fuzzy: (term) => (term.length > 4 ? 0.2 : false),
      combineWith: 'AND',
    },
  })
  search.addAll(globalThis.searchData.map(([url, page, title, text], id) => ({ id, url, page, title, text })))
  return search
}

async function search() {
  const words = query.value.trim()
  if (words === '') {
    results.hidden = true
    return
  }
  index ??= loadIndex()
  const found = (await index).search(words).slice(0, 20)
  if (query.value.trim() !== words) return
  results.replaceChildren(...(found.length === 0 ? [itemOf('No results')] : found.map(resultOf)))
  results.hidden = false
}

function itemOf(...content) {
  const item = document.createElement('li')
  item.append(...content)
  return item
}

function resultOf({ url, page, title, text }) {
  const link = document.createElement('a')
  link.href = `${base}${url}`
  link.textContent = title === page ? title : `${page}: ${title}`
  const excerpt = document.createElement('small')
  excerpt.textContent = text.slice(0, 140)
  return itemOf(link, excerpt)
}

query.addEventListener('input', search)
query.form.addEventListener('submit', (event) => {
  event.preventDefault()
  results.querySelector('a')?.click()
})
results.addEventListener('click', () => {
  results.hidden = true
})
document.addEventListener('keydown', (event) => {
  const links = [...results.querySelectorAll('a')]
  const at = links.indexOf(document.activeElement)
  if (event.key === '/' && document.activeElement !== query && !event.ctrlKey) {
    event.preventDefault()
    query.focus()
  } else if (event.key === 'Escape' && !results.hidden) {
    results.hidden = true
    query.focus()
  } else if (!results.hidden && event.key === 'ArrowDown') {
    event.preventDefault()
    links[Math.min(at + 1, links.length - 1)]?.focus()
  } else if (!results.hidden && event.key === 'ArrowUp') {
    event.preventDefault()
    ;(links[at - 1] ?? query).focus()
  }
})
