/** Installs the packed packages in an empty project and runs the README examples there. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { blocksOf } from './pages.ts'
import { type CheckResult, createProject, hasEntries, type Packed, problemsOf, workspaceVersion } from './project.ts'

/** Runs each example of the READMEs of the repository and of its packages. */
export function runExamples(project: string, packages: readonly Packed[]): CheckResult[] {
  const readmes = ['README.md', ...packages.map(({ name }) => `packages/${name}/README.md`)]
  // A command without entry points has no program to show.
  const commands = new Set(
    packages.filter(({ manifest }) => !hasEntries(manifest)).map(({ name }) => `packages/${name}/README.md`),
  )
  return readmes.flatMap((file) => {
    const programs = blocksOf(file).filter(({ language, title }) => language === 'ts' && title === '')
    if (programs.length === 0) return [{ name: file, problems: commands.has(file) ? [] : ['has no example'] }]
    return programs.map(({ name, text }) => ({ name, problems: runExample(project, text) }))
  })
}

/** An empty project with all packages. */
export function installAll(work: string, packages: readonly Packed[]): string {
  const dependencies = Object.fromEntries(packages.map(({ manifest }) => [manifest.name, manifest.version ?? '*']))
  const manifest = { type: 'module', dependencies: { ...dependencies, zod: workspaceVersion('zod') } }
  return createProject(work, { name: 'project', packed: packages, manifest })
}

function runExample(project: string, source: string): string[] {
  const { outputText } = ts.transpileModule(source, {
    compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 },
  })
  writeFileSync(join(project, 'example.mjs'), outputText)
  return problemsOf(process.execPath, ['example.mjs'], { cwd: project })
}
