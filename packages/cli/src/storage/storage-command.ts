import { Command, Option, option } from '../commander.ts'
import { exitCodeHelp, runToExitCode } from '../offline/command.ts'
import type { Terminal } from '../offline/terminal.ts'
import { etcdOptions } from '../serve-flags.ts'
import type { ExportFlags, ImportFlags, MigrateFlags } from './options.ts'
import { type DataDirFlags, dataDirOption } from './store-files.ts'

/** The command `storage`. The implementations of its sub-commands are loaded when they run. */

const exchangeExitCodes = '\nExit codes: 0 success; 2 invalid flags, or a file or store that cannot be read or written.'

function exchangeOptions(): readonly Option[] {
  const encryption = option(
    '--encryption-provider-config <file>',
    'EncryptionConfiguration of the server: keys of encrypted values',
  )
  return [dataDirOption(), ...etcdOptions(), encryption]
}

function withOptions(command: Command, options: readonly Option[]): Command {
  for (const each of options) command.addOption(each)
  return command
}

export function storageCommand(terminal: Terminal): Command {
  const migrate = new Command('migrate')
    .alias('rewrite')
    .summary('write all objects again, in the present storage version')
    .description(
      'Write every object of a server without changing it, so that it is stored in the present storage version and encrypted with the present key; then remove the other versions from status.storedVersions of custom resource definitions.',
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
  const store = 'of the embedded store, or of the etcd that --etcd-servers names,'
  const exporting = withOptions(new Command('export'), exchangeOptions())
    .summary('write all objects of a store to a file')
    .description(`Write all objects ${store} at one revision, without their history. Servers may use the store meanwhile.`)
    .addOption(
      new Option('--format <format>', 'ndjson: lines of JSON; etcd-snapshot: a file for etcdutl snapshot restore')
        .choices(['ndjson', 'etcd-snapshot'])
        .default('ndjson'),
    )
    .argument('[file]', 'file, or - for standard output', '-')
    .addHelpText('after', exchangeExitCodes)
    .action((path: string, flags: ExportFlags) =>
      runToExitCode(terminal, async () => (await import('./exchange.ts')).runExport(path, flags, terminal)),
    )
  const importing = withOptions(new Command('import'), exchangeOptions())
    .summary('create the objects of an export or an etcd snapshot in an empty store')
    .description(
      `Create the objects of an export, or of a snapshot of etcd, ${store.replace(/of the/g, 'in the')} which must be empty. In the embedded store they keep their resource versions; in etcd they get new ones.`,
    )
    .addOption(
      new Option('--skip-hash-check', 'accept an etcd snapshot without a checksum: member/snap/db of a stopped etcd').default(
        false,
      ),
    )
    .argument('<file>', 'file, or - for standard input')
    .addHelpText('after', exchangeExitCodes)
    .action((path: string, flags: ImportFlags) =>
      runToExitCode(terminal, async () => (await import('./exchange.ts')).runImport(path, flags, terminal)),
    )
  return new Command('storage')
    .summary('maintain stored objects')
    .description('Maintain the stored objects of a server.')
    .addCommand(migrate)
    .addCommand(check)
    .addCommand(compact)
    .addCommand(exporting)
    .addCommand(importing)
}
