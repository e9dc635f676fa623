import { canICommand, explainAccessCommand, whoCanCommand } from './access/commands.ts'
import { admitCommand } from './admit/admit-command.ts'
import { apiDiffCommand } from './api-diff/api-diff-command.ts'
import { certificateCommand } from './certificate/commands.ts'
import { Command, CommanderError } from './commander.ts'
import { completionCommand } from './completion/completion-command.ts'
import { convertCommand } from './convert/convert-command.ts'
import { deprecationsCommand } from './deprecations/deprecations-command.ts'
import { doctorCommand } from './doctor/doctor-command.ts'
import { envtestCommand, kubeApiserverCommand } from './envtest/envtest-command.ts'
import { languageServerCommand } from './language-server/language-server-command.ts'
import { exitCodes, type Terminal } from './offline/terminal.ts'
import { applyCommand, blameCommand, diffCommand, mergeCommand } from './ownership/commands.ts'
import { serveCommand, unknownFlagHint } from './serve-command.ts'
import type { ServeOptions } from './serve-options.ts'
import { backupCommand, restoreCommand } from './storage/backup-command.ts'
import { storageCommand } from './storage/storage-command.ts'
import { joinInfoCommand, tokenCommand } from './token/commands.ts'
import { validateCommand } from './validate/validate-command.ts'

export interface ProgramOptions {
  readonly serve: (options: ServeOptions) => Promise<void>
  /** Runs a worker of `serve --threads`, in a process that `serve` starts. */
  readonly runWorker?: () => Promise<void>
  readonly terminal: Terminal
}

/** Creates the command line. Usage errors are printed to the error stream and thrown as CommanderError with the exit code. */
export function createProgram({ serve: runServer, runWorker, terminal }: ProgramOptions): Command {
  const program = new Command('krmkit')
    .description('API machinery for Kubernetes-style APIs: an API server and offline tools.')
    .version(terminal.version)
    .showHelpAfterError('(--help lists all flags)')
  const serve = serveCommand(runServer).summary('run an API server')
  const envtest = envtestCommand(terminal)
  const standIn = kubeApiserverCommand((args) => program.parseAsync(['serve', ...args], { from: 'user' }))
  const tools = [
    validateCommand(terminal),
    admitCommand(terminal),
    applyCommand(terminal),
    diffCommand(terminal),
    blameCommand(terminal),
    mergeCommand(terminal),
    languageServerCommand(terminal),
  ]
  const upgrades = [deprecationsCommand(terminal), convertCommand(terminal), apiDiffCommand(terminal), storageCommand(terminal)]
  const backups = [backupCommand(terminal), restoreCommand(terminal)]
  const rights = [whoCanCommand(terminal), canICommand(terminal), explainAccessCommand(terminal)]
  const joining = [tokenCommand(terminal), joinInfoCommand(terminal), certificateCommand(terminal)]
  const installation = [doctorCommand(terminal), completionCommand(terminal)]
  const others = [...tools, ...upgrades, ...backups, ...rights, ...joining, ...installation].flatMap((command) => [
    command,
    ...command.commands,
  ])
  for (const command of [program, serve, envtest, standIn, ...others]) {
    const usage = others.includes(command) ? exitCodes.failure : undefined
    command
      .exitOverride((error) => {
        throw usage === undefined || error.exitCode === 0 ? error : new CommanderError(usage, error.code, error.message)
      })
      .configureOutput({
        writeOut: terminal.out,
        writeErr: terminal.err,
        outputError: (text, write) => write(`krmkit: ${explain(text)}`),
      })
  }
  program
    .commandsGroup('Server:')
    .addCommand(serve)
    .addCommand(envtest)
    .addCommand(standIn, { hidden: true })
    .addCommand(
      new Command('worker').action(async () => runWorker?.()),
      { hidden: true },
    )
    .commandsGroup('Manifests (offline):')
  for (const tool of tools) program.addCommand(tool)
  program.commandsGroup('Upgrades:')
  for (const command of upgrades) program.addCommand(command)
  program.commandsGroup('Backup:')
  for (const command of backups) program.addCommand(command)
  program.commandsGroup('Authorization:')
  for (const command of rights) program.addCommand(command)
  program.commandsGroup('Cluster join:')
  for (const command of joining) program.addCommand(command)
  program.commandsGroup('Installation:')
  for (const command of installation) program.addCommand(command)
  return program
}

/** Replaces the message for a known flag of kube-apiserver that is not implemented. */
function explain(text: string): string {
  const plain = text.replace(/^error: /, '')
  const flag = /^unknown option '--([\w-]+)/.exec(plain)?.[1]
  const hint = flag === undefined ? undefined : unknownFlagHint(flag)
  return hint === undefined ? plain : `${hint}\n`
}

export { CommanderError }
