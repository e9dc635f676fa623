import { addOptionGroup, type Command, InvalidArgumentError, type Option, option } from '../commander.ts'
import { append, booleanOption, duration, durationOption, flag, list } from '../flag-values.ts'

/** Adds the authentication flags, named as those of kube-apiserver. */
export function addAuthenticationFlags(command: Command): Command {
  return addOptionGroup(command, 'Authentication', [
    ...generalOptions(),
    ...serviceAccountOptions(),
    ...requestHeaderOptions(),
    ...oidcOptions(),
    ...webhookOptions(),
  ])
}

function generalOptions(): Option[] {
  return [
    option('--client-ca-file <file>', 'PEM bundle of client certificate authorities (CN is the user name, O a group)'),
    option('--token-auth-file <file>', 'CSV of static tokens: token,user,uid,"group,group"'),
    option(
      '--anonymous-auth [bool]',
      'accept unauthenticated requests as system:anonymous; default: true, and always false with AlwaysAllow',
    ).argParser(flag),
    option(
      '--authentication-config <file>',
      'AuthenticationConfiguration, reloaded when it changes: any number of JWT issuers, and the paths of anonymous requests; excludes --oidc-*',
    ),
    booleanOption('--enable-bootstrap-token-auth', 'accept bootstrap tokens stored in the system namespace', false),
    option('--api-audiences <names>', 'audiences of the API; default: the service account issuers').default([]).argParser(list),
  ]
}

function serviceAccountOptions(): Option[] {
  return [
    option(
      '--service-account-issuer <url>',
      'issuer of service account tokens; may be repeated: the first issues, all are accepted; default: https://kubernetes.default.svc',
    )
      .default([])
      .argParser(issuer),
    option(
      '--service-account-signing-key-file <file>',
      'PEM private key that signs service account tokens; default: generated and stored in --cert-dir',
    ),
    option('--service-account-key-file <file>', 'additional PEM key that verifies service account tokens; may be repeated')
      .default([])
      .argParser(append),
    option('--service-account-jwks-uri <url>', 'URL of the key set in the discovery document; default: this server').argParser(
      httpsUrl,
    ),
    option('--service-account-max-token-expiration <duration>', 'maximum lifetime of issued tokens; 0: no limit')
      .default(0, '0s')
      .argParser(tokenLifetime),
    booleanOption(
      '--service-account-extend-token-expiration',
      'extend tokens mounted into pods to one year and audit their late use',
      true,
    ),
  ]
}

function requestHeaderOptions(): Option[] {
  return [
    option('--requestheader-client-ca-file <file>', 'PEM bundle of authorities of authenticating proxies'),
    option('--requestheader-allowed-names <names>', 'allowed common names of proxy certificates; empty: any')
      .default([])
      .argParser(list),
    option('--requestheader-username-headers <names>', 'headers of the user name, in order, such as X-Remote-User')
      .default([])
      .argParser(list),
    option('--requestheader-uid-headers <names>', 'headers of the UID, such as X-Remote-Uid').default([]).argParser(list),
    option('--requestheader-group-headers <names>', 'headers of groups, such as X-Remote-Group').default([]).argParser(list),
    option('--requestheader-extra-headers-prefix <names>', 'prefixes of extra headers, such as X-Remote-Extra-')
      .default([])
      .argParser(list),
  ]
}

function oidcOptions(): Option[] {
  return [
    option('--oidc-issuer-url <url>', 'https URL of the OpenID issuer').argParser(httpsUrl),
    option('--oidc-client-id <id>', 'required audience of ID tokens'),
    option('--oidc-username-claim <name>', 'claim of the user name').default('sub'),
    option('--oidc-username-prefix <text>', 'prefix of user names; -: none; default: the issuer and #, none for claim email'),
    option('--oidc-groups-claim <name>', 'claim of the groups'),
    option('--oidc-groups-prefix <text>', 'prefix of groups'),
    option('--oidc-required-claim <pair>', 'required key=value claim; may be repeated').default({}).argParser(pairs),
    option('--oidc-signing-algs <names>', 'accepted signing algorithms; default: RS256').default([]).argParser(list),
    option('--oidc-ca-file <file>', 'PEM bundle of authorities of the issuer; default: those of the platform'),
  ]
}

function webhookOptions(): Option[] {
  return [
    option('--authentication-token-webhook-config-file <file>', 'kubeconfig of the token webhook'),
    durationOption('--authentication-token-webhook-cache-ttl', 'cache duration of responses', 120_000, '2m0s'),
    option(
      '--authentication-token-webhook-failure-cache-ttl <duration>',
      'cache duration of rejections; default: --authentication-token-webhook-cache-ttl',
    ).argParser(duration),
    option('--authentication-token-webhook-version <version>', 'version of the TokenReview')
      .choices(['v1', 'v1beta1'])
      .default('v1beta1'),
  ]
}

function httpsUrl(text: string): string {
  if (text.startsWith('https://') && URL.canParse(text)) return text
  throw new InvalidArgumentError('It must be an https URL.')
}

/** An issuer is an https URL, or a plain name without a colon, which has no discovery document. */
function issuer(text: string, before: readonly string[] = []): readonly string[] {
  if (text === '' || (text.includes(':') && !URL.canParse(text))) throw new InvalidArgumentError('It must be an https URL.')
  if (text.includes(':') && !text.startsWith('https://')) throw new InvalidArgumentError('It must be an https URL.')
  return [...before, text]
}

function tokenLifetime(text: string): number {
  const ms = duration(text)
  if (ms === 0 || (ms >= 3_600_000 && ms <= 2 ** 32 * 1000)) return ms
  throw new InvalidArgumentError('It must be between 1h and 2^32 seconds.')
}

function pairs(text: string, before: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
  const parsed: Record<string, string> = Object.assign(Object.create(null) as Record<string, string>, before)
  for (const pair of text.split(',')) {
    const at = pair.indexOf('=')
    if (at < 1) throw new InvalidArgumentError('It must be key=value.')
    const name = pair.slice(0, at).trim()
    if (name in parsed) throw new InvalidArgumentError(`${JSON.stringify(name)} is given twice.`)
    parsed[name] = pair.slice(at + 1).trim()
  }
  return parsed
}
