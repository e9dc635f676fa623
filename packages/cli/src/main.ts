/** Entry point of the command `krmkit`. */

import { readFileSync } from 'node:fs'
import { releaseIdleMemory } from './idle-memory.ts'
import { createStreamLog } from './log.ts'
import { errorText } from './offline/command.ts'
import { decodeManifest } from './offline/decode-manifest.ts'
import { colorsWanted, createPaint } from './offline/paint.ts'
import type { Terminal } from './offline/terminal.ts'
import { packageFile } from './package-file.ts'
import { CommanderError, createProgram } from './program.ts'
import type { ServeOptions } from './serve-options.ts'
import { startText } from './start-text.ts'

const streams = { out: process.stdout, err: process.stderr }
const out = (text: string) => void process.stdout.write(text)
const err = (text: string) => void process.stderr.write(text)
const terminal: Terminal = {
  version: (JSON.parse(readFileSync(packageFile('package.json') ?? '', 'utf8')) as { version: string }).version,
  out,
  err,
  paint: (stream, when) => createPaint(when === 'always' || (when === 'auto' && colorsWanted && streams[stream].isTTY === true)),
  interactive: process.stderr.isTTY === true,
  stdin: () => decodeManifest(readFileSync(0)),
  outBytes: (bytes) =>
    new Promise((resolve, reject) => process.stdout.write(bytes, (error) => (error ? reject(error) : resolve()))),
  inBytes: () => process.stdin,
  now: Date.now,
  exit: (code) => {
    process.exitCode = code
  },
}

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // The reader of a pipe has closed it, as `head` does.
  if (error.code !== 'EPIPE') throw error
  process.exit()
})
void main()

async function main(): Promise<void> {
  try {
    await createProgram({ serve: runServer, runWorker, terminal }).parseAsync(process.argv)
  } catch (error) {
    if (error instanceof CommanderError) process.exitCode = error.exitCode
    else {
      err(`${terminal.paint('err', 'auto').red('krmkit:')} ${errorText(error)}\n`)
      process.exitCode = 1
    }
  }
}

async function runWorker(): Promise<void> {
  const { runWorker: run } = await import('./threads/worker-process.ts')
  run((format) => createStreamLog(err, format))
  releaseIdleMemory()
}

async function runServer(options: ServeOptions): Promise<void> {
  const { serve } = await import('./serve.ts')
  const log = createStreamLog(err, options.loggingFormat)
  const serving = await serve(options, log, { workerProgram: { file: process.argv[1] ?? '', args: ['worker'] } })
  out(startText(serving, options))
  releaseIdleMemory()
  await firstSignal(options.shutdownDelayDuration)
  await serving.close()
  // Remaining handles must not keep the process alive.
  process.exit()
}

/** Resolves `delayMs` after the first termination signal; a second signal ends the process at once. */
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
