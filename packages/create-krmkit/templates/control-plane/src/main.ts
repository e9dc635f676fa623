import { randomBytes } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { listen, lmdbStorage, selfSigned } from 'krmkit'
import { startControlPlane } from './control-plane.ts'
import { MemoryProvisioner } from './provisioner.ts'

/** Serves the control plane on a port, with objects, certificate and token in the folder `data`. */

const folder = process.env['DATA'] ?? 'data'
const port = Number(process.env['PORT'] ?? 8443)
await mkdir(folder, { recursive: true, mode: 0o700 })
const token = await readToken(`${folder}/token`)

await using controlPlane = await startControlPlane({
  storage: await lmdbStorage({ dir: `${folder}/objects` }),
  provisioner: new MemoryProvisioner(),
  tokens: [{ token, user: { username: 'admin', groups: ['system:masters'] } }],
})
await using listener = await listen(controlPlane.server, { port, tls: selfSigned(`${folder}/pki`) })
const kubeconfig = `${folder}/kubeconfig`
await writeFile(kubeconfig, kubeconfigText(listener.url, listener.authority ?? ''), { mode: 0o600 })
console.log(`kubectl --kubeconfig ${kubeconfig} get databases`)

await new Promise<void>((resolve) => {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve())
})

/** The token of the administrator, made at the first start. */
async function readToken(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    const made = randomBytes(24).toString('base64url')
    await writeFile(file, made, { mode: 0o600 })
    return made
  }
}

/** JSON, which is YAML as well. */
function kubeconfigText(server: string, authority: string): string {
  const name = 'control-plane'
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name, cluster: { server, 'certificate-authority-data': Buffer.from(authority).toString('base64') } }],
    users: [{ name, user: { token } }],
    contexts: [{ name, context: { cluster: name, user: name } }],
    'current-context': name,
  })
}
