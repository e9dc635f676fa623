import { existsSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Flags that tell kube-apiserver about things which a server for tests does not have: another process to store in, kubelets to
 * call. Each takes a value.
 */
const ignoredFlags = /^--(etcd-(?!compaction-interval)[\w-]+|storage-backend|storage-media-type|kubelet-[\w-]+|insecure-port)$/

/** Flags of `serve` for what harnesses such as envtest give to kube-apiserver. */
export interface ServerArgumentsOptions {
  /** `--controllers` unless it is given. Real harnesses start no controller manager. */
  readonly controllers: string
  /** Whether a file is there. */
  readonly exists?: (path: string) => boolean
}

/**
 * From the flags of kube-apiserver to those of `serve`: everything is kept in memory, nobody's kubeconfig is written, and the
 * certificate in `--cert-dir` is served, as kube-apiserver does with one that it finds there.
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
    // What the server makes for itself goes where the harness cleans up.
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

/** `--a=b`, `--a b` and `--a`. What is no flag belongs to the flag before it. */
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
