import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { BrowserPage, findChromium } from '../../examples/field-managers/chromium.ts'
import { root } from '../source-files.ts'
import { temporaryFolder } from '../temporary-folder.ts'

/** The site is complete, and its pages work in a browser that opens them from the folder. */

const folder = temporaryFolder()
const build = spawnSync(process.execPath, ['scripts/run.mjs', 'site', `--out=${folder}`], { cwd: root, encoding: 'utf8' })
const chromium = findChromium()
/** Pages of each kind, for what depends on the layout alone. */
const samples = [
  'index.html',
  'docs/guide/tasks.html',
  'docs/operate/storage.html',
  'docs/reference/generated/conformance.html',
  'api/storage.html',
]
/** All pages but those with the text of a file, which are alike, and the playground, which has its own tests. */
const pages = readdirSync(folder, { recursive: true })
  .map((name) => String(name).replaceAll('\\', '/'))
  .filter((name) => name.endsWith('.html') && !/^(?:source|playground)\//.test(name))
  .sort()

const textOf = (page: string): string => readFileSync(join(folder, page), 'utf8')

describe('npm run site', () => {
  it('finds no missing link, anchor, title or heading, no large page and no request to elsewhere', () => {
    expect(build.stderr).toBe('')
    expect(build.status).toBe(0)
  })

  it('takes less than two minutes of processor time', () => {
    const [, seconds] = /([\d.]+) s of processor time/.exec(build.stdout) ?? []
    expect(Number(seconds)).toBeLessThan(120)
  })

  it('shows docstrings and declarations of exports', () => {
    const page = textOf('api/storage.html')
    expect(page).toContain('id="StorageError"')
    expect(page).toContain('The error of this package.')
    expect(textOf('api/controllers-framework.html')).toContain('id="WorkQueue"')
    expect(textOf('api/krmkit-validate.html')).toContain('id="validateManifests"')
  })

  it('gives each rule an anchor and links it to its tests', () => {
    expect(textOf('docs/reference/generated/conformance.html')).toMatch(
      /<tr id="P1">[\s\S]*?source\/packages\/[^"]+\.test\.ts\.html/,
    )
  })

  it('names the file of a code block, and colours it by its language', () => {
    expect(textOf('docs/operate/authorization.html')).toMatch(
      /<p class="file">roles\/shop.yaml<\/p>\n<pre tabindex="0" data-language="yaml"><code>apiVersion/,
    )
    expect(textOf('docs/guide/control-plane.html')).toMatch(
      /<p class="file">control-plane.ts<\/p>\n<pre tabindex="0" data-language="ts"><code><span class="keyword">import/,
    )
  })

  it('copies the plots', () => expect(textOf('docs/reference/generated/performance/requests.svg')).toContain('<svg'))
})

describe.skipIf(chromium === undefined)('in Chromium (skipped without it: set CHROMIUM to its path)', () => {
  const urlOf = (page: string) => pathToFileURL(join(folder, page)).href
  const open = (page: string, width = 1200) => BrowserPage.open(chromium!, { url: urlOf(page), width, height: 900 })
  const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
  let shared: BrowserPage
  beforeAll(async () => {
    shared = await open('index.html')
  })
  afterAll(() => shared[Symbol.asyncDispose]())

  it.each(pages)(
    'opens %s without errors, requests to elsewhere and accessibility violations, on a desk and a phone',
    { timeout: 120_000 },
    async (name) => {
      shared.faults.length = 0
      await shared.navigate(urlOf(name))
      await shared.evaluate(`${axe}; 0`)
      // The colours of the dark theme do not depend on the page.
      for (const theme of samples.includes(name) ? ['light', 'dark'] : ['light']) {
        await shared.evaluate(`document.documentElement.dataset.theme = '${theme}'`)
        const violations = await shared.evaluate<string[]>(`axe.run({ preload: false }).then(({ violations }) =>
        violations.flatMap(({ id, nodes }) => nodes.slice(0, 3).map(({ target }) => id + ': ' + target.join(' '))))`)
        expect(violations, theme).toEqual([])
      }
      const addresses = await shared.evaluate<string[]>(`performance.getEntriesByType('resource').map(({ name }) => name)`)
      expect(addresses.filter((address) => !address.startsWith('file:') && !address.startsWith('data:'))).toEqual([])
      await shared.resize(390, 900)
      expect(await shared.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390)
      await shared.resize(1200, 900)
      expect(shared.faults).toEqual([])
    },
  )

  it.each(samples)('has no accessibility violation in %s on a phone', async (name) => {
    await using page = await open(name, 390)
    await page.evaluate(`${axe}; 0`)
    expect(await page.evaluate(`axe.run({ preload: false }).then(({ violations }) => violations.map(({ id }) => id))`)).toEqual(
      [],
    )
  })

  it('finds pages, rules and exports by their words', async () => {
    await using page = await open('docs/operate/storage.html')
    const searched = async (words: string) => {
      await page.type('#query', words)
      return page.evaluate<string[]>(`search().then(() => [...results.querySelectorAll('a')].map(({ href }) => href))`)
    }
    expect((await searched('memoryStorage'))[0]).toMatch(/api\/storage\.html#memoryStorage$/)
    expect(
      (await searched('generateName makes a name')).some((url) => url.endsWith('docs/reference/generated/conformance.html#P10')),
    ).toBe(true)
    expect((await searched('encryption at rest'))[0]).toMatch(/docs\/operate\/storage\.html#encryption-at-rest$/)
    expect(page.faults).toEqual([])
  })

  it('copies code, and of a console only the commands', async () => {
    await using page = await open('docs/guide/field-ownership.html')
    const copied = (language: string) =>
      page.evaluate<string>(`(async () => {
        let text = ''
        navigator.clipboard.writeText = async (written) => { text = written }
        document.querySelector('pre[data-language="${language}"] + button').click()
        return text
      })()`)
    expect(await copied('console')).toBe('krmkit apply new.yaml --live web.yaml --field-manager ci\n')
    expect(await copied('ts')).toMatch(/^import assert from 'node:assert\/strict'\n/)
  })

  it('is used by keyboard: search, results, back to the search', async () => {
    await using page = await open('index.html')
    await page.type('#query', 'backup')
    await page.evaluate('search().then(() => true)')
    const press = (key: string) =>
      page.evaluate<string>(
        `document.dispatchEvent(new KeyboardEvent('keydown', { key: '${key}' })); document.activeElement.tagName`,
      )
    expect(await press('ArrowDown')).toBe('A')
    expect(await press('Escape')).toBe('INPUT')
    expect(await page.evaluate('results.hidden')).toBe(true)
  })
})
