import { systemRandom } from '@krmkit/meta'
import { Command, Option } from '../commander.ts'
import { duration, integer, list } from '../flag-values.ts'
import { exitCodeHelp, runToExitCode } from '../offline/command.ts'
import type { Terminal } from '../offline/terminal.ts'

const hourMs = 3_600_000
const paths = 'files of manifests or PEM, or - for standard input'
const seconds = integer({ min: 600, max: 2 ** 31 - 1 })

/** The command `certificate` with its sub-commands, none of which needs a server. */
export function certificateCommand(terminal: Terminal): Command {
  return new Command('certificate')
    .summary('requests for certificates: make, look at, sign')
    .description(
      'Make requests for certificates, see what they ask for and what their signer would say, sign them with an authority.',
    )
    .addCommand(inspectCommand(terminal))
    .addCommand(requestCommand(terminal))
    .addCommand(signCommand(terminal))
}

function inspectCommand(terminal: Terminal): Command {
  const command = new Command('inspect')
    .description('Print what requests and certificates say, and which of the built-in signers would sign a request, or why not.')
    .argument('<path...>', `${paths}: CertificateSigningRequests, certificate requests, certificates`)
    .addOption(new Option('--requester <user>', 'who asks: some requests are approved for the node itself'))
    .addOption(new Option('-o, --output <form>', 'form of the answer').choices(['text', 'json']).default('text'))
  return withQuestion(command)
    .addHelpText('after', exitCodeHelp('a signer would sign every request', 'one is refused, or cannot be read'))
    .action((given, flags) =>
      runToExitCode(terminal, async () => (await import('./inspect.ts')).runInspect(given, flags, terminal)),
    )
}

function requestCommand(terminal: Terminal): Command {
  const command = new Command('request')
    .description('Make a request for a certificate, and a key if there is none yet.')
    .addOption(new Option('--common-name <name>', 'user name; of a node, system:node:NAME').makeOptionMandatory())
    .addOption(new Option('--organization <names>', 'groups; of a node, system:nodes').default([]).argParser(list))
    .addOption(new Option('--dns <names>', 'DNS names').default([]).argParser(list))
    .addOption(new Option('--ip <addresses>', 'IP addresses').default([]).argParser(list))
    .addOption(new Option('--key-file <file>', 'PEM key; made when it does not exist (mode 0600)').makeOptionMandatory())
    .addOption(new Option('--name <name>', 'name of the CertificateSigningRequest; default: made of the common name'))
    .addOption(new Option('--expiration-seconds <n>', 'how long the certificate should last').argParser(seconds))
    .addOption(
      new Option('-o, --output <form>', 'the request alone, or a CertificateSigningRequest')
        .choices(['pem', 'yaml', 'json'])
        .default('pem'),
    )
  return withQuestion(command).action((flags) =>
    runToExitCode(terminal, async () => (await import('./request.ts')).runRequest(flags, terminal)),
  )
}

function signCommand(terminal: Terminal): Command {
  const command = new Command('sign')
    .description('Sign requests with an authority, by the rules of their signer.')
    .argument('<path...>', `${paths}: CertificateSigningRequests, certificate requests`)
    .addOption(new Option('--ca-cert-file <file>', 'PEM certificate of the authority').makeOptionMandatory())
    .addOption(new Option('--ca-key-file <file>', 'its PEM key').makeOptionMandatory())
    .addOption(
      new Option('--duration <duration>', 'longest life of the certificates')
        .default(8760 * hourMs, '8760h0m0s')
        .argParser(duration),
    )
    .addOption(new Option('--expiration-seconds <n>', 'life of those whose request names none').argParser(seconds))
    .addOption(
      new Option('-o, --output <form>', 'certificates, or CertificateSigningRequests that hold them')
        .choices(['pem', 'yaml', 'json'])
        .default('pem'),
    )
  return withQuestion(command)
    .addHelpText('after', exitCodeHelp('all were signed', 'one was not'))
    .action((given, flags) =>
      runToExitCode(terminal, async () => (await import('./sign.ts')).runSign(given, flags, { terminal, random: systemRandom })),
    )
}

/** What a request in PEM does not say by itself. */
function withQuestion(command: Command): Command {
  return command
    .addOption(new Option('--signer <name>', 'signer of requests that name none, such as kubernetes.io/kube-apiserver-client'))
    .addOption(
      new Option('--usages <names>', 'usages of requests that name none; default: those of the signer').argParser((text) =>
        list(text),
      ),
    )
}
