/** The part of the package that the tests use; it ships no types. */
declare module 'oidc-provider' {
  import type { IncomingMessage, ServerResponse } from 'node:http'

  interface Context {
    readonly path: string
    readonly req: IncomingMessage
    readonly res: ServerResponse
    readonly oidc: {
      readonly client?: { readonly clientId: string }
      readonly session?: { readonly accountId?: string }
      readonly params?: { readonly scope?: string }
    }
    respond: boolean
  }

  export interface Grant {
    addOIDCScope(scope: string): void
    save(): Promise<string>
  }

  export class Provider {
    constructor(issuer: string, configuration: object)
    readonly Grant: new (of: {
      readonly clientId: string
      readonly accountId: string
    }) => Grant
    proxy: boolean
    callback(): (request: IncomingMessage, response: ServerResponse) => void
    use(middleware: (context: Context, next: () => Promise<void>) => Promise<void>): void
    interactionFinished(request: IncomingMessage, response: ServerResponse, result: object): Promise<void>
    on(event: string, listener: (...parts: never[]) => void): void
  }

  export default Provider
}
