import { requireReadable } from '../offline/load.ts'
import { findManifests } from '../offline/manifest-files.ts'
import { type ColorWhen, exitCodes, type Terminal } from '../offline/terminal.ts'
import { createAdmissionReport, type ReportForm } from './admission-report.ts'
import { OfflineCluster } from './offline-cluster.ts'
import { requestedObjects } from './requested-objects.ts'

/** The flags of `krmkit admit`. */
export interface AdmitFlags {
  readonly config: readonly string[]
  readonly enableAdmissionPlugins: readonly string[]
  readonly disableAdmissionPlugins: readonly string[]
  readonly admissionControlConfigFile?: string
  readonly featureGates: Readonly<Record<string, boolean>>
  readonly runtimeConfig: readonly string[]
  readonly as?: string
  readonly asGroup: readonly string[]
  readonly output: ReportForm
  readonly namespace: string
  readonly color: ColorWhen
}

/** Runs `krmkit admit`. @returns the exit code. @throws CliError */
export async function runAdmit(paths: readonly string[], flags: AdmitFlags, terminal: Terminal): Promise<number> {
  const requested = requestedObjects(requireReadable(findManifests(paths, terminal)), flags.namespace)
  const config = requestedObjects(requireReadable(findManifests(flags.config, terminal)), flags.namespace)
  const report = createAdmissionReport(flags.output, { out: terminal.out, paint: terminal.paint('out', flags.color) })
  const cluster = await OfflineCluster.start(flags, { seed: config, warn: (text) => terminal.err(`krmkit: ${text}\n`) })
  let isRefused = false
  try {
    for (const request of requested) {
      const result = await cluster.admit(request)
      if (!result.allowed) isRefused = true
      report.add(result)
    }
  } finally {
    await cluster[Symbol.asyncDispose]()
  }
  report.end()
  return isRefused ? exitCodes.findings : exitCodes.success
}
