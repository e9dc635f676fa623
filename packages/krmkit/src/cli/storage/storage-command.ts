import { Command, Option } from '../commander.ts'
import { exitCodeHelp, runToExitCode } from '../offline/command.ts'
import type { Terminal } from '../offline/terminal.ts'
import type { MigrateFlags } from './options.ts'
import { type DataDirFlags, dataDirOption } from './store-files.ts'

/** The command `storage`. The implementations of its sub-commands are loaded when they run. */

export function storageCommand(terminal: Terminal): Command {
  const migrate = new Command('migrate')
    .summary('write all objects again, in the present storage version')
    .description(
      'Write every object of a server without changing it, so that it is stored in the present storage version; then remove the other versions from status.storedVersions of custom resource definitions.',
    )
    .argument('[resources...]', 'resources to migrate, such as cronjobs.batch; default: all')
    .addOption(new Option('--kubeconfig <file>', 'kubeconfig of the server (default: like kubectl)'))
    .addOption(new Option('--context <name>', 'context of the kubeconfig'))
    .addOption(new Option('-o, --output <format>', 'output format').choices(['text', 'json']).default('text'))
    .addHelpText('after', exitCodeHelp('all objects are migrated', 'a resource could not be migrated'))
    .action((resources: readonly string[], flags: MigrateFlags) =>
      runToExitCode(terminal, async () => (await import('./migrate.ts')).runMigrate(resources, flags, terminal)),
    )
  const check = new Command('check')
    .summary('read all of an embedded store and name what is damaged')
    .description(
      'Read every record of the embedded store: its checksum, its place in the history, and its value. The store is not changed. A server may use the folder meanwhile.',
    )
    .addOption(dataDirOption())
    .addHelpText('after', exitCodeHelp('nothing is damaged', 'something is damaged'))
    .action((flags: DataDirFlags) => runToExitCode(terminal, async () => (await import('./check.ts')).runCheck(flags, terminal)))
  const compact = new Command('compact')
    .summary('give free space of an embedded store back to the disk')
    .description(
      'Copy the embedded store to a new file without free space, which then takes its place. Stop the server first. The disk must have room for both.',
    )
    .addOption(dataDirOption())
    .addHelpText('after', '\nExit codes: 0 success; 2 invalid flags, or the store is in use, damaged or cannot be written.')
    .action((flags: DataDirFlags) =>
      runToExitCode(terminal, async () => (await import('./compact.ts')).runCompact(flags, terminal)),
    )
  return new Command('storage')
    .summary('maintain stored objects')
    .description('Maintain the stored objects of a server.')
    .addCommand(migrate)
    .addCommand(check)
    .addCommand(compact)
}
