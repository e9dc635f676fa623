import { writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { pageHtml } from './build.mjs'
import { BrowserPage, findChromium } from './chromium.ts'
import { stories } from './stories.ts'
import { Workshop } from './workshop.ts'

const deployment = (spec: string) => `apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: ${spec}\n`

describe('workshop', () => {
  it('runs every scenario without an error', () => {
    for (const { title, steps } of stories) {
      const workshop = new Workshop(() => 0)
      const kinds = steps.map(({ side, yaml }) => workshop.apply(side, yaml).kind)
      const conflict = title === 'a conflict'
      expect(kinds, title).toEqual(steps.map((_, index) => (conflict && index === steps.length - 1 ? 'conflict' : 'applied')))
    }
  })

  it('reports invalid configurations', () => {
    const workshop = new Workshop(() => 0)
    workshop.apply('ci', deployment('{replicas: 1}'))
    const say = (yaml: string) => {
      const outcome = workshop.apply('ci', yaml)
      return outcome.kind === 'refused' ? outcome.message : outcome.kind
    }
    expect(say('')).toBe('There is nothing to apply.')
    expect(say('a: b: c')).toBe('Line 1: mapping values are not allowed in this context.')
    expect(say(deployment('{replicas: "1"}'))).toBe('Line 4: spec.replicas has the wrong type.')
    expect(say(deployment('{replicaz: 1}'))).toBe('Unknown field "spec.replicaz".')
    expect(say('kind: X')).toBe('An object needs apiVersion, kind and metadata.name.')
    expect(say(deployment('{}').replace('web', 'db'))).toBe(
      'The object is Deployment web, not Deployment db. Start afresh to apply another one.',
    )
  })
})

const chromium = findChromium()
if (chromium === undefined) {
  it.skip('the page in a browser: skipped, since Chromium is not installed (nor named by CHROMIUM)', () => undefined)
}

describe.runIf(chromium !== undefined)('the page in a browser', () => {
  let server: Server
  let page: BrowserPage

  beforeAll(async () => {
    const html = await pageHtml()
    server = createServer((request, response) => {
      const found = request.url === '/'
      response.writeHead(found ? 200 : 404, { 'content-type': 'text/html; charset=utf-8' }).end(found ? html : '')
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
    page = await BrowserPage.open(chromium as string, { url, width: 1440, height: 1000 })
  })

  afterAll(async () => {
    await page?.[Symbol.asyncDispose]()
    server?.closeAllConnections()
    server?.close()
  })

  const text = (selector: string) => page.evaluate<string>(`document.querySelector(${JSON.stringify(selector)}).innerText`)
  const story = async (title: string) => {
    const index = stories.findIndex((each) => each.title === title)
    await page.click(`#stories button:nth-of-type(${index + 1})`)
  }
  /** The owners of the line of a field. */
  const owners = (field: string) =>
    page.evaluate<string | undefined>(
      `[...document.querySelectorAll('.row')].filter((row) => row.dataset.field === ${JSON.stringify(field)}).at(-1)?.dataset.owners`,
    )
  const configure = async (side: string, yaml: string) => {
    await page.type(`#${side} textarea`, yaml)
    await page.click(`#${side} .primary`)
  }

  it('opens with two managers that own parts of one list', async () => {
    expect(await text('h1')).toBe('Who owns this field?')
    expect(await owners('.spec.replicas')).toBe('ci')
    expect(await owners('.spec.template.spec.containers[name="app"].image')).toBe('ci')
    expect(await owners('.spec.template.spec.containers[name="proxy"].image')).toBe('platform')
    expect(await owners('.metadata.name')).toBe('')
    expect(await text('#live')).toContain('image: nginx:1.27')
    expect(await page.evaluate(`document.querySelector('#stored').textContent`)).toContain('k:{"name":"proxy"}')
  })

  it('shows a conflict and its resolutions', async () => {
    await configure('b', deployment('{replicas: 9}'))
    expect(await text('#b .conflict')).toContain('.spec.replicas belongs to ci: it is 3, you want 9.')
    expect(await page.evaluate(`[...document.querySelectorAll('.row.fought')].map((row) => row.innerText.trim())`)).toEqual([
      expect.stringContaining('replicas: 3'),
    ])
    expect(await owners('.spec.replicas')).toBe('ci')
    // Nothing was applied: the container that the configuration omits still exists.
    expect(await owners('.spec.template.spec.containers[name="proxy"].image')).toBe('platform')
  })

  it('takes over with force', async () => {
    await page.click('#b [data-way=force]')
    expect(await owners('.spec.replicas')).toBe('platform')
    expect(await text('#live')).toContain('replicas: 9')
    // A field that its last owner omits is removed.
    expect(await text('#live')).not.toContain('envoy')
    expect(await text('#b .say')).toContain('.spec.replicas: 3 to 9')
  })

  it('shares a value, and omits a field', async () => {
    await story('a conflict')
    await page.click('#b [data-way=share]')
    expect(await owners('.spec.replicas')).toBe('ci,platform')
    expect(await page.evaluate(`document.querySelector('#b textarea').value`)).toContain('replicas: 3')
    await story('a conflict')
    await page.click('#b [data-way=abandon]')
    expect(await owners('.spec.replicas')).toBe('ci')
    expect(await page.evaluate(`document.querySelector('#b textarea').value`)).not.toContain('replicas')
  })

  it('transfers a field without force', async () => {
    await story('handing over')
    expect(await owners('.spec.replicas')).toBe('platform')
    expect(await text('#log')).not.toContain('conflict')
  })

  it('extracts the fields of a manager, and reports errors', async () => {
    await story('two parts of one list')
    await page.click('#b .take')
    const owned = await page.evaluate<string>(`document.querySelector('#b textarea').value`)
    expect(owned).toContain('name: proxy')
    expect(owned).not.toContain('nginx')
    await configure('b', 'a: b: c')
    expect(await text('#b .say')).toBe('Line 1: mapping values are not allowed in this context.')
    await configure('b', owned)
    expect(await text('#b .say')).toContain('Applied')
  })

  it('resets, with objects of other kinds too', async () => {
    await page.click('#afresh')
    expect(await text('#live')).toContain('Nothing here yet')
    await configure('a', 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: <b>bold</b>}\ndata: {a: <script>alert(1)</script>}\n')
    expect(await owners('.data.a')).toBe('ci')
    expect(await text('#live')).toContain('<script>alert(1)</script>')
  })

  it('works on a small screen without errors', async () => {
    for (const width of [420, 1440]) {
      await page.resize(width, 1000)
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), `${width} pixels`).toBe(true)
    }
    expect(page.faults.filter((fault) => !fault.includes('favicon'))).toEqual([])
  })

  it('matches the picture in the documentation', async () => {
    await story('a conflict')
    const picture = await page.picture()
    expect(picture.length).toBeGreaterThan(20_000)
    const wanted = process.env.UPDATE_PICTURE
    if (wanted !== undefined) writeFileSync(fileURLToPath(new URL('../../docs/field-managers.png', import.meta.url)), picture)
  })
})
