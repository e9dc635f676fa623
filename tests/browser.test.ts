import { builtinModules } from 'node:module'
import { createContext, runInContext } from 'node:vm'
import { rolldown } from 'rolldown'
import { describe, expect, it } from 'vitest'
import { root } from './source-files.ts'

/** Packages for browser tools, bundled as for a browser and run without Node built-ins. */

/** A script that assigns its exports to `bundle`; fails when it imports modules that browsers do not have. */
async function bundleOf(source: string): Promise<string> {
  const build = await rolldown({
    input: 'entry',
    cwd: root,
    platform: 'browser',
    resolve: { conditionNames: ['source', 'browser', 'import', 'module', 'default'] },
    plugins: [
      {
        name: 'entry',
        resolveId: (id) => (id === 'entry' ? `${root}entry.ts` : null),
        load: (id) => (id === `${root}entry.ts` ? source : null),
      },
    ],
    onLog(level, log, handler) {
      if (log.code !== 'EVAL' && log.code !== 'CIRCULAR_DEPENDENCY') handler(level, log)
    },
  })
  const { output } = await build.generate({ format: 'iife', name: 'bundle' })
  await build.close()
  const [chunk] = output
  expect(output).toHaveLength(1)
  expect(chunk.imports.filter((name) => name.startsWith('node:') || builtinModules.includes(name))).toEqual([])
  return chunk.code
}

/** The value that the script assigns to `bundle.answer`, run with browser globals only. */
function run(code: string): unknown {
  const web = { TextEncoder, TextDecoder, structuredClone, atob, btoa, crypto, URL, console }
  const context = createContext({ ...web })
  return JSON.parse(runInContext(`${code}\n;JSON.stringify(bundle.answer)`, context) as string)
}

describe('in a browser', () => {
  it('@krmkit/fieldmanager applies, explains and blames', async () => {
    const code = await bundleOf(`
      import { apply, blameLines, jsonPatch, strategicMergePatch } from '@krmkit/fieldmanager'
      import { Deployment } from '@krmkit/kinds/apps/v1'
      const object = (replicas) => ({ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'a' }, spec: { replicas } })
      const schema = Deployment.type()
      const live = apply({ applied: object(1), manager: 'ci', schema, now: 0 }).object
      const { conflicts } = apply({ live, applied: object(2), manager: 'me', schema, now: 0 })
      export const answer = {
        conflicts: conflicts.map(({ message }) => message),
        owned: blameLines(live, schema).filter(({ owners }) => owners.length > 0).map(({ text }) => text),
        patched: jsonPatch(object(1), [{ op: 'replace', path: '/spec/replicas', value: 3 }]).spec,
        merged: strategicMergePatch(schema, object(1), { spec: { replicas: null } }).spec,
      }
    `)
    expect(run(code)).toEqual({
      conflicts: ['conflict with "ci"'],
      owned: ['  replicas: 1'],
      patched: { replicas: 3 },
      merged: {},
    })
  })

  it('@krmkit/fieldmanager alone is small, and @krmkit/kinds can be imported one kind at a time', async () => {
    const engine = await bundleOf(`export { apply as answer } from '@krmkit/fieldmanager'`)
    expect(engine.length).toBeLessThan(200_000)
    const one = await bundleOf(
      `import { ConfigMap } from '@krmkit/kinds/core/v1'\nexport const answer = ConfigMap.validate(ConfigMap.create({ metadata: { name: 'A' } })).map(({ field }) => field)`,
    )
    expect(run(one)).toEqual(['metadata.name'])
    const all = await bundleOf(`export { builtInKinds as answer } from '@krmkit/kinds'`)
    expect(one.length).toBeLessThan(all.length / 2)
  })

  it('@krmkit/schema parses and prints', async () => {
    const code = await bundleOf(`
      import { parseYaml, printYaml } from '@krmkit/schema'
import { readManifest } from '@krmkit/schema/manifest'
      export const answer = [printYaml(parseYaml('b: [1]\\na: yes').value), readManifest('a: 1\\nb: {c: 2}')[0].range('b.c').column]
    `)
    expect(run(code)).toEqual(['a: true\nb:\n- 1\n', 8])
  })
})
