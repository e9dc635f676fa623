import { describe, expect, it } from 'vitest'
import { testTerminal } from './offline/testing/test-terminal.ts'
import { createProgram } from './program.ts'
import type { ServeOptions } from './serve-options.ts'

const run = async (...flags: string[]) => {
  let options: ServeOptions | undefined
  let printed = ''
  const print = (text: string) => {
    printed += text
  }
  const take = async (given: ServeOptions) => {
    options = given
  }
  const program = createProgram({ terminal: testTerminal({ version: '1.2.3', out: print, err: print }), serve: take })
  const failure = await program.parseAsync(['node', 'krmkit', ...flags]).then(
    () => undefined,
    (error: unknown) => error,
  )
  return { options, printed, failure }
}

describe('krmkit serve', () => {
  it('has a safe default for every flag', async () => {
    const { options, failure } = await run('serve')
    expect(failure).toBeUndefined()
    // The audit flags are tested in audit-trails.test.ts.
    const { flagValues, ...members } = options ?? {}
    const rest = Object.fromEntries(Object.entries(members).filter(([name]) => !name.startsWith('audit')))
    expect(flagValues).toMatchObject({ 'bind-address': '127.0.0.1', controllers: '[*]', 'secure-port': '6443' })
    expect(rest).toEqual({
      clusterSigningDuration: 8760 * 3_600_000,
      reportSigningFailures: true,
      requireKeyEncipherment: false,
      securePort: 6443,
      bindAddress: '127.0.0.1',
      storage: 'memory',
      dataDir: '.krmkit',
      ...{ etcdCompactionInterval: 300_000, etcdDbMetricPollInterval: 30_000, etcdPrefix: '/registry', etcdServers: [] },
      eventTtl: 3_600_000,
      encryptionProviderConfigAutomaticReload: false,
      endpointReconcilerType: 'lease',
      leaderElectLeaseDuration: 15_000,
      leaderElectRenewDeadline: 10_000,
      leaderElectRetryPeriod: 2000,
      loggingFormat: 'text',
      leaderElectResourceLock: 'leases',
      leaderElectResourceName: 'kube-controller-manager',
      leaderElectResourceNamespace: 'kube-system',
      ...{ apiAudiences: [], enableBootstrapTokenAuth: false },
      ...{ serviceAccountIssuer: [], serviceAccountKeyFile: [], serviceAccountMaxTokenExpiration: 0 },
      serviceAccountExtendTokenExpiration: true,
      ...{ requestheaderAllowedNames: [], requestheaderUsernameHeaders: [], requestheaderUidHeaders: [] },
      ...{ requestheaderGroupHeaders: [], requestheaderExtraHeadersPrefix: [] },
      ...{ oidcUsernameClaim: 'sub', oidcRequiredClaim: {}, oidcSigningAlgs: [] },
      ...{ authenticationTokenWebhookCacheTtl: 120_000, authenticationTokenWebhookVersion: 'v1beta1' },
      controllers: ['*'],
      authorizationMode: ['Node', 'RBAC'],
      authorizationWebhookVersion: 'v1beta1',
      authorizationWebhookCacheAuthorizedTtl: 300_000,
      authorizationWebhookCacheUnauthorizedTtl: 30_000,
      threads: 0,
      maxRequestsInflight: 400,
      kubeletPreferredAddressTypes: ['Hostname', 'InternalDNS', 'InternalIP', 'ExternalDNS', 'ExternalIP'],
      maxMutatingRequestsInflight: 200,
      requestTimeout: 60_000,
      metricsOtlpInterval: 60_000,
      minRequestTimeout: 1800,
      runtimeConfig: [],
      ...{ featureGates: {}, emulationForwardCompatible: false, runtimeConfigEmulationForwardCompatible: false },
      enableAdmissionPlugins: [],
      disableAdmissionPlugins: [],
      defaultNotReadyTolerationSeconds: 300,
      defaultUnreachableTolerationSeconds: 300,
      serviceClusterIpRange: '10.0.0.0/24',
      serviceNodePortRange: { from: 30_000, to: 32_767 },
      allowPrivileged: false,
      ...{ corsAllowedOrigins: [], strictTransportSecurityDirectives: [], enablePriorityAndFairness: true },
      goawayChance: 0,
      inspector: false,
      enableAggregatorRouting: false,
      aggregatorRejectForwardingRedirect: true,
      shutdownDelayDuration: 0,
      simulateNodes: 0,
      v: 0,
      ...{ publishClusterInfo: false, bootstrapSigningKey: 'token-secret', explicit: [] },
    })
  })

  it('parses flags', async () => {
    const { options } = await run(
      'serve',
      '--secure-port=0',
      '--bind-address',
      '::',
      '--anonymous-auth=false',
      '--authorization-mode=AlwaysDeny,SystemMasters',
      '--request-timeout=1m30s',
      '--feature-gates=A=true,B=false',
      '--feature-gates=C=true',
      '--runtime-config=api/all=true,apps/v1=false',
      '--runtime-config=batch/v1=false',
      '--cors-allowed-origins=^https://a$,^https://b$',
      '--strict-transport-security-directives=max-age=60,includeSubDomains',
      '--goaway-chance=.01',
      '--service-cluster-ip-range=10.1.0.0/16,fd00::/112',
      '--service-node-port-range=20000+99',
      '--allow-privileged=true',
      '--v=4',
    )
    expect(options).toMatchObject({
      securePort: 0,
      bindAddress: '::',
      anonymousAuth: false,
      authorizationMode: ['AlwaysDeny', 'SystemMasters'],
      requestTimeout: 90_000,
      featureGates: { A: true, B: false, C: true },
      runtimeConfig: ['api/all=true', 'apps/v1=false', 'batch/v1=false'],
      corsAllowedOrigins: [/^https:\/\/a$/, /^https:\/\/b$/],
      strictTransportSecurityDirectives: ['max-age=60', 'includeSubDomains'],
      goawayChance: 0.01,
      serviceNodePortRange: { from: 20_000, to: 20_099 },
      allowPrivileged: true,
      v: 4,
    })
    for (const version of ['1.24', 'kube=1.24', 'v1.24.3']) {
      expect((await run('serve', `--emulated-version=${version}`)).options).toMatchObject({ emulatedVersion: '1.24' })
    }
    expect((await run('serve', '--anonymous-auth', '-v', '2')).options).toMatchObject({ anonymousAuth: true, v: 2 })
  })

  it.each([
    [
      ['--secure-port=65536'],
      "option '--secure-port <port>' argument '65536' is invalid. It must be a whole number between 0 and 65535.",
    ],
    [['--secure-port=-1'], 'It must be a whole number'],
    [['--bind-address=localhost'], 'It must be an IP address.'],
    [['--request-timeout=soon'], 'It must be a duration'],
    [['--request-timeout=-1s'], 'It must be a duration'],
    [['--anonymous-auth=maybe'], 'It must be true or false.'],
    [['--authorization-mode=RBAC,RBAC'], 'It names RBAC twice.'],
    [['--authorization-mode=None'], 'It must be one of Node, RBAC, Webhook, ABAC, AlwaysAllow, AlwaysDeny, SystemMasters.'],
    [['--emulated-version=1.20'], 'It must be a release from 1.21 to 1.37, such as 1.24 or kube=1.24.'],
    [['--emulated-version=etcd=1.24'], 'It must be a release'],
    [['--goaway-chance=0.5'], 'It must be a number between 0 and 0.02.'],
    [['--feature-gates=A=on'], 'invalid value of A=on, err: strconv.ParseBool: parsing "on": invalid syntax'],
    [['--strict-transport-security-directives=max-age=soon'], 'It must be a list of max-age=SECONDS'],
    [['--cors-allowed-origins=('], '"(" is not a regular expression.'],
    [['--service-cluster-ip-range=10.0.0.0'], 'It must be an address range'],
    [['--service-node-port-range=9-8'], 'It must be a range of ports'],
    [['--service-node-port-range=65000+999'], 'It must be a range of ports'],
    [['--service-account-issuer=http://x'], 'It must be an https URL.'],
    [['--storage=files'], 'Allowed choices are memory, durable, etcd.'],
    [['--secure-prot=1'], "unknown option '--secure-prot=1'\n(Did you mean --secure-port?)"],
    [['--tls-cipher-suites', 'x'], 'kube-apiserver has the flag --tls-cipher-suites'],
    [['more'], 'too many arguments'],
  ])('rejects %j with a message', async (flags, sentence) => {
    const { options, printed, failure } = await run('serve', ...flags)
    expect(options).toBeUndefined()
    expect(failure).toMatchObject({ exitCode: 1 })
    expect(printed).toMatch(/^krmkit: /)
    expect(printed).toContain(sentence)
  })

  it('lists its flags and prints its version', async () => {
    const help = await run('serve', '--help')
    expect(help.failure).toMatchObject({ exitCode: 0 })
    expect(help.printed).toContain('--authorization-mode <modes>')
    expect((await run('--version')).printed).toBe('1.2.3\n')
  })

  it('lists the feature gates that may change [P332]', async () => {
    const { printed } = await run('serve', '--help')
    expect(printed).toContain('kube:CBORServingAndStorage=true|false (ALPHA - default=false)')
    expect(printed).toContain('kube:VolumeAttributesClass=true|false (BETA - default=false)')
    expect(printed).toContain('kube:AllBeta=true|false (BETA - default=false)')
    expect(printed).not.toContain('kube:SidecarContainers=')
    expect(printed.match(/kube:\w+=true\|false/g)).toHaveLength(136)
  })

  it('groups its flags under the headings of kube-apiserver', async () => {
    const { printed } = await run('serve', '--help')
    expect(printed.match(/^[A-Z][\w ]*(?=:$)/gm)).toEqual([
      ...['Generic', 'Secure serving', 'Storage', 'Authentication', 'Authorization', 'Admission', 'Audit', 'Features'],
      ...['API enablement', 'Controllers', 'Misc', 'Metrics', 'Traces', 'Logs', 'Options'],
    ])
  })
})
