import type { Clock } from '@krmkit/meta'
import type { EncryptionConfiguration, KmsConfiguration } from './configuration.ts'
import type { KmsProvider } from './kms/kms-provider.ts'

interface PluginOptions {
  readonly clock: Clock
  readonly onError: (error: unknown) => void
  /** Called before a plugin uses another key. */
  readonly onRotate: () => void
}

/** The KMS plugins of a configuration. */
export class KmsPlugins {
  static readonly none = new KmsPlugins(new Map(), undefined)
  readonly byConfiguration: ReadonlyMap<KmsConfiguration, KmsProvider>
  readonly #clock: Clock | undefined

  private constructor(byConfiguration: ReadonlyMap<KmsConfiguration, KmsProvider>, clock: Clock | undefined) {
    this.byConfiguration = byConfiguration
    this.#clock = clock
  }

  /** Connects to the plugins and requests the status of each. */
  static async open({ resources }: EncryptionConfiguration, options: PluginOptions): Promise<KmsPlugins> {
    const configured = resources.flatMap(({ providers }) => providers.flatMap(({ kms }) => (kms === undefined ? [] : [kms])))
    if (configured.length === 0) return KmsPlugins.none
    const [{ KmsProvider }, { connectKms }] = await Promise.all([import('./kms/kms-provider.ts'), import('./kms/kms-client.ts')])
    const byConfiguration = new Map(
      configured.map((each) => {
        const service = connectKms(each.endpoint, each.timeoutMs)
        return [each, new KmsProvider({ ...options, name: each.name, service })] as const
      }),
    )
    await Promise.all([...byConfiguration.values()].map((provider) => provider.start()))
    return new KmsPlugins(byConfiguration, options.clock)
  }

  get count(): number {
    return this.byConfiguration.size
  }

  /** Rejects with the reasons of all plugins that are not healthy, numbered as in the configuration. */
  async checkHealth(): Promise<void> {
    const results = await Promise.allSettled([...this.byConfiguration.values()].map((provider) => provider.check()))
    const problems = results.flatMap((result, at) =>
      result.status === 'rejected' ? [`kms-provider-${at}: ${(result.reason as Error).message}`] : [],
    )
    if (problems.length === 1) throw new Error(problems[0])
    if (problems.length > 1) throw new Error(`[${problems.join(', ')}]`)
  }

  /** Closes the plugins when their calls in flight have ended. */
  closeLater(): void {
    const longestMs = [...this.byConfiguration.keys()].reduce((sum, { timeoutMs }) => sum + 2 * timeoutMs, 0)
    this.#clock?.setTimeout(() => this.close(), longestMs)
  }

  close(): void {
    for (const provider of this.byConfiguration.values()) provider.close()
  }
}
