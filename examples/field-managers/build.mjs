#!/usr/bin/env node
// Builds the page: one HTML file with an inline script, in dist/. Open it from disk, or serve the folder with any static file server.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'

const here = (path) => fileURLToPath(new URL(path, import.meta.url))

/** The HTML of the page. */
export async function pageHtml() {
  const build = await rolldown({
    input: here('page.ts'),
    platform: 'browser',
    resolve: { conditionNames: ['source', 'browser', 'import', 'module', 'default'] },
    onLog(level, log, handler) {
      if (log.code !== 'CIRCULAR_DEPENDENCY') handler(level, log)
    },
  })
  const { output } = await build.generate({ format: 'esm', minify: true })
  await build.close()
  const script = output[0].code.replaceAll('</script', '<\\/script').replaceAll('<!--', '<\\!--')
  const html = readFileSync(here('index.html'), 'utf8')
  return html.replace('<script type="module" src="page.ts"></script>', () => `<script type="module">${script}</script>`)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  mkdirSync(here('dist'), { recursive: true })
  writeFileSync(here('dist/index.html'), await pageHtml())
  process.stdout.write(`${here('dist/index.html')}\n`)
}
