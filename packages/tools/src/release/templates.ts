/** Projects of `npm create krmkit`, created by its tarball in empty folders: each installs the packed packages, and its scripts run. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { readJson } from '../lib/workspace.ts'
import { type CheckResult, install, type Packed, problemsOf } from './project.ts'
import { packageOf } from './tarballs.ts'

/** What runs in the project of a template after `npm install`. */
const checks: Readonly<Record<string, (folder: string) => string[] | Promise<string[]>>> = {
  'control-plane': async (folder) => [...npm(folder, 'test'), ...npm(folder, 'run', 'build'), ...(await checkServer(folder))],
  operator: (folder) => [...npm(folder, 'test'), ...checkDefinition(folder)],
  'ci-linter': (folder) => [...npm(folder, 'test'), ...npm(folder, 'run', 'lint', '--', 'deploy')],
}

export async function checkTemplates(work: string, packed: readonly Packed[]): Promise<CheckResult[]> {
  const { tarball } = packageOf(packed, 'create-krmkit')
  const results: CheckResult[] = []
  for (const [template, check] of Object.entries(checks)) {
    const create = ['exec', '--yes', `--package=file:${tarball}`, '--', 'create-krmkit', template, '--template', template]
    const env = { KRMKIT_TARBALLS: dirname(tarball) }
    const problems = problemsOf('npm', create, { cwd: work, env, prints: 'npm install' })
    const folder = join(work, template)
    if (problems.length === 0) {
      install(folder)
      problems.push(...(await check(folder)))
    }
    results.push({ name: `template ${template}`, problems })
  }
  return results
}

function npm(folder: string, ...args: readonly string[]): string[] {
  return problemsOf('npm', args, { cwd: folder })
}

/** `npm run definition` writes the definition that the template contains. */
function checkDefinition(folder: string): string[] {
  const read = () => JSON.stringify(readJson<unknown>(join(folder, 'config/definition.json')))
  const before = read()
  const problems = npm(folder, 'run', 'definition')
  return read() === before ? problems : [...problems, 'config/definition.json is not that of the schema']
}

/** The program serves a client that has its kubeconfig, and stops on a signal. */
async function checkServer(folder: string): Promise<string[]> {
  const client = `import { createRemoteClient, loadKubeconfig } from 'krmkit'
import { Database } from './dist/database.js'
const client = createRemoteClient(await loadKubeconfig({ path: 'data/kubeconfig' }))
await client.create(Database, { metadata: { name: 'orders' }, spec: { engine: 'postgres' } })
for await (const { object } of client.watch(Database)) if (object.status !== undefined) { console.log(object.status.address); break }
`
  writeFileSync(join(folder, 'client.mjs'), client)
  const env = { ...process.env, PORT: '0' }
  const child = spawn(process.execPath, ['dist/main.js'], { cwd: folder, env, stdio: ['ignore', 'pipe', 'inherit'] })
  const exited = once(child, 'exit')
  const [outcome] = await Promise.race([once(child.stdout, 'data'), exited])
  const problems = String(outcome).includes('kubectl --kubeconfig')
    ? problemsOf(process.execPath, ['client.mjs'], { cwd: folder, prints: 'databases.example.com' })
    : [`the server does not start: ${outcome}`]
  child.kill('SIGTERM')
  const [code] = await exited
  return code === 0 ? problems : [...problems, `the server ended with ${code} after SIGTERM`]
}
