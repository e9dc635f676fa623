import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

it('every generated module has a sub-path, and every sub-path a module', () => {
  const root = new URL('../', import.meta.url)
  const { exports } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8')) as {
    exports: Record<string, { source: string; types: string; default: string } | string>
  }
  const modules = readdirSync(new URL('src/types/', root)).filter((name) => name.endsWith('.generated.ts'))
  for (const [path, entry] of Object.entries(exports)) {
    if (typeof entry === 'string') continue
    expect(existsSync(new URL(entry.source, root)), path).toBe(true)
    const stem = entry.source.replace('./src/', './dist/').replace(/\.ts$/, '')
    expect(entry).toEqual({ source: entry.source, types: `${stem}.d.ts`, default: `${stem}.js` })
  }
  const paths = modules.map((name) => `./${name.replace('.generated.ts', '').replace('-', '/')}`)
  expect(paths.filter((path) => !(path in exports))).toEqual([])
})
