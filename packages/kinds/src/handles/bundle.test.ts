import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'
import { describe, expect, it } from 'vitest'

/** What a browser has to load for one kind. */

const types = (module: string) => fileURLToPath(new URL(`../types/${module}.generated.ts`, import.meta.url))

async function bundleOf(module: string, names: string): Promise<{ text: string; imports: string[] }> {
  const entry = '\0entry'
  const bundle = await rolldown({
    input: entry,
    platform: 'browser',
    resolve: { conditionNames: ['source', 'browser', 'import', 'default'] },
    logLevel: 'silent',
    plugins: [
      {
        name: 'entry',
        resolveId: (id) => (id === entry ? id : undefined),
        load: (id) => (id === entry ? `export ${names} from ${JSON.stringify(types(module))}` : undefined),
      },
    ],
  })
  const { output } = await bundle.generate({ format: 'esm', minify: true })
  await bundle.close()
  return {
    text: output.map((part) => (part.type === 'chunk' ? part.code : '')).join(''),
    imports: output.flatMap((part) => (part.type === 'chunk' ? part.imports : [])),
  }
}

describe('a bundle of one handle', () => {
  it('has the facts and rules of its kind and of no other, and runs in a browser', async () => {
    const { text, imports } = await bundleOf('core-v1', '{ ConfigMap }')
    expect(imports).toEqual([])
    expect(text).not.toMatch(/from\s*["']node:|require\(/)
    expect(text).toContain('binaryData')
    for (const absent of ['PodSpec', 'readinessProbe', 'PersistentVolume', 'clusterIP', 'stringData', 'volumeMounts']) {
      expect(text, absent).not.toContain(absent)
    }
    const whole = (await bundleOf('core-v1', '*')).text
    expect(whole).toContain('PodSpec')
    // Two fifths are the schema library, a fifth the protobuf one.
    expect(text.length).toBeLessThan(260_000)
    expect(text.length).toBeLessThan(whole.length / 2)
  }, 60_000)
})
