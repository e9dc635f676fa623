import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { ConfigMap } from '@krmkit/kinds/core/v1'
import { createTestServer, reconciler } from '@krmkit/testing'
import { beforeAll, describe, expect, it } from 'vitest'
import { ChromiumPage, findChromium } from '../playground/chromium.ts'
import { temporaryFolder } from '../temporary-folder.ts'

/** The page of the inspector, used as a person uses it. */

const chromium = findChromium()
const folder = temporaryFolder()
const file = join(folder, 'pages', 'inspector.html')

beforeAll(async () => {
  await using cluster = await createTestServer()
  cluster.run(reconciler({ name: 'watcher', resource: ConfigMap, reconcile: async () => undefined }), { user: 'watcher' })
  const created = await cluster.client.create(ConfigMap, {
    metadata: { name: 'web', namespace: 'default' },
    data: { color: 'red' },
  })
  await cluster.as('painter').update(ConfigMap, { ...created, data: { color: 'blue' } }, { fieldManager: 'painter' })
  await cluster.client.list(ConfigMap)
  await cluster.settle()
  await cluster.inspect({ file })
})

const title = `the inspector in Chromium${chromium === undefined ? ' (skipped without it: set CHROMIUM to its path)' : ''}`

describe.skipIf(chromium === undefined)(title, () => {
  const visible = `[...document.querySelectorAll('#requests > li')].filter((item) => !item.hidden).map((item) => item.textContent)`
  const set = (id: string, member: string, value: unknown) =>
    `(() => { const input = document.getElementById('${id}'); input.${member} = ${JSON.stringify(value)}; input.dispatchEvent(new Event('input')) })()`

  it('filters the timeline by text, reads, controllers and runs', async () => {
    await using page = await ChromiumPage.open(chromium!, pathToFileURL(file).href)
    const shown = () => page.evaluate<string[]>(visible)
    const all = await shown()
    expect(all.some((text) => text.includes('update configmaps "web"'))).toBe(true)
    expect(all.some((text) => text.startsWith('run') && text.includes('watcher'))).toBe(true)
    await page.evaluate(set('runs', 'checked', false))
    expect((await shown()).filter((text) => text.startsWith('run'))).toEqual([])
    await page.evaluate(set('controllers', 'checked', false))
    expect((await shown()).filter((text) => text.includes('system:kube-controller-manager'))).toEqual([])
    await page.evaluate(set('reads', 'checked', false))
    expect((await shown()).filter((text) => text.includes('list configmaps'))).toEqual([])
    await page.evaluate(set('filter', 'value', 'PAINTER'))
    expect(await shown()).toHaveLength(1)
    expect(page.errors).toEqual([])
  })

  it('opens a request with its decision, and goes to the object, its differences and the owners of its lines', async () => {
    await using page = await ChromiumPage.open(chromium!, pathToFileURL(file).href)
    const opened = await page.evaluate<string>(`(async () => {
      const row = [...document.querySelectorAll('#requests > li')].find((item) => item.textContent.includes('painter'))
      row.querySelector('details').open = true
      await new Promise((resolve) => setTimeout(resolve, 100))
      row.querySelector('button').click()
      await new Promise((resolve) => setTimeout(resolve, 100))
      return row.textContent
    })()`)
    expect(opened).toContain('authenticated painter by in-process')
    const object = await page.evaluate<string>(`(async () => {
      const object = [...document.querySelectorAll('#objects > details')].find((each) => each.open)
      object.querySelectorAll('details').forEach((each) => { each.open = true })
      await new Promise((resolve) => setTimeout(resolve, 100))
      return object.innerText
    })()`)
    expect(object).toContain('ConfigMap default/web')
    expect(object).toContain('modified .data.color: "red" -> "blue"')
    expect(object).toMatch(/color: blue\s+painter/)
    expect(page.errors).toEqual([])
  })

  it('has no accessibility violations, light or dark', async () => {
    const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
    await using page = await ChromiumPage.open(chromium!, pathToFileURL(file).href)
    for (const value of ['light', 'dark']) {
      await page.send('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value }] })
      await page.evaluate(`${axe}; 0`)
      const violations = await page.evaluate<string[]>(`axe.run({ preload: false }).then(({ violations }) =>
        violations.flatMap(({ id, nodes }) => nodes.slice(0, 3).map(({ target }) => id + ': ' + target.join(' '))))`)
      expect(violations, value).toEqual([])
    }
  })
})
