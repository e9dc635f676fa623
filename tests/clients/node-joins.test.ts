import { join } from 'node:path'
import { bootstrapTokenSecret, formatBootstrapToken, generateBootstrapToken } from '@krmkit/certificates/bootstrap'
import { type Client, createRemoteClient, loadKubeconfig, resourceType } from '@krmkit/client'
import { systemRandom } from '@krmkit/meta'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { temporaryFolder } from '../temporary-folder.ts'
import { goProgram } from './support/go-program.ts'
import { type ServerProcess, startServerProcess } from './support/server-process.ts'
import { run } from './support/tool.ts'

/**
 * The certificate manager of client-go, with which kubelets request and renew certificates, in a small program that is built once
 * (`node-joins/`). Skipped without Go or a module proxy.
 */

const program = await goProgram('node-joins')
const secrets = resourceType({ group: '', version: 'v1', resource: 'secrets', kind: 'Secret' })
const nodes = resourceType({ group: '', version: 'v1', resource: 'nodes', kind: 'Node', namespaced: false })
const joiners = ['system:bootstrappers:kubeadm:default-node-token']

const folder = temporaryFolder()
let server: ServerProcess
let admin: Client

beforeAll(async () => {
  const flags = ['--enable-bootstrap-token-auth', '--publish-cluster-info', '--enable-admission-plugins=NodeRestriction']
  server = await startServerProcess(['--storage=memory', '--secure-port=0', `--data-dir=${folder}`, ...flags])
  admin = createRemoteClient(await loadKubeconfig({ path: join(folder, 'admin.kubeconfig') }))
})

afterAll(async () => {
  await admin?.close()
  await server?.kill()
})

describe.skipIf(program.missing !== undefined)(
  `a node${program.missing === undefined ? '' : ` (skipped: ${program.missing})`}`,
  () => {
    it('gets its certificate with a bootstrap token, and renews it as a node [P99, P131, P134]', async () => {
      const token = generateBootstrapToken(systemRandom)
      await admin.create(secrets, bootstrapTokenSecret(token, { groups: joiners }))
      const args = [server.url, join(folder, 'pki', 'ca.crt'), formatBootstrapToken(token), 'n1', join(folder, 'n1')]
      const finished = await run(program.path, args, { timeoutMs: 80_000 })
      expect(finished.stderr).toBe('')
      const { first, renewed, node, leftSeconds } = JSON.parse(finished.stdout)
      const user = { username: 'system:node:n1', groups: ['system:nodes', 'system:authenticated'] }
      expect([first, renewed]).toMatchObject([user, user])
      const credential = ({ extra }: { extra: Record<string, string[]> }) => extra['authentication.kubernetes.io/credential-id']
      expect(credential(renewed)).not.toEqual(credential(first))
      expect(leftSeconds).toBeGreaterThan(3500)
      expect(leftSeconds).toBeLessThanOrEqual(3600)
      expect((await admin.get(nodes, node)).metadata.name).toBe('n1')
    })
  },
)
