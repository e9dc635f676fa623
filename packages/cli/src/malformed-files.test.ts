import { generateKeyPairSync } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createCertificateAuthority } from '@krmkit/authentication/testing'
import { systemClock, systemRandom } from '@krmkit/meta'
import { beforeAll, describe, expect, it } from 'vitest'
import { serve } from './serve.ts'
import { serveOptions } from './testing/run-command.ts'
import { temporaryFolder } from './testing/temporary-folder.ts'

const folder = temporaryFolder()
const environment = { clock: systemClock, random: systemRandom }
const authority = createCertificateAuthority({ name: 'authority', ...environment })
const client = authority.issue({ commonName: 'proxy' })
const other = authority.issue({ commonName: 'other' })
const publicKey = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ type: 'spki', format: 'pem' }) as string
const broken = authority.certificate.replace(/\n[^-\n]{8}/, '\n!!!!!!!!')
const unreadable = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'
const kubeconfig = (cluster: string, user = '{token: t}') =>
  `current-context: x\ncontexts: [{name: x, context: {cluster: c, user: u}}]\nusers: [{name: u, user: ${user}}]\n` +
  `clusters: [{name: c, cluster: {server: "https://127.0.0.1:1", ${cluster}}}]\n`

const files: Readonly<Record<string, string>> = {
  good: `# a comment\n${authority.certificate}Subject: another comment\n${authority.certificate}`,
  empty: '',
  junk: 'junk\n',
  broken: authority.certificate + broken,
  unreadable: authority.certificate + unreadable,
  cut: authority.certificate.slice(0, -20),
  keys: publicKey,
  brokenKeys: publicKey + publicKey.replace('END', 'ENDE'),
  namelessToken: 'token,,1\n',
  shortToken: 'token,jane\n',
  certificate: client.certificate,
  key: client.key,
  otherKey: other.key,
  junkAuthority: kubeconfig(`certificate-authority-data: ${btoa('junk')}`),
  noBase64: kubeconfig('certificate-authority-data: AAA'),
  noFlag: kubeconfig('insecure-skip-tls-verify: "yes"'),
  misspelled: kubeconfig('insecure-skip-tls-verify: true', '{Token: t}'),
}

beforeAll(async () => {
  await Promise.all(Object.entries(files).map(([name, text]) => writeFile(join(folder, name), text)))
})

/** `@name` in a flag is replaced by the path of a file. */
const start = async (flags: readonly string[]) => {
  const words = flags.map((word) => word.replace('@', `${folder}/`))
  return serve(await serveOptions(`${folder}/data`, words), { info: () => {}, error: () => {} })
}

const oidc = ['--oidc-issuer-url=https://127.0.0.1:1', '--oidc-client-id=c']
const proxy = ['--requestheader-username-headers=X-Remote-User', '--requestheader-allowed-names=proxy']
const bundles: [string, string[]][] = [
  ['client-ca-file', []],
  ['oidc-ca-file', oidc],
  ['requestheader-client-ca-file', proxy],
]

describe('malformed files and flags', () => {
  it.each(bundles)('accepts --%s with comments between its certificates', async (flag, more) => {
    await (await start([`--${flag}=@good`, ...more])).close()
  })

  const bad = {
    empty: 'no PEM certificate',
    junk: 'no PEM certificate',
    broken: 'is not base64',
    unreadable: 'certificate 2',
    cut: 'PEM|end',
  }
  it.each(bundles.flatMap(([flag, more]) => Object.entries(bad).map(([file, message]) => [flag, file, message, more] as const)))(
    'rejects --%s with %s content',
    async (flag, file, message, more) => {
      await expect(start([`--${flag}=@${file}`, ...more])).rejects.toThrow(new RegExp(`--${flag}: .*(${message})`))
    },
  )

  const webhook = (file: string) => [`--authentication-token-webhook-config-file=@${file}`]
  it.each<[string, string[], string | RegExp]>([
    ['a key file with an invalid key', ['--service-account-key-file=@brokenKeys'], 'brokenKeys holds'],
    ['a token without a user name', ['--token-auth-file=@namelessToken'], 'line 1 of the token file has no user name'],
    ['a token line with two columns', ['--token-auth-file=@shortToken'], 'needs at least 3 columns'],
    [
      'a certificate with a foreign key',
      ['--proxy-client-cert-file=@certificate', '--proxy-client-key-file=@otherKey'],
      /--proxy-client-key-file: .*otherKey is not the key of the certificate/,
    ],
    [
      'a certificate file without a certificate',
      ['--proxy-client-cert-file=@junk', '--proxy-client-key-file=@key'],
      /--proxy-client-cert-file: .*junk holds no certificate/,
    ],
    [
      'a serving certificate file without a certificate',
      ['--tls-cert-file=@junk', '--tls-private-key-file=@key'],
      /--tls-cert-file: .*junk holds no/,
    ],
    [
      'an empty serving certificate',
      ['--tls-cert-file=@empty', '--tls-private-key-file=@key'],
      /--tls-cert-file: .*empty holds no/,
    ],
    [
      'an empty key',
      ['--tls-cert-file=@certificate', '--tls-private-key-file=@empty'],
      /--tls-private-key-file: .*empty holds no/,
    ],
    [
      'a serving certificate with a foreign key',
      ['--tls-cert-file=@certificate', '--tls-private-key-file=@otherKey'],
      /--tls-private-key-file: .*otherKey is not the key of the certificate/,
    ],
    [
      'a token line with two columns, naming flag and file',
      ['--token-auth-file=@shortToken'],
      /--token-auth-file: .*shortToken: line 1/,
    ],
    ['a webhook with authorities without certificates', webhook('junkAuthority'), 'certificate-authority has no PEM certificate'],
    ['a webhook with authorities in invalid base64', webhook('noBase64'), 'is not base64'],
    ['a webhook with a non-boolean flag', webhook('noFlag'), 'insecure-skip-tls-verify is not a boolean'],
    ['a webhook with a misspelled credential', webhook('misspelled'), 'unknown field "Token" of a user'],
    [
      'an authorization webhook with authorities without certificates',
      ['--authorization-mode=Webhook', '--authorization-webhook-config-file=@junkAuthority'],
      'certificate-authority has no PEM certificate',
    ],
  ])('rejects %s', async (_, flags, message) => {
    await expect(start(flags)).rejects.toThrow(message)
  })

  it('accepts a proxy certificate with its key', async () => {
    await (await start(['--proxy-client-cert-file=@certificate', '--proxy-client-key-file=@key'])).close()
  })

  it.each([
    ['--requestheader-allowed-names=,'],
    ['--requestheader-allowed-names=a,,b'],
    ['--oidc-signing-algs=,'],
    ['--api-audiences=a,'],
    ['--oidc-required-claim=a=1,a=2'],
    ['--oidc-required-claim=a'],
    ['--request-timeout=60'],
    ['--request-timeout=-1s'],
    ['--max-requests-inflight=4e2'],
    ['--anonymous-auth=yes'],
    ['--authorization-mode=RBAC,Unknown'],
    ['--no-such-flag=1'],
  ])('rejects %s', async (flag) => {
    await expect(start([flag])).rejects.toThrow()
  })
})
