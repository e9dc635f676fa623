// Loaded first: `X509Certificate#toLegacyObject`, called before it, leaves `tls.createSecureContext` undefined in Node 20.
import 'node:tls'
import fc from 'fast-check'

/**
 * Runs all property tests with one seed, so that a run fails only for a change of the code. `KRMKIT_SEED=random` draws new cases,
 * `KRMKIT_SEED=N` repeats those of a failure.
 */
const seed = process.env['KRMKIT_SEED'] ?? '20261123'
if (seed !== 'random') fc.configureGlobal({ seed: Number(seed) })
