/**
 * Whether both servers serve every version and have every feature gate on: `--everything`. The generators, which are made when their modules are
 * loaded, depend on it.
 */
export const servesEverything = process.argv.includes('--everything')

/** Flags of both servers. The stock server's own clients have no part in what is compared. */
export const flagsForEverything = [
  '--runtime-config=api/all=true',
  '--feature-gates=AllAlpha=true,AllBeta=true,ClientsPreferCBOR=false',
]
