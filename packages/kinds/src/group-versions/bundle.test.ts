import { fileURLToPath } from 'node:url'
import { createContext, runInContext } from 'node:vm'
import { rolldown } from 'rolldown'
import { describe, expect, it } from 'vitest'

/** Size and content of the bundle that a browser loads for one kind. */

const types = (module: string) => fileURLToPath(new URL(`./${module}.generated.ts`, import.meta.url))

async function bundleOf(
  module: string,
  names: string,
  format: 'esm' | 'iife' = 'esm',
): Promise<{ text: string; imports: string[] }> {
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
  const { output } = await bundle.generate({ format, minify: true, name: 'kinds' })
  await bundle.close()
  return {
    text: output.map((part) => (part.type === 'chunk' ? part.code : '')).join(''),
    imports: output.flatMap((part) => (part.type === 'chunk' ? part.imports : [])),
  }
}

describe('a bundle of one handle', () => {
  it('contains the facts and rules of its kind only and needs no Node built-in', async () => {
    const { text, imports } = await bundleOf('core-v1', '{ ConfigMap }')
    expect(imports).toEqual([])
    expect(text).not.toMatch(/from\s*["']node:|require\(/)
    expect(text).toContain('binaryData')
    for (const absent of ['PodSpec', 'readinessProbe', 'PersistentVolume', 'clusterIP', 'stringData', 'volumeMounts']) {
      expect(text, absent).not.toContain(absent)
    }
    const whole = (await bundleOf('core-v1', '*')).text
    expect(whole).toContain('PodSpec')
    // Neither the library of schemas nor that of protobuf.
    expect(text.length).toBeLessThan(110_000)
    expect(text.length).toBeLessThan(whole.length - 220_000)
  })

  it('runs with the globals that every browser has', async () => {
    const { text } = await bundleOf('core-v1', '{ Secret, Pod }', 'iife')
    const context = createContext({ TextEncoder, TextDecoder, atob, btoa, crypto, URL })
    const script = `${text}
      const secret = kinds.Secret.create({ metadata: { name: 's' }, stringData: { a: 'ü' }, type: 'kubernetes.io/tls' })
      const complete = kinds.Secret.default(secret)
      const bytes = kinds.Secret.encode(complete)
      const pod = kinds.Pod.create({ metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } })
      JSON.stringify([
        kinds.Secret.decode(new TextDecoder().decode(bytes)).data,
        kinds.Secret.validate(secret).map(({ field }) => field),
        kinds.Pod.validate(pod),
      ])`
    expect(JSON.parse(runInContext(script, context) as string)).toEqual([{ a: 'w7w=' }, ['data[tls.crt]', 'data[tls.key]'], []])
  })
})
