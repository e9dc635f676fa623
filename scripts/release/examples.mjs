// Installs the packed packages in an empty project and runs the README examples there.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { root } from '../setup.mjs'
import { createProject, problemsOf, workspaceVersion } from './project.mjs'

/** Code that precedes an example, as described in its README. */
const preludes = {
  registry: [
    "import { createAdmissionChain } from '@krmkit/admission'",
    "import { builtInKinds, builtInTypes } from '@krmkit/kinds'",
    "import { createFeatures, stockProfile, systemClock, systemRandom } from '@krmkit/meta'",
    "import { memoryStorage } from '@krmkit/storage'",
    'const own = { clock: systemClock, random: systemRandom, profile: stockProfile, features: createFeatures("1.33") }',
    'const environment = { ...own, storage: memoryStorage(), types: builtInTypes(), admission: createAdmissionChain([]) }',
    'const { signal } = new AbortController()',
    '',
  ].join('\n'),
  controllers: "import { createTestServer } from '@krmkit/testing'\nconst server = await createTestServer({ controllers: [] })\n",
}

/** @returns the name and problems of each example. */
export function runExamples(project, packages) {
  const readmes = [
    { name: 'README.md', file: join(root, 'README.md'), prelude: '' },
    ...packages.map(({ name, folder }) => ({
      name: `packages/${name}/README.md`,
      file: join(folder, 'README.md'),
      prelude: preludes[name] ?? '',
    })),
  ]
  return readmes.map(({ name, file, prelude }) => {
    const code = /```ts\n([\s\S]*?)```/.exec(readFileSync(file, 'utf8'))?.[1]
    return code === undefined ? { name, problems: ['has no example'] } : { name, problems: runExample(project, prelude + code) }
  })
}

/** An empty project with all packages. */
export function installAll(work, packages) {
  const dependencies = Object.fromEntries(packages.map(({ manifest }) => [manifest.name, manifest.version]))
  const manifest = { type: 'module', dependencies: { ...dependencies, zod: workspaceVersion('zod') } }
  return createProject(work, { name: 'project', packed: packages, manifest })
}

function runExample(project, source) {
  const imports = source.includes("'node:assert") ? '' : "import assert from 'node:assert/strict'\n"
  const { outputText } = ts.transpileModule(imports + source, {
    compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 },
  })
  writeFileSync(join(project, 'example.mjs'), outputText)
  return problemsOf(process.execPath, ['example.mjs'], { cwd: project })
}
