import { Command } from '../commander.ts'
import { runToExitCode } from '../offline/command.ts'
import type { Terminal } from '../offline/terminal.ts'
import { type DataDirFlags, dataDirOption } from './store-files.ts'

/** The commands `backup` and `restore`. Their implementation is loaded when they run. */

const exitCodeText = '\nExit codes: 0 success; 2 invalid flags, or files that cannot be read or written.'

export function backupCommand(terminal: Terminal): Command {
  return new Command('backup')
    .summary('write a backup of the embedded store')
    .description(
      'Write all objects and the event window of the embedded store (--storage=durable) at one revision. A server may use the folder meanwhile. Certificates and keys in <data-dir>/pki are not included.',
    )
    .argument('[file]', 'backup file, or - for standard output', '-')
    .addOption(dataDirOption())
    .addHelpText('after', exitCodeText)
    .action((path: string, flags: DataDirFlags) =>
      runToExitCode(terminal, async () => (await import('./backup.ts')).runBackup(path, flags, terminal)),
    )
}

export function restoreCommand(terminal: Terminal): Command {
  return new Command('restore')
    .summary('create an embedded store from a backup')
    .description('Create the embedded store of a data folder from a backup. The data folder must not contain a store.')
    .argument('<file>', 'backup file, or - for standard input')
    .addOption(dataDirOption())
    .addHelpText('after', exitCodeText)
    .action((path: string, flags: DataDirFlags) =>
      runToExitCode(terminal, async () => (await import('./backup.ts')).runRestore(path, flags, terminal)),
    )
}
