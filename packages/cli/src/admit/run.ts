import { requireReadable } from '../offline/load.ts'
import { findManifests } from '../offline/manifest-files.ts'
import { exitCodes, type Terminal } from '../offline/terminal.ts'
import { createAdmissionReport } from './admission-report.ts'
import type { AdmitFlags } from './admit-flags.ts'
import { OfflineCluster } from './offline-cluster.ts'
import { requestedObjects } from './requested-objects.ts'

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
