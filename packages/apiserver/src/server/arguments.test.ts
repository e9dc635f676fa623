import { alwaysAllowAuthorizer } from '@krmkit/authorization'
import { builtInKinds, defineResource } from '@krmkit/kinds'
import { ConfigMap } from '@krmkit/kinds/core/v1'
import { memoryStorage } from '@krmkit/storage'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createApiServer } from './server.ts'

const Widget = defineResource({
  group: 'shop.example.com',
  kind: 'Widget',
  versions: { v1: { schema: z.object({ spec: z.object({ size: z.number() }) }) } },
})
const storage = memoryStorage()

describe('invalid options', () => {
  it.each<readonly [options: unknown, message: string]>([
    [undefined, 'createApiServer needs an object such as { storage: memoryStorage() }, not undefined'],
    [{}, '`storage` is a store such as memoryStorage(), not undefined'],
    [{ storage: 'memory' }, '`storage` is a store such as memoryStorage(), not "memory"'],
    [{ storage: memoryStorage }, '`storage` is a function; pass what it returns'],
    [{ storage: Promise.resolve(storage) }, '`storage` is a promise; await it'],
    [{ storage: {} }, '`storage` needs a function `get`'],
    [{ storage, kind: [] }, 'createApiServer has no "kind"; did you mean "kinds"?'],
    [{ storage, kinds: ConfigMap }, 'createApiServer: kinds is a list, not {'],
    [{ storage, kinds: builtInKinds }, 'createApiServer: kinds is a list, not a function'],
    [
      { storage, kinds: [ConfigMap] },
      '`kinds[0]` is a definition of builtInKinds() or defineResource(), not the handle ConfigMap',
    ],
    [{ storage, kinds: [builtInKinds(), Widget] }, '`kinds[0]` is a list; spread it'],
    [{ storage, kinds: [Widget, undefined] }, '`kinds[1]` is a definition of builtInKinds() or defineResource(), not undefined'],
    [{ storage, kinds: [...builtInKinds(), ...builtInKinds()] }, '`kinds` defines '],
    [{ storage, kinds: [Widget, Widget] }, '`kinds` defines widgets of shop.example.com/v1 twice'],
    [{ storage, authorizer: 'RBAC' }, '`authorizer` needs a function `authorize`, not "RBAC"; ({ rbac }) => rbac()'],
    [
      { storage, authorizer: ({ rbac }: { rbac: unknown }) => rbac },
      'the result of `authorizer` is a function; pass what it returns',
    ],
    [{ storage, authorizer: () => undefined }, 'the result of `authorizer` needs a function `authorize`, not undefined'],
    [{ storage, authenticator: 'x' }, '`authenticator` needs a function `authenticate`, not "x"'],
    [{ storage, admission: 'default' }, '`admission` is a list of plugins or defaultAdmissionPlugins, not "default"'],
    [
      { storage, admission: ['NamespaceLifecycle'] },
      'plugin 0 of `admission` needs a function `handles`, not "NamespaceLifecycle"',
    ],
    [{ storage, admission: () => ['NamespaceLifecycle'] }, 'plugin 0 of the result of `admission` needs a function `handles`'],
    [{ storage, bootstrapRoles: 'later' }, '`bootstrapRoles` is true, false or "afterwards", not "later"'],
    [{ storage, limits: { bodyByte: 1 } }, '`limits` has no "bodyByte"; did you mean "bodyBytes"?'],
    [{ storage, features: { HPAScaleToZero: true } }, '`features` needs a function `enabled`'],
    [{ storage, allowPrivileged: 'yes' }, 'createApiServer: allowPrivileged is true or false, not "yes"'],
  ])('are errors with a hint: %#', async (options, message) => {
    const error = { name: 'ApiServerError', code: 'InvalidOption', message: expect.stringContaining(message) }
    await expect(createApiServer(options as never)).rejects.toMatchObject(error)
  })

  it('are not those that are undefined', async () => {
    const options = { storage: memoryStorage(), kinds: [Widget], authorizer: () => alwaysAllowAuthorizer, admission: undefined }
    await using server = await createApiServer(options as never)
    expect(server.handle).toBeTypeOf('function')
  })
})
