import { systemRandom } from '@krmkit/meta'
import { Command, Option } from '../commander.ts'
import { duration, integer, list } from '../flag-values.ts'
import { exitCodeHelp, runToExitCode } from '../offline/command.ts'
import type { Terminal } from '../offline/terminal.ts'

const hourMs = 3_600_000
const paths = 'files of manifests or PEM, or - for standard input'
const seconds = integer({ min: 600, max: 2 ** 31 - 1 })

/** The command `certificate` with its offline sub-commands. */
export function certificateCommand(terminal: Terminal): Command {
  return new Command('certificate')
    .summary('create, inspect and sign certificate signing requests')
    .description(
      'Create certificate signing requests, check them against the rules of their signer, sign them with an authority.',
    )
    .addCommand(inspectCommand(terminal))
    .addCommand(requestCommand(terminal))
    .addCommand(signCommand(terminal))
}

function inspectCommand(terminal: Terminal): Command {
  const command = new Command('inspect')
    .description(
      'Print the contents of requests and certificates, and the built-in signers that would sign a request, or why they would not.',
    )
    .argument('<path...>', `${paths}: CertificateSigningRequests, certificate requests, certificates`)
    .addOption(
      new Option('--requester <user>', 'user of the request: requests of nodes for themselves are approved automatically'),
    )
    .addOption(new Option('-o, --output <form>', 'output format').choices(['text', 'json']).default('text'))
  return withQuestion(command)
    .addHelpText('after', exitCodeHelp('every request would be signed', 'a request is refused or cannot be parsed'))
    .action((given, flags) =>
      runToExitCode(terminal, async () => (await import('./inspect.ts')).runInspect(given, flags, terminal)),
    )
}

function requestCommand(terminal: Terminal): Command {
  const command = new Command('request')
    .description('Create a certificate signing request, and a key if the key file does not exist.')
    .addOption(new Option('--common-name <name>', 'user name; system:node:NAME for a node').makeOptionMandatory())
    .addOption(new Option('--organization <names>', 'groups; system:nodes for a node').default([]).argParser(list))
    .addOption(new Option('--dns <names>', 'DNS names').default([]).argParser(list))
    .addOption(new Option('--ip <addresses>', 'IP addresses').default([]).argParser(list))
    .addOption(new Option('--key-file <file>', 'PEM key; generated when it does not exist (mode 0600)').makeOptionMandatory())
    .addOption(new Option('--name <name>', 'name of the CertificateSigningRequest; default: derived from the common name'))
    .addOption(new Option('--expiration-seconds <n>', 'requested validity of the certificate').argParser(seconds))
    .addOption(
      new Option('-o, --output <form>', 'pem: the request; yaml, json: a CertificateSigningRequest')
        .choices(['pem', 'yaml', 'json'])
        .default('pem'),
    )
  return withQuestion(command).action((flags) =>
    runToExitCode(terminal, async () => (await import('./request.ts')).runRequest(flags, terminal)),
  )
}

function signCommand(terminal: Terminal): Command {
  const command = new Command('sign')
    .description('Sign requests with an authority after checking the rules of their signer.')
    .argument('<path...>', `${paths}: CertificateSigningRequests, certificate requests`)
    .addOption(new Option('--ca-cert-file <file>', 'PEM certificate of the authority').makeOptionMandatory())
    .addOption(new Option('--ca-key-file <file>', 'PEM private key of the authority').makeOptionMandatory())
    .addOption(
      new Option('--duration <duration>', 'maximum validity of the certificates')
        .default(8760 * hourMs, '8760h0m0s')
        .argParser(duration),
    )
    .addOption(new Option('--expiration-seconds <n>', 'validity for requests that name none').argParser(seconds))
    .addOption(
      new Option('-o, --output <form>', 'pem: certificates; yaml, json: CertificateSigningRequests with certificates')
        .choices(['pem', 'yaml', 'json'])
        .default('pem'),
    )
  return withQuestion(command)
    .addHelpText('after', exitCodeHelp('all requests signed', 'a request was not signed'))
    .action((given, flags) =>
      runToExitCode(terminal, async () => (await import('./sign.ts')).runSign(given, flags, { terminal, random: systemRandom })),
    )
}

/** Adds the flags for facts that a PEM request does not contain. */
function withQuestion(command: Command): Command {
  return command
    .addOption(new Option('--signer <name>', 'signer for requests that name none, such as kubernetes.io/kube-apiserver-client'))
    .addOption(
      new Option('--usages <names>', 'usages for requests that name none; default: those of the signer').argParser((text) =>
        list(text),
      ),
    )
}
