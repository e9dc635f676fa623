import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { wireClient } from '../harness/client.ts'
import type { AttackContext, Family } from '../harness/family.ts'
import { type AttackedProcess, startAttackedProcess, tokens } from '../harness/server-process.ts'

/** All files of `krmkit serve`, started with a permissive umask: only the owner may read them. */

const policy = JSON.stringify({ apiVersion: 'audit.k8s.io/v1', kind: 'Policy', rules: [{ level: 'RequestResponse' }] })

interface Start {
  readonly name: string
  /** Flags; `folder` is an existing folder. */
  flags(folder: string): readonly string[]
  /** Files that exist before the first start. */
  before?(folder: string): void
}

const starts: readonly Start[] = [
  { name: 'in memory', flags: () => [] },
  { name: 'durable', flags: () => ['--storage=durable'] },
  {
    name: 'durable with an audit log',
    flags: (folder) => {
      writeFileSync(join(folder, 'policy.yaml'), policy)
      return [
        '--storage=durable',
        `--audit-policy-file=${join(folder, 'policy.yaml')}`,
        `--audit-log-path=${join(folder, 'made/log/audit.log')}`,
      ]
    },
  },
  {
    name: 'with separate folders for certificates and kubeconfig',
    flags: (folder) => [
      '--storage=durable',
      `--cert-dir=${join(folder, 'made/pki')}`,
      `--write-kubeconfig=${join(folder, 'made/kube/admin.kubeconfig')}`,
    ],
  },
  {
    name: 'over a data folder that all may read',
    flags: () => ['--storage=durable'],
    before(folder) {
      mkdirSync(join(folder, 'data'), { mode: 0o755 })
      mkdirSync(join(folder, 'data/pki'), { mode: 0o755 })
    },
  },
]

/** All files and folders below `folder`, including itself. */
function* below(folder: string): Generator<string> {
  yield folder
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) yield* below(path)
    else yield path
  }
}

/** Certificates are public; their folder is not. */
const publicMode = 0o644

function judgeModes(start: Start, process: AttackedProcess, { report }: AttackContext): void {
  for (const made of ['data', 'made']) {
    const top = join(process.folder, made)
    if (!existsSync(top)) continue
    for (const path of below(top)) {
      const stat = statSync(path)
      const mode = stat.mode & 0o777
      const allowed = stat.isDirectory() ? 0o700 : path.endsWith('.crt') ? publicMode : 0o600
      const name = `${start.name}: ${path.slice(process.folder.length + 1)}`
      const wrong = (mode & ~allowed) === 0 ? {} : { reason: `has mode 0${mode.toString(8)} instead of 0${allowed.toString(8)}` }
      report.add({ name, outcome: 'accepted', ...wrong })
    }
  }
}

export const filesAndModes: Family = {
  name: 'files and modes',
  purpose: 'only the owner can read what the server writes, whatever the umask',
  async run(context) {
    for (const start of starts) {
      await using process = await startAttackedProcess({
        umask: 0,
        flagsIn: start.flags,
        ...(start.before ? { before: start.before } : {}),
      })
      const admin = wireClient(process.url, { token: tokens.admin })
      const body = JSON.stringify({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' }, data: { k: 'eA==' } })
      await admin.send({
        method: 'POST',
        target: '/api/v1/namespaces/default/secrets',
        headers: { 'content-type': 'application/json' },
        body,
      })
      judgeModes(start, process, context)
      admin.close()
    }
  },
}
