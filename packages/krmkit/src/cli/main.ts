/** The command `krmkit`: reads the command line and becomes what it says. */

import { softwareVersion } from '@krmkit/apiserver'
import pc from 'picocolors'
import { streamLog } from './log.ts'
import { CommanderError, createProgram } from './program.ts'
import type { ServeOptions } from './serve-options.ts'

const out = (text: string) => void process.stdout.write(text)
const err = (text: string) => void process.stderr.write(text)

void main()

async function main(): Promise<void> {
  try {
    await createProgram({ version: softwareVersion, serve: runServer, out, err }).parseAsync(process.argv)
  } catch (error) {
    if (error instanceof CommanderError) process.exitCode = error.exitCode
    else {
      err(`${pc.red('krmkit:')} ${explain(error)}\n`)
      process.exitCode = 1
    }
  }
}

async function runServer(options: ServeOptions): Promise<void> {
  const { serve } = await import('./serve.ts')
  const serving = await serve(options, streamLog(err))
  const how = serving.kubeconfig === undefined ? '' : `; try: kubectl --kubeconfig ${serving.kubeconfig} get namespaces`
  out(`krmkit serves ${serving.url}${how}\n`)
  await firstSignal(options.shutdownDelayDuration)
  await serving.close()
  // Anything that still holds the process open has had its chance.
  process.exit()
}

/** Resolves some time after the first signal to stop; the second one ends the process at once. */
function firstSignal(delayMs: number): Promise<void> {
  return new Promise((resolve) => {
    let seen = false
    const onSignal = (signal: NodeJS.Signals) => {
      if (seen) process.exit(signal === 'SIGINT' ? 130 : 143)
      seen = true
      setTimeout(resolve, delayMs)
    }
    process.on('SIGTERM', onSignal)
    process.on('SIGINT', onSignal)
  })
}

/** Faults that a person can act on are one sentence; anything else is a fault of ours and shows where. */
function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return 'code' in error && typeof error.code === 'string' ? error.message : (error.stack ?? error.message)
}
