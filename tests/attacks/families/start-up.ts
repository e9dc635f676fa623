import { spawn } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createCertificateAuthority } from '@krmkit/authentication/testing'
import { systemClock, systemRandom } from '@krmkit/meta'
import type { Family } from '../harness/family.ts'
import { bundleFile } from '../harness/server-process.ts'

/** Starts with a bad file for each file flag: rejected with a message that names the file, never started with a weaker configuration. */

type FileKind = 'certificates' | 'certificate' | 'key' | 'tokens' | 'policies' | 'configuration' | 'kubeconfig'

interface FileFlag {
  readonly flag: string
  readonly kind: FileKind
  /** Flags that the file requires; `good` returns the path of a valid file. */
  with?(good: (kind: FileKind) => string): readonly string[]
  /** Contents that kube-apiserver accepts, too. */
  readonly accepts?: readonly string[]
}

/** An empty list authenticates no client. */
const emptyList = { accepts: ['empty'] } as const
const signing = (name: string): FileFlag[] => [
  {
    flag: `--cluster-signing-${name}cert-file`,
    kind: 'certificate',
    with: (good) => [`--cluster-signing-${name}key-file=${good('key')}`],
  },
  {
    flag: `--cluster-signing-${name}key-file`,
    kind: 'key',
    with: (good) => [`--cluster-signing-${name}cert-file=${good('certificate')}`],
  },
]

export const fileFlags: readonly FileFlag[] = [
  { flag: '--token-auth-file', kind: 'tokens', ...emptyList },
  { flag: '--client-ca-file', kind: 'certificates' },
  {
    flag: '--requestheader-client-ca-file',
    kind: 'certificates',
    with: () => ['--requestheader-username-headers=X-Remote-User'],
  },
  { flag: '--service-account-key-file', kind: 'key' },
  { flag: '--service-account-signing-key-file', kind: 'key' },
  { flag: '--oidc-ca-file', kind: 'certificates', with: () => ['--oidc-issuer-url=https://127.0.0.1:9', '--oidc-client-id=c'] },
  { flag: '--tls-cert-file', kind: 'certificate', with: (good) => [`--tls-private-key-file=${good('key')}`] },
  { flag: '--tls-private-key-file', kind: 'key', with: (good) => [`--tls-cert-file=${good('certificate')}`] },
  { flag: '--authentication-config', kind: 'configuration' },
  { flag: '--authorization-config', kind: 'configuration' },
  { flag: '--authentication-token-webhook-config-file', kind: 'kubeconfig' },
  { flag: '--authorization-policy-file', kind: 'policies', with: () => ['--authorization-mode=ABAC'], ...emptyList },
  { flag: '--authorization-webhook-config-file', kind: 'kubeconfig', with: () => ['--authorization-mode=Webhook'] },
  { flag: '--admission-control-config-file', kind: 'configuration' },
  { flag: '--audit-policy-file', kind: 'configuration', with: () => ['--audit-log-path=-'] },
  { flag: '--audit-webhook-config-file', kind: 'kubeconfig', with: (good) => [`--audit-policy-file=${good('configuration')}`] },
  { flag: '--proxy-client-cert-file', kind: 'certificate', with: (good) => [`--proxy-client-key-file=${good('key')}`] },
  { flag: '--proxy-client-key-file', kind: 'key', with: (good) => [`--proxy-client-cert-file=${good('certificate')}`] },
  { flag: '--kubelet-certificate-authority', kind: 'certificates' },
  { flag: '--kubelet-client-certificate', kind: 'certificate', with: (good) => [`--kubelet-client-key=${good('key')}`] },
  { flag: '--kubelet-client-key', kind: 'key', with: (good) => [`--kubelet-client-certificate=${good('certificate')}`] },
  ...['', 'kube-apiserver-client-', 'kubelet-client-', 'kubelet-serving-', 'legacy-unknown-'].flatMap(signing),
]

interface BadFile {
  readonly name: string
  /** Absent: applies to every kind. */
  readonly kinds?: readonly FileKind[]
  /** Creates the file at `path`; `good` has the valid texts. */
  make(path: string, good: Readonly<Record<'certificate' | 'key' | 'otherKey', string>>): void
}

const documents: readonly FileKind[] = ['configuration', 'kubeconfig']

const badFiles: readonly BadFile[] = [
  { name: 'missing', make: () => undefined },
  { name: 'empty', make: (path) => writeFileSync(path, '') },
  { name: 'a folder', make: (path) => mkdirSync(path) },
  { name: 'unreadable', make: (path) => (writeFileSync(path, 'x'), chmodSync(path, 0)) },
  { name: 'random bytes', make: (path) => writeFileSync(path, systemRandom.bytes(2000)) },
  { name: 'zero bytes', make: (path) => writeFileSync(path, Buffer.alloc(2000)) },
  { name: 'a sentence', make: (path) => writeFileSync(path, 'this is no such file: at all\n') },
  {
    name: 'cut off',
    kinds: ['certificates', 'certificate'],
    make: (path, { certificate }) => writeFileSync(path, certificate.slice(0, certificate.length / 2)),
  },
  { name: 'a key cut off', kinds: ['key'], make: (path, { key }) => writeFileSync(path, key.slice(0, key.length / 2)) },
  {
    name: 'a key instead of certificates',
    kinds: ['certificates', 'certificate'],
    make: (path, { key }) => writeFileSync(path, key),
  },
  { name: 'a certificate instead of a key', kinds: ['key'], make: (path, { certificate }) => writeFileSync(path, certificate) },
  {
    name: 'a damaged certificate',
    kinds: ['certificates', 'certificate'],
    make: (path, { certificate }) => writeFileSync(path, certificate.replace(/\n(.{20})/, '\nAAAAAAAAAAAAAAAAAAAA')),
  },
  {
    name: 'a good and a damaged certificate',
    kinds: ['certificates'],
    make: (path, { certificate }) =>
      writeFileSync(path, certificate + certificate.replace(/\n(.{20})/, '\nAAAAAAAAAAAAAAAAAAAA')),
  },
  { name: 'another key', kinds: ['key'], make: (path, { otherKey }) => writeFileSync(path, otherKey) },
  { name: 'lines of one column', kinds: ['tokens'], make: (path) => writeFileSync(path, 'a\nb\n') },
  { name: 'a list that is not closed', kinds: documents, make: (path) => writeFileSync(path, 'apiVersion: v1\nkind: [\n') },
  { name: 'another kind', kinds: documents, make: (path) => writeFileSync(path, 'apiVersion: v1\nkind: ConfigMap\ndata: {}\n') },
  {
    name: 'a kubeconfig without clusters',
    kinds: ['kubeconfig'],
    make: (path) => writeFileSync(path, 'apiVersion: v1\nkind: Config\nclusters: []\n'),
  },
  {
    name: 'a kubeconfig with a missing authority',
    kinds: ['kubeconfig'],
    make: (path) => writeFileSync(path, kubeconfig({ 'certificate-authority': '/missing/authority.pem' })),
  },
  {
    name: 'a kubeconfig with an authority of no certificates',
    kinds: ['kubeconfig'],
    make: (path) => writeFileSync(path, kubeconfig({ 'certificate-authority-data': Buffer.from('none').toString('base64') })),
  },
]

/** A key of another pair is wrong only together with a certificate. */
const lone = new Set(['--service-account-key-file', '--service-account-signing-key-file'])

function kubeconfig(cluster: object): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'c', cluster: { server: 'https://127.0.0.1:9', ...cluster } }],
    users: [{ name: 'u', user: {} }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  })
}

interface Ended {
  readonly served: boolean
  readonly code: number | null
  readonly text: string
}

const startLimitMs = 5000

function serve(flags: readonly string[]): Promise<Ended> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [bundleFile, 'serve', '--secure-port=0', ...flags], {
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let text = ''
    let served = false
    let out = ''
    child.stdout.on('data', (part: Buffer) => {
      out += part.toString()
      served ||= /https:\/\/[^\s;]+:\d+/.test(out)
      if (served) child.kill('SIGKILL')
    })
    child.stderr.on('data', (part: Buffer) => {
      text += part.toString()
    })
    const late = setTimeout(() => child.kill('SIGKILL'), startLimitMs * 2)
    child.once('close', (code) => {
      clearTimeout(late)
      resolve({ served, code, text })
    })
  })
}

function judgeStart(
  { flag, accepts = [] }: FileFlag,
  bad: BadFile,
  { path, ended }: { path: string; ended: Ended },
): string | undefined {
  if (accepts.includes(bad.name)) return undefined
  if (ended.served) return 'the server starts'
  if (ended.code === null) return `neither started nor refused in ${startLimitMs * 2} ms`
  if (ended.code === 0) return 'the start is refused with exit code 0'
  // The message may name the certificate or its key.
  const pair = flag.replace(/(cert|key)-file$|(cert|private-key)-file$/, '')
  if (!ended.text.includes(path) && !ended.text.includes(pair))
    return `the message names neither flag nor file: ${ended.text.trim().slice(0, 200)}`
  return /^\s+at .*:\d+:\d+\)?$/m.test(ended.text) ? 'the message is a stack trace' : undefined
}

export const startUp: Family = {
  name: 'start-up',
  purpose: 'a start with a bad file is refused with a message, never made with a weaker setting',
  async run({ random, report, size }) {
    const folder = mkdtempSync(join(tmpdir(), 'krmkit-start-'))
    const authority = createCertificateAuthority({ name: 'a', clock: systemClock, random: systemRandom })
    const { certificate, key } = authority.issue({ usage: 'server', hosts: ['127.0.0.1'] })
    const otherKey = generateKeyPairSync('ec', { namedCurve: 'P-256' })
      .privateKey.export({ type: 'pkcs8', format: 'pem' })
      .toString()
    const texts = { certificate, key, otherKey }
    const goodTexts: Partial<Record<FileKind, string>> = {
      certificate,
      key,
      configuration: JSON.stringify({ apiVersion: 'audit.k8s.io/v1', kind: 'Policy', rules: [{ level: 'None' }] }),
    }
    const good = (kind: FileKind) => {
      const path = join(folder, `good-${kind}`)
      writeFileSync(path, goodTexts[kind] ?? '')
      return path
    }
    try {
      let count = 0
      const tryOne = async (each: FileFlag, bad: BadFile) => {
        const path = join(folder, `bad-${count++}`)
        bad.make(path, texts)
        const companions = each.with?.(good) ?? []
        const ended = await serve([`--data-dir=${join(folder, `data-${count}`)}`, `${each.flag}=${path}`, ...companions])
        const reason = judgeStart(each, bad, { path, ended })
        report.add({
          name: `${each.flag}: ${bad.name}`,
          outcome: ended.served ? 'accepted' : 'refused',
          ...(reason === undefined ? {} : { reason }),
        })
      }
      const all = fileFlags.flatMap((each) => badFiles.filter((bad) => concerns(bad, each)).map((bad) => [each, bad] as const))
      const chosen = all.filter(() => size === 'full' || random.chance(8))
      const work = async () => {
        for (let next = chosen.shift(); next !== undefined; next = chosen.shift()) await tryOne(...next)
      }
      await Promise.all([work(), work()])
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  },
}

function concerns(bad: BadFile, { kind, flag }: FileFlag): boolean {
  // The superuser can read every file.
  if (bad.name === 'unreadable' && process.getuid?.() === 0) return false
  if (bad.name === 'another key' && lone.has(flag)) return false
  // The flag accepts a public key, which a certificate contains.
  if (bad.name === 'a certificate instead of a key' && flag === '--service-account-key-file') return false
  return bad.kinds === undefined || bad.kinds.includes(kind)
}
