import { gzipSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { browserBuild } from './browser-build.ts'

/**
 * Sizes of bundles for browsers, minified and with gzip, in kB. Chunks that are imported on demand do not count: the CEL engine, what
 * custom resources and certificates need, differences of structs, columns of Tables, allocators of services, OpenAPI documents, the models
 * of earlier releases and
 * codecs of other formats are loaded by the first request that needs them.
 */
const budgets: readonly (readonly [name: string, source: string, kilobytes: number])[] = [
  ['the apply engine', `export { apply } from '@krmkit/fieldmanager'`, 25],
  ['a small kind', `export { ConfigMap } from '@krmkit/kinds/core/v1'`, 31],
  ['a large kind', `export { Pod } from '@krmkit/kinds/core/v1'`, 80.5],
  ['the rules of all kinds', `export { builtInKinds } from '@krmkit/kinds'`, 179.5],
  ['validation of manifests of all kinds', `export { validateManifests } from 'krmkit/validate'`, 221.5],
  ['the server', `export { createApiServer } from '@krmkit/apiserver'\nexport { memoryStorage } from '@krmkit/storage'`, 452],
]

it.each(budgets)('%s is within its size', async (_, source, kilobytes) => {
  const build = await browserBuild(source)
  const { output } = await build.generate({ format: 'es', minify: true })
  await build.close()
  const chunks = new Map(output.filter((each) => each.type === 'chunk').map((chunk) => [chunk.fileName, chunk]))
  const loaded = new Set<string>()
  const load = (name: string): void => {
    const chunk = chunks.get(name)
    if (chunk === undefined || loaded.has(name)) return
    loaded.add(name)
    for (const each of chunk.imports) load(each)
  }
  for (const chunk of chunks.values()) if (chunk.isEntry) load(chunk.fileName)
  const bytes = [...loaded].reduce((sum, name) => sum + gzipSync(chunks.get(name)!.code).length, 0)
  expect(bytes / 1000).toBeLessThan(kilobytes)
})
