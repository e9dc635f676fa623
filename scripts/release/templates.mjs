// Projects of `npm create krmkit`, created by its tarball in empty folders: each installs the packed packages, and its scripts run.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { install, problemsOf } from './project.mjs'

/** What runs in the project of a template after `npm install`. @type {Record<string, (folder: string) => string[] | Promise<string[]>>} */
const checks = {
  'control-plane': async (folder) => [...npm(folder, 'test'), ...npm(folder, 'run', 'build'), ...(await checkServer(folder))],
  operator: (folder) => [...npm(folder, 'test'), ...checkDefinition(folder)],
  'ci-linter': (folder) => [...npm(folder, 'test'), ...npm(folder, 'run', 'lint', '--', 'deploy')],
}

/** @returns the name and problems of each template. */
export async function checkTemplates(work, packed) {
  const { tarball } = packed.find(({ name }) => name === 'create-krmkit')
  const results = []
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

function npm(folder, ...args) {
  return problemsOf('npm', args, { cwd: folder })
}

/** `npm run definition` writes the definition that the template contains. */
function checkDefinition(folder) {
  const read = () => JSON.parse(readFileSync(join(folder, 'config/definition.json'), 'utf8'))
  const before = JSON.stringify(read())
  const problems = npm(folder, 'run', 'definition')
  return JSON.stringify(read()) === before ? problems : [...problems, 'config/definition.json is not that of the schema']
}

/** The program serves a client that has its kubeconfig, and stops on a signal. */
async function checkServer(folder) {
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
