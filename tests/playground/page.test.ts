import { readFileSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { extname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { buildPlayground, type PlaygroundFile } from '../../packages/tools/src/playground.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { ChromiumPage, findChromium } from './chromium.ts'

/** The built playground: its size, and its page in Chromium where one is installed. */

const folder = temporaryFolder()
const types: Readonly<Record<string, string>> = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css' }
const chromium = findChromium()
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
let files: readonly PlaygroundFile[]
let server: Server
let url: string

beforeAll(async () => {
  files = await buildPlayground(folder)
  server = createServer((request, response) => {
    const path = request.url === '/' ? '/index.html' : (request.url ?? '')
    const known = files.some(({ name }) => `/${name}` === path)
    if (!known) response.writeHead(404).end()
    else response.setHeader('content-type', types[extname(path)] ?? 'text/plain').end(readFileSync(`${folder}${path}`))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

it('is smaller than 1 MB with gzip', () => {
  expect(files.reduce((sum, { gzipBytes }) => sum + gzipBytes, 0)).toBeLessThan(1_000_000)
})

it('sets texts of objects only as text', () => {
  const page = readFileSync(join(folder, 'main.js'), 'utf8')
  expect(page).not.toMatch(/innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(/)
})

describe.skipIf(chromium === undefined)('in Chromium (skipped without one; CHROMIUM names it)', () => {
  const ready = `new Promise((resolve) => { const check = () => document.documentElement.dataset.ready ? resolve(true) : setTimeout(check, 20); check() })`
  /** Waits until an expression is true. */
  const until = (condition: string) =>
    `new Promise((resolve, reject) => { const end = Date.now() + 30000; const check = () => { if (${condition}) resolve(true); else if (Date.now() > end) reject(new Error(${JSON.stringify(condition)} + ': ' + document.body.innerText.slice(-1500))); else setTimeout(check, 20) }; check() })`
  const type = (line: string) =>
    `document.querySelector('#line').value = ${JSON.stringify(line)}; document.querySelector('#prompt').requestSubmit()`
  const outputHas = (text: string) => until(`document.querySelector('#output').textContent.includes(${JSON.stringify(text)})`)
  const edit = (text: string) =>
    `document.querySelector('#manifests').value = ${JSON.stringify(text)}; document.querySelector('#manifests').dispatchEvent(new Event('input'))`

  it('serves, validates, applies, blames, watches and shares', async () => {
    await using page = await ChromiumPage.open(chromium!, url)
    await page.evaluate(ready)
    await page.evaluate(until(`document.querySelector('#problems').textContent === 'none'`))
    await page.evaluate(`document.querySelector('#watch-form').requestSubmit()`)
    await page.evaluate(`document.querySelector('#preview').click()`)
    await page.evaluate(until(`document.querySelector('#changes').textContent.includes('+ kind: Deployment')`))
    await page.evaluate(`document.querySelector('#apply').click()`)
    await page.evaluate(outputHas('deployment.apps/web serverside-applied'))
    await page.evaluate(type('kubectl get deployments'))
    await page.evaluate(outputHas('UP-TO-DATE'))
    await page.evaluate(until(`/default +web/.test(document.querySelector('#watch').textContent)`))
    await page.evaluate(`document.querySelector('#ownership-form').requestSubmit()`)
    await page.evaluate(
      until(
        `[...document.querySelectorAll('#ownership [class*="owner-"]')].some((line) => line.textContent.includes('replicas: 2') && line.textContent.includes('kubectl'))`,
      ),
    )
    await page.evaluate(`document.querySelector('#manager').value = 'jane'; 0`)
    await page.evaluate(
      edit(await page.evaluate<string>(`document.querySelector('#manifests').value.replace('replicas: 2', 'replicas: 5')`)),
    )
    await page.evaluate(`document.querySelector('#preview').click()`)
    await page.evaluate(
      until(`document.querySelector('#changes').textContent.includes('conflict with "kubectl": .spec.replicas')`),
    )
    await page.evaluate(`document.querySelector('#access-form').requestSubmit()`)
    await page.evaluate(until(`document.querySelector('#access').textContent.includes('no: jane may not get secrets')`))
    await page.evaluate(edit('apiVersion: v1\nkind: Pod\nmetadata:\n  name: <img src=x onerror=alert(1)>\n'))
    await page.evaluate(until(`/error 4:9 Pod <img src=x/.test(document.querySelector('#problems').textContent)`))
    expect(await page.evaluate(`document.querySelectorAll('img, main script').length`)).toBe(0)
    await page.evaluate(`document.querySelector('#share').click()`)
    await page.evaluate(until(`location.hash.startsWith('#1')`))
    expect(page.errors).toEqual([])
    const { KRMKIT_SCREENSHOTS: screenshots } = process.env
    if (screenshots !== undefined) writeFileSync(join(screenshots, 'desktop.png'), await page.screenshot())
    const shared = await page.evaluate<string>('location.href')
    await using other = await ChromiumPage.open(chromium!, shared)
    await other.evaluate(ready)
    expect(await other.evaluate(`document.querySelector('#manifests').value`)).toContain('<img src=x')
    await other.evaluate(type('get deploy web -o name'))
    await other.evaluate(outputHas('deployment.apps/web'))
    expect(other.errors).toEqual([])
  })

  it('is interactive within 2 seconds', async () => {
    const times: number[] = []
    // The best of three: other work on the machine is not the time of the page.
    while (times.length < 3 && !times.some((time) => time < 2000)) {
      await using page = await ChromiumPage.open(chromium!, url)
      await page.evaluate(ready)
      times.push(await page.evaluate<number>(`performance.getEntriesByName('ready')[0].startTime`))
    }
    expect(Math.min(...times)).toBeLessThan(2000)
  })

  it('runs pods on simulated nodes, and stops and starts these', async () => {
    await using page = await ChromiumPage.open(chromium!, url)
    await page.evaluate(ready)
    await page.evaluate(until(`!document.querySelector('#nodes').disabled`))
    await page.evaluate(`document.querySelector('#apply').click()`)
    await page.evaluate(outputHas('deployment.apps/web serverside-applied'))
    await page.evaluate(type('kubectl get pods -w'))
    await page.evaluate(
      until(`(document.querySelector('#output').textContent.match(/web-\\S+ +1\\/1 +Running/g) ?? []).length >= 2`),
    )
    await page.evaluate(`document.querySelector('#stop').click()`)
    await page.evaluate(type('kubectl get deployment web -w'))
    await page.evaluate(outputHas('2/2'))
    await page.evaluate(`document.querySelector('#stop').click()`)
    const toggle = `document.querySelector('#nodes').click()`
    await page.evaluate(toggle)
    await page.evaluate(until(`!document.querySelector('#nodes').disabled`))
    await page.evaluate(type('kubectl scale deployment web --replicas 3'))
    await page.evaluate(outputHas('deployment.apps/web scaled'))
    await page.evaluate(type('kubectl get deployment web'))
    await page.evaluate(outputHas('2/3'))
    await page.evaluate(toggle)
    await page.evaluate(until(`!document.querySelector('#nodes').disabled`))
    await page.evaluate(type('kubectl get deployment web -w'))
    await page.evaluate(outputHas('3/3'))
    expect(page.errors).toEqual([])
  })

  it('switches the release', async () => {
    await using page = await ChromiumPage.open(chromium!, url)
    await page.evaluate(ready)
    await page.evaluate(edit('apiVersion: batch/v1beta1\nkind: CronJob\nmetadata: { name: a }\n'))
    await page.evaluate(until(`document.querySelector('#problems').textContent.includes('was removed in Kubernetes 1.25')`))
    await page.evaluate(
      `document.querySelector('#release').value = '1.24'; document.querySelector('#release').dispatchEvent(new Event('change'))`,
    )
    await page.evaluate(until(`document.querySelector('#status').textContent === 'Serving Kubernetes 1.24'`))
    await page.evaluate(until(`!document.querySelector('#problems').textContent.includes('was removed')`))
    expect(page.errors).toEqual([])
  })

  it('fits a phone, names every control, and has enough contrast in light and dark', async () => {
    await using page = await ChromiumPage.open(chromium!, url, { width: 360, height: 740 })
    await page.evaluate(ready)
    expect(await page.evaluate(`document.documentElement.scrollWidth`)).toBe(360)
    await page.evaluate(`document.querySelector('#apply').click()`)
    await page.evaluate(outputHas('serverside-applied'))
    await page.evaluate(`document.querySelector('#ownership-form').requestSubmit()`)
    await page.evaluate(until(`document.querySelector('#ownership .owner-0') !== null`))
    await page.evaluate(edit('kind: Pod'))
    await page.evaluate(until(`document.querySelector('#problems .error') !== null`))
    expect(await page.evaluate(`document.documentElement.scrollWidth`)).toBe(360)
    const unnamed = `[...document.querySelectorAll('input, select, textarea, button')].filter((each) => !each.labels?.length && !each.ariaLabel && !each.textContent.trim()).map(({ id }) => id)`
    expect(await page.evaluate(unnamed)).toEqual([])
    for (const value of ['light', 'dark']) {
      await page.send('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value }] })
      expect(await page.evaluate<string[]>(lowContrast), value).toEqual([])
      await page.evaluate(`${axe}; 0`)
      expect(
        await page.evaluate(`axe.run({ preload: false }).then(({ violations }) => violations.map(({ id }) => id))`),
        value,
      ).toEqual([])
      const { KRMKIT_SCREENSHOTS: screenshots } = process.env
      if (screenshots !== undefined) writeFileSync(join(screenshots, `phone-${value}.png`), await page.screenshot())
    }
  })
})

/** Texts with a contrast ratio below 4.5 to the nearest background. */
const lowContrast = `(() => {
  const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true })
  const rgba = (color) => { canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = color; canvas.fillRect(0, 0, 1, 1); return [...canvas.getImageData(0, 0, 1, 1).data] }
  const luminance = (color) => { const [r, g, b] = rgba(color).map((part) => { const c = part / 255; return c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4 }); return 0.2126 * r + 0.7152 * g + 0.0722 * b }
  const background = (element) => { for (let each = element; each; each = each.parentElement) { const color = getComputedStyle(each).backgroundColor; if (rgba(color)[3] === 255) return color } return 'white' }
  const shown = [...document.querySelectorAll('body *')].filter((each) => !each.disabled && [...each.childNodes].some((node) => node.nodeType === 3 && node.data.trim() !== ''))
  return shown.flatMap((each) => { const [a, b] = [luminance(getComputedStyle(each).color), luminance(background(each))]; const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05); return ratio < 4.5 ? [each.tagName + ' ' + each.textContent.slice(0, 30) + ' ' + ratio] : [] })
})()`
