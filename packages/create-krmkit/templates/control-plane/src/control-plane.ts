import {
  anonymousAuthenticator,
  createAuthenticatorChain,
  createBearerTokenAuthenticator,
  createStaticTokenAuthenticator,
  type StaticToken,
  withAuthenticatedGroup,
} from '@krmkit/authentication'
import { createPrivilegedGroupsAuthorizer, createUnionAuthorizer } from '@krmkit/authorization'
import { type RunningControllers, runControllers } from '@krmkit/controllers'
import { systemRandom } from '@krmkit/meta'
import type { Storage } from '@krmkit/storage'
import { builtInKinds, createApiServer, type Server } from 'krmkit'
import { databaseController } from './controller.ts'
import { Database } from './database.ts'
import type { Provisioner } from './provisioner.ts'

export interface ControlPlane extends AsyncDisposable {
  readonly server: Server
  readonly controllers: RunningControllers
}

export interface ControlPlaneOptions {
  readonly storage: Storage
  readonly provisioner: Provisioner
  /** Bearer tokens and their users. The group `system:masters` may do everything; others need roles. */
  readonly tokens: readonly StaticToken[]
}

/** Built-in kinds that are served beside those of this control plane. */
const served = ['namespaces', 'configmaps', 'roles', 'rolebindings', 'clusterroles', 'clusterrolebindings']

/** Starts the API server, without a port, and its controllers. */
export async function startControlPlane({ storage, provisioner, tokens }: ControlPlaneOptions): Promise<ControlPlane> {
  const bearer = createBearerTokenAuthenticator(createStaticTokenAuthenticator(tokens, { random: systemRandom }))
  const authenticator = createAuthenticatorChain([withAuthenticatedGroup(bearer), anonymousAuthenticator], {
    onRejection: 'stop',
  })
  const server = await createApiServer({
    storage,
    kinds: [...builtInKinds().filter(({ resource }) => served.includes(resource.name)), Database],
    authenticator,
    authorizer: async ({ rbac }) => createUnionAuthorizer([createPrivilegedGroupsAuthorizer(), await rbac()]),
    bootstrapRoles: true,
    onError: console.error,
  })
  const client = server.client({ user: 'database-controller', groups: ['system:masters'] })
  const controllers = runControllers({ client, available: [databaseController(provisioner)], onError: console.error })
  return {
    server,
    controllers,
    async [Symbol.asyncDispose]() {
      await controllers.close()
      await server.close()
    },
  }
}
