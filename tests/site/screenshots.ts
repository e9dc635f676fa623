/** Takes the pictures of the documentation: `screenshots.ts FOLDER-OF-THE-BUILT-PAGES FOLDER-OF-THE-PICTURES`. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { extname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { ConfigMap } from '@krmkit/kinds/core/v1'
import { createTestServer } from '@krmkit/testing'
import { ChromiumPage, findChromium } from '../playground/chromium.ts'

const maxBytes = 150_000
const size = { width: 1280, height: 800 }
const types: Readonly<Record<string, string>> = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css' }

const [built = '', pictures = ''] = process.argv.slice(2)
const chromium = findChromium()
if (chromium === undefined) throw new Error('there is no Chromium; the variable CHROMIUM is its path')
mkdirSync(pictures, { recursive: true })
await take('site', pathToFileURL(join(built, 'site/docs/guide/getting-started.html')).href)
await take('inspector', pathToFileURL(await inspectorPage()).href, [
  `document.querySelectorAll('summary').forEach((each) => each.click())`,
])
await takePlayground()
rmSync(built, { recursive: true, force: true })

/** Writes a picture of a page in light and in dark. @param steps expressions that run in the page before */
async function take(name: string, url: string, steps: readonly string[] = []): Promise<void> {
  await using page = await ChromiumPage.open(chromium!, url, size)
  for (const step of steps) await page.evaluate(`Promise.resolve(${step}).then(() => 0)`)
  for (const value of ['light', 'dark']) {
    await page.send('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value }] })
    const picture = await page.screenshot('webp')
    if (picture.length > maxBytes) throw new Error(`${name}-${value} has ${picture.length} bytes, more than ${maxBytes}`)
    writeFileSync(join(pictures, `${name}-${value}.webp`), picture)
    console.log(`${name}-${value}.webp: ${picture.length} bytes`)
  }
  if (page.errors.length > 0) throw new Error(`${name}: ${page.errors.join('\n')}`)
}

/** The inspector of a test in which two managers change one object. */
async function inspectorPage(): Promise<string> {
  await using cluster = await createTestServer()
  await cluster.client.create(ConfigMap, { metadata: { name: 'web' }, data: { color: 'red' } })
  const painter = cluster.as('painter')
  await painter.patch(ConfigMap, 'web', { type: 'merge', patch: { data: { color: 'blue' } }, fieldManager: 'painter' })
  await cluster.client.list(ConfigMap)
  const file = join(built, 'inspector.html')
  await cluster.inspect({ file })
  return file
}

async function takePlayground(): Promise<void> {
  const folder = join(built, 'playground')
  const server = createServer((request, response) => {
    const path = request.url === '/' ? '/index.html' : (request.url ?? '')
    response.setHeader('content-type', types[extname(path)] ?? 'text/plain').end(readFileSync(join(folder, path)))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const until = (condition: string) =>
    `await new Promise((resolve) => { const check = () => (${condition} ? resolve() : setTimeout(check, 50)); check() })`
  const outputHas = (text: string) => until(`document.querySelector('#output').textContent.includes('${text}')`)
  await take('playground', `http://127.0.0.1:${port}/`, [
    `(async () => {
      ${until(`document.documentElement.dataset.ready`)}
      document.querySelector('#watch-form').requestSubmit()
      document.querySelector('#apply').click()
      ${outputHas('serverside-applied')}
      document.querySelector('#line').value = 'kubectl get deployments'
      document.querySelector('#prompt').requestSubmit()
      ${outputHas('UP-TO-DATE')}
      document.querySelector('#ownership-form').requestSubmit()
      ${until(`document.querySelector('#ownership .owner-0') !== null`)}
    })()`,
  ])
  server.closeAllConnections()
  server.close()
}
