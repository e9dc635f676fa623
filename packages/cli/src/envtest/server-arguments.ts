import { existsSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Flags of kube-apiserver for components that a test server does not have, such as etcd and kubelets. Each takes a value.
 */
const ignoredFlags = /^--(etcd-(?!compaction-interval)[\w-]+|storage-backend|storage-media-type|kubelet-[\w-]+|insecure-port)$/

/** Options of the translation of kube-apiserver flags. */
export interface ServerArgumentsOptions {
  /** Default of `--controllers`. Test harnesses do not start a controller manager. */
  readonly controllers: string
  /** Whether a file exists. */
  readonly exists?: (path: string) => boolean
}

/**
 * Translates flags of kube-apiserver to flags of `serve`: data is in memory, no kubeconfig is written, and an existing certificate in
 * `--cert-dir` is used, as kube-apiserver does.
 */
export function serverArguments(args: readonly string[], options: ServerArgumentsOptions): string[] {
  const given = flagsOf(args)
  const exists = options.exists ?? existsSync
  const kept = given.filter(({ name }) => !ignoredFlags.test(name))
  const has = (flag: string) => given.some(({ name }) => name === flag)
  const added: string[] = []
  const add = (flag: string, value: string) => {
    if (!has(flag)) added.push(`${flag}=${value}`)
  }
  add('--storage', 'memory')
  add('--write-kubeconfig', '')
  add('--controllers', options.controllers)
  const certDir = given.find(({ name }) => name === '--cert-dir')?.value
  if (certDir !== undefined) {
    // The harness deletes its certificate folder with the generated files.
    add('--data-dir', join(certDir, 'krmkit'))
    const [certificate, key] = [join(certDir, 'apiserver.crt'), join(certDir, 'apiserver.key')]
    if (!has('--tls-cert-file') && exists(certificate) && exists(key)) {
      add('--tls-cert-file', certificate)
      add('--tls-private-key-file', key)
    }
  }
  return [...added, ...kept.map(({ name, value }) => (value === undefined ? name : `${name}=${value}`))]
}

interface Flag {
  readonly name: string
  readonly value: string | undefined
}

/** Parses `--a=b`, `--a b` and `--a`. */
function flagsOf(args: readonly string[]): Flag[] {
  const flags: Flag[] = []
  for (let i = 0; i < args.length; i++) {
    const arg = args[i] as string
    const equals = arg.indexOf('=')
    if (equals > 0) {
      flags.push({ name: arg.slice(0, equals), value: arg.slice(equals + 1) })
      continue
    }
    const next = args[i + 1]
    const takesNext = next !== undefined && !next.startsWith('-')
    flags.push({ name: arg, value: takesNext ? next : undefined })
    if (takesNext) i++
  }
  return flags
}
