import {
  type AuditBackend,
  AuditError,
  type AuditPolicy,
  type AuditTrail,
  auditLog,
  auditPolicy,
  auditWebhook,
  bufferedAudit,
  type LineSink,
  truncatedAudit,
} from '@krmkit/apiserver/audit'
import type { Clock, NamingProfile, Random } from '@krmkit/meta'
import { DecodeError, parseYaml } from '@krmkit/schema'
import { CliError } from '../cli-error.ts'
import { readText } from '../files.ts'
import type { Log } from '../log.ts'
import { createRemoteFetch, readKubeconfigFlag } from '../remote-fetch.ts'
import type { AuditMode, AuditOptions } from './options.ts'
import { openRotatingFile } from './rotating-file.ts'

export interface AuditEnvironment {
  readonly clock: Clock
  readonly random: Random
  readonly profile: NamingProfile
  readonly log: Log
}

/** The audit trails that the flags configure. */
export interface AuditTrails {
  readonly trails: readonly AuditTrail[]
  close(): Promise<void>
}

const megabyte = 1024 * 1024
const dayMs = 24 * 60 * 60 * 1000
const defaultMegabytes = 100
const postTimeoutMs = 30_000

/** Creates the audit trails. @throws CliError for a policy or a kubeconfig that cannot be used. */
export async function createAuditTrails(options: AuditOptions, environment: AuditEnvironment): Promise<AuditTrails> {
  const { auditPolicyFile } = options
  if (auditPolicyFile === undefined) {
    if (options.auditLogPath !== undefined || options.auditWebhookConfigFile !== undefined) {
      environment.log.info('auditing is disabled: --audit-policy-file is not set')
    }
    return { trails: [], close: async () => undefined }
  }
  const policy = await readPolicy(auditPolicyFile, environment.profile)
  const backends = [await createLogBackend(options, environment), await createWebhookBackend(options, environment)].filter(
    (each) => each !== undefined,
  )
  return {
    trails: backends.map((backend) => ({ policy, backend })),
    async close() {
      for (const backend of backends) await backend.close?.()
    },
  }
}

/** The policy of the flags; undefined when nothing is audited. @throws CliError for a policy that cannot be used */
export async function readAuditPolicy(options: AuditOptions, profile: NamingProfile): Promise<AuditPolicy | undefined> {
  const { auditPolicyFile, auditLogPath, auditWebhookConfigFile } = options
  if (auditPolicyFile === undefined || (auditLogPath ?? auditWebhookConfigFile) === undefined) return undefined
  return readPolicy(auditPolicyFile, profile)
}

/** Whether requests fail when their first event is lost. */
export function auditsStrictly({ auditLogMode, auditWebhookMode }: AuditOptions): boolean {
  return auditLogMode === 'blocking-strict' || auditWebhookMode === 'blocking-strict'
}

async function readPolicy(path: string, profile: NamingProfile): Promise<AuditPolicy> {
  const text = await readText(path, 'audit-policy-file')
  try {
    return auditPolicy(parseYaml(new TextEncoder().encode(text)).value, profile)
  } catch (cause) {
    if (!(cause instanceof AuditError || cause instanceof DecodeError)) throw cause
    throw new CliError({ code: 'InvalidFlag', message: `--audit-policy-file ${path}: ${cause.message}`, cause })
  }
}

async function createLogBackend(options: AuditOptions, environment: AuditEnvironment): Promise<AuditBackend | undefined> {
  const { auditLogPath: path } = options
  if (path === undefined) return undefined
  const backend = auditLog(path === '-' ? standardOutput : await openLogFile(path, options, environment), {
    format: options.auditLogFormat,
  })
  return withMode(backend, environment, {
    name: 'log',
    ...bufferOptions(options, 'auditLog'),
  })
}

async function openLogFile(path: string, options: AuditOptions, { clock }: AuditEnvironment): Promise<LineSink> {
  try {
    return await openRotatingFile(path, {
      clock,
      maxBytes: (options.auditLogMaxsize || defaultMegabytes) * megabyte,
      maxAgeMs: options.auditLogMaxage * dayMs,
      maxBackups: options.auditLogMaxbackup,
      compress: options.auditLogCompress,
    })
  } catch (cause) {
    throw new CliError({ code: 'FileFailed', message: `--audit-log-path: cannot write ${path}`, cause })
  }
}

const standardOutput: LineSink = {
  write: (text) =>
    new Promise((resolve, reject) => {
      process.stdout.write(text, (error) => (error ? reject(error) : resolve()))
    }),
}

async function createWebhookBackend(options: AuditOptions, environment: AuditEnvironment): Promise<AuditBackend | undefined> {
  const { auditWebhookConfigFile: path } = options
  if (path === undefined) return undefined
  const connection = await readKubeconfigFlag(path, 'audit-webhook-config-file')
  const remote = createRemoteFetch(connection)
  const post = async (body: string): Promise<number> => {
    const headers = { 'content-type': 'application/json', accept: 'application/json' }
    const init = { method: 'POST', headers, body, signal: AbortSignal.timeout(postTimeoutMs), redirect: 'manual' as const }
    const response = await remote.fetch(connection.server, init)
    for await (const _ of response.body ?? []) {
      // The response has no meaning, but the connection is reusable only after the body was read.
    }
    return response.status
  }
  const backend = auditWebhook({ ...environment, post, initialBackoffMs: options.auditWebhookInitialBackoff })
  const closing: AuditBackend = {
    process: (events) => backend.process(events),
    async close() {
      await backend.close?.()
      await remote[Symbol.asyncDispose]()
    },
  }
  return withMode(closing, environment, {
    name: 'webhook',
    ...bufferOptions(options, 'auditWebhook'),
  })
}

interface BackendOptions {
  readonly mode: AuditMode
  readonly name: string
  readonly bufferSize: number
  readonly maxBatchSize: number
  readonly maxBatchWaitMs: number
  readonly throttle: { readonly qps: number; readonly burst: number } | undefined
  readonly truncate: { readonly maxEventSize: number; readonly maxBatchSize: number } | undefined
}

/** The flags that both backends have. */
function bufferOptions(options: AuditOptions, backend: 'auditLog' | 'auditWebhook'): Omit<BackendOptions, 'name'> {
  return {
    mode: options[`${backend}Mode`],
    bufferSize: options[`${backend}BatchBufferSize`],
    maxBatchSize: options[`${backend}BatchMaxSize`],
    maxBatchWaitMs: options[`${backend}BatchMaxWait`],
    throttle: options[`${backend}BatchThrottleEnable`]
      ? { qps: options[`${backend}BatchThrottleQps`], burst: options[`${backend}BatchThrottleBurst`] }
      : undefined,
    truncate: options[`${backend}TruncateEnabled`]
      ? { maxEventSize: options[`${backend}TruncateMaxEventSize`], maxBatchSize: options[`${backend}TruncateMaxBatchSize`] }
      : undefined,
  }
}

/** Adds truncation and the mode to a backend. Lost events are logged. */
function withMode(backend: AuditBackend, { clock, profile, log }: AuditEnvironment, shape: BackendOptions): AuditBackend {
  const { mode, name, truncate } = shape
  const logLoss = (message: string, error?: unknown) => log.error(`audit ${name}: ${message}`, error)
  const truncated =
    truncate === undefined
      ? backend
      : truncatedAudit(backend, {
          ...truncate,
          apiDomain: profile.apiDomain,
          onLost: ({ auditID }) => logLoss(`event ${auditID} is too large and was dropped`),
        })
  if (mode === 'batch') {
    return bufferedAudit(truncated, {
      ...shape,
      clock,
      onLost: (events, error) => logLoss(`${events.length} events were dropped`, error),
    })
  }
  return {
    strict: mode === 'blocking-strict',
    async process(events) {
      try {
        await truncated.process(events)
      } catch (error) {
        logLoss(`${events.length} events were dropped`, error)
        throw error
      }
    },
    close: async () => truncated.close?.(),
  }
}
