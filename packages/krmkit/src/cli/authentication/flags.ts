import { type Command, InvalidArgumentError, Option } from '../commander.ts'
import { duration, flag, list } from '../flag-values.ts'

/** Adds the flags that say how callers prove who they are; named as those of kube-apiserver. */
export function addAuthenticationFlags(command: Command): Command {
  for (const [heading, options] of groups()) {
    command.optionsGroup(heading)
    for (const option of options) command.addOption(option)
  }
  return command
}

function groups(): [string, Option[]][] {
  return [
    ['Who is calling:', callerOptions()],
    ['Service accounts:', accountOptions()],
    ['Callers that a proxy has authenticated:', proxyOptions()],
    ['Callers with tokens of an OpenID provider:', oidcOptions()],
    ['Callers with tokens that a webhook knows:', webhookOptions()],
  ]
}

function callerOptions(): Option[] {
  return [
    option('--client-ca-file <file>', 'PEM authorities whose client certificates are believed (CN is the user, O a group)'),
    option('--token-auth-file <file>', 'CSV of static tokens: token,user,uid,"group,group"'),
    option(
      '--anonymous-auth [bool]',
      'let callers without credentials in as system:anonymous; default: true, and always false with AlwaysAllow',
    ).argParser(flag),
    option(
      '--authentication-config <file>',
      'AuthenticationConfiguration, followed while it changes: any number of issuers of tokens, and where anonymous callers may come; instead of --oidc-*',
    ),
    option('--enable-bootstrap-token-auth [bool]', 'let callers in with the bootstrap tokens of the system namespace')
      .default(false)
      .argParser(flag),
    option('--api-audiences <names>', 'audiences of the server; default: the issuers').default([]).argParser(list),
  ]
}

function accountOptions(): Option[] {
  return [
    option(
      '--service-account-issuer <url>',
      'issuer in tokens of service accounts; may be repeated: the first issues, all are believed; default: https://kubernetes.default.svc',
    )
      .default([])
      .argParser(issuer),
    option(
      '--service-account-signing-key-file <file>',
      'PEM private key that signs them; default: one that is made and kept beside the certificate',
    ),
    option('--service-account-key-file <file>', 'PEM key of an earlier signer whose tokens are still believed; may be repeated')
      .default([])
      .argParser(repeated),
    option('--service-account-jwks-uri <url>', 'where others find the keys; default: this server').argParser(httpsUrl),
    option('--service-account-max-token-expiration <duration>', 'longest life of a token; 0: as asked for')
      .default(0, '0s')
      .argParser(tokenLife),
    option(
      '--service-account-extend-token-expiration [bool]',
      'let the tokens that are mounted into pods live for a year, noting late uses in the audit trail',
    )
      .default(false)
      .argParser(flag),
  ]
}

function proxyOptions(): Option[] {
  return [
    option('--requestheader-client-ca-file <file>', 'PEM authorities of the proxies whose headers are believed'),
    option('--requestheader-allowed-names <names>', 'common names of their certificates; empty: any').default([]).argParser(list),
    option('--requestheader-username-headers <names>', 'headers of the user name, in order, such as X-Remote-User')
      .default([])
      .argParser(list),
    option('--requestheader-uid-headers <names>', 'headers of the uid, such as X-Remote-Uid').default([]).argParser(list),
    option('--requestheader-group-headers <names>', 'headers of groups, such as X-Remote-Group').default([]).argParser(list),
    option('--requestheader-extra-headers-prefix <names>', 'prefixes of headers of extra values, such as X-Remote-Extra-')
      .default([])
      .argParser(list),
  ]
}

function oidcOptions(): Option[] {
  return [
    option('--oidc-issuer-url <url>', 'https URL of the issuer').argParser(httpsUrl),
    option('--oidc-client-id <id>', 'client that tokens must be issued for'),
    option('--oidc-username-claim <name>', 'claim that holds the user name').default('sub'),
    option('--oidc-username-prefix <text>', 'before user names; -: nothing; default: the issuer and #, nothing for claim email'),
    option('--oidc-groups-claim <name>', 'claim that holds groups'),
    option('--oidc-groups-prefix <text>', 'before groups'),
    option('--oidc-required-claim <pair>', 'key=value that tokens must hold; may be repeated').default({}).argParser(pairs),
    option('--oidc-signing-algs <names>', 'algorithms that tokens may be signed with; default: RS256')
      .default([])
      .argParser(list),
    option('--oidc-ca-file <file>', 'PEM authorities of the issuer; default: those of the platform'),
  ]
}

function webhookOptions(): Option[] {
  return [
    option('--authentication-token-webhook-config-file <file>', 'kubeconfig that leads to the webhook'),
    option('--authentication-token-webhook-cache-ttl <duration>', 'how long its answers are kept')
      .default(120_000, '2m0s')
      .argParser(duration),
    option('--authentication-token-webhook-failure-cache-ttl <duration>', 'the same for refusals; default: as long').argParser(
      duration,
    ),
    option('--authentication-token-webhook-version <version>', 'version of the reviews')
      .choices(['v1', 'v1beta1'])
      .default('v1beta1'),
  ]
}

function option(flags: string, description: string): Option {
  return new Option(flags, description)
}

/** One value each time the flag is given. */
function repeated(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, text]
}

function httpsUrl(text: string): string {
  if (text.startsWith('https://') && URL.canParse(text)) return text
  throw new InvalidArgumentError('It must be an https URL.')
}

/** A URL must be one of https; a plain name without a colon is a name that nobody can discover. */
function issuer(text: string, before: readonly string[] = []): readonly string[] {
  if (text === '' || (text.includes(':') && !URL.canParse(text))) throw new InvalidArgumentError('It must be an https URL.')
  if (text.includes(':') && !text.startsWith('https://')) throw new InvalidArgumentError('It must be an https URL.')
  return [...before, text]
}

function tokenLife(text: string): number {
  const ms = duration(text)
  if (ms === 0 || (ms >= 3_600_000 && ms <= 2 ** 32 * 1000)) return ms
  throw new InvalidArgumentError('It must be between 1h and 2^32 seconds.')
}

function pairs(text: string, before: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
  const made: Record<string, string> = Object.assign(Object.create(null) as Record<string, string>, before)
  for (const pair of text.split(',')) {
    const at = pair.indexOf('=')
    if (at < 1) throw new InvalidArgumentError('It must be key=value.')
    const name = pair.slice(0, at).trim()
    if (name in made) throw new InvalidArgumentError(`${JSON.stringify(name)} is given twice.`)
    made[name] = pair.slice(at + 1).trim()
  }
  return made
}
