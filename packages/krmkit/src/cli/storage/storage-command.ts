import { Command, Option } from '../commander.ts'
import { exitCodeHelp, runToExitCode } from '../offline/command.ts'
import type { Terminal } from '../offline/terminal.ts'
import type { MigrateFlags } from './options.ts'

/** The sub-command `storage`. Its implementation is loaded when it runs. */

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
  return new Command('storage')
    .summary('maintain stored objects')
    .description('Maintain the stored objects of a server.')
    .addCommand(migrate)
}
