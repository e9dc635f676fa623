/** ServiceAccount. */
import type { ServiceAccount } from '../../../types/core-v1.generated.ts'
import { validateMetadata, validateMetadataUpdate } from '../../shared/metadata.ts'
import { creationRules, defineStrategy, updateRules } from '../../shared/strategy.ts'
import { isSet, own } from '../../shared/values.ts'

/** Only the name of a secret reference counts: it is in the same namespace. */
function cleanSecrets(account: ServiceAccount): void {
  if (isSet(account.secrets)) account.secrets = account.secrets.map(({ name }) => (name === undefined ? {} : { name }))
}

export const serviceAccountStrategy = defineStrategy<ServiceAccount>({
  prepareForCreate: cleanSecrets,
  prepareForUpdate: cleanSecrets,
  validate: creationRules((errors, account) => validateMetadata(account, errors, { namespaced: true })),
  validateUpdate: updateRules(function* (errors, account, old) {
    yield* validateMetadataUpdate(account, old, errors)
    yield* validateMetadata(account, errors, { namespaced: true })
  }),
  warnings(account, old, { profile }) {
    const key = `${profile.domain}/enforce-mountable-secrets`
    const isNew = own(account.metadata.annotations, key) !== undefined && own(old?.metadata.annotations, key) === undefined
    if (!isNew) return []
    return [`metadata.annotations[${key}]: deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets`]
  },
  deleteResponse: 'Object',
})
